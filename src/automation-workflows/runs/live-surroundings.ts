import type { Context } from '../../accounts/context.ts';
import { callResult } from '../../voice-agents/dialing/call-result.ts';
import { openSecrets } from '../secrets.ts';
import { childResult } from './child.ts';
import { subscribeRun } from './earlier-events.ts';
import { runEffects } from './effects.ts';
import { withdrawJourneyCall } from './journey-call.ts';
import type { LoadedRun } from './load-run.ts';
import { lookAround } from './scope-of-run.ts';
import type { Surroundings } from './surroundings.ts';

/** What a run that really happens is surrounded by. `deadline` in epoch ms. */
export function liveSurroundings(
  context: Context,
  { origin, graph, settings }: Pick<LoadedRun, 'origin' | 'graph' | 'settings'>,
  deadline: number,
  { now, random }: Pick<Surroundings, 'now' | 'random'>,
): Surroundings {
  const { organization } = context;
  const looking = { origin, hasQuietHours: settings.quiet_hours !== null };
  return {
    runId: origin.id,
    graph,
    settings,
    deadline,
    organization: { default_country: organization.defaultCountry, timezone: organization.timezone },
    effects: runEffects(context, origin),
    dryRun: false,
    now,
    random,
    look: (progress, node) => lookAround(context, looking, progress, node, now()),
    open: (data) => openSecrets(context.settings.ENCRYPTION_KEY, organization.id, data),
    subscribe: (sleep, taken) => subscribeRun(context, origin, sleep.historyId, sleep.events, taken),
    childResult: (runId) => childResult(context, runId),
    callResult: (callRunId) => callResult(context, callRunId),
    withdrawCall: (item) => withdrawJourneyCall(context, origin.id, item),
    shouldYield: () => false,
  };
}
