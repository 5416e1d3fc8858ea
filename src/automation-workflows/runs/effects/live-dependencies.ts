import type { Context } from '../../../context.ts';
import { readCallResult } from '../../../calls/records/call-result.ts';
import { openSecrets } from '../../../expressions/secrets/secrets.ts';
import { loadChildResult } from './child-run.ts';
import { subscribeRun } from '../waits/earlier-events.ts';
import { createRunEffects } from './run-effects.ts';
import { withdrawJourneyCall } from './journey-call.ts';
import type { LoadedRun } from '../engine/load-run.ts';
import { loadStepContext } from '../engine/step-context.ts';
import type { RunDependencies } from '../engine/dependencies.ts';

/** What a run that really happens is surrounded by. `deadline` in epoch ms. */
export function createLiveDependencies(
  context: Context,
  { origin, graph, settings }: Pick<LoadedRun, 'origin' | 'graph' | 'settings'>,
  deadline: number,
  { now, random }: Pick<RunDependencies, 'now' | 'random'>,
): RunDependencies {
  const { organization } = context;
  const looking = { origin, hasQuietHours: settings.quiet_hours !== null };
  return {
    runId: origin.id,
    graph,
    settings,
    deadline,
    organization: { default_country: organization.defaultCountry, timezone: organization.timezone },
    effects: createRunEffects(context, origin),
    dryRun: false,
    now,
    random,
    loadStepContext: (progress, node) => loadStepContext(context, looking, progress, node, now()),
    openSecrets: (data) => openSecrets(context.settings.ENCRYPTION_KEY, organization.id, data),
    subscribe: (sleep, taken) => subscribeRun(context, origin, sleep.historyId, sleep.events, taken),
    childResult: (runId) => loadChildResult(context, runId),
    callResult: (callRunId) => readCallResult(context, callRunId),
    withdrawCall: (item) => withdrawJourneyCall(context, origin.id, item),
    shouldYield: () => false,
  };
}
