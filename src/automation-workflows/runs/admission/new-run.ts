import type { Context } from '../../../context.ts';
import { storePayload } from '../../../database/payload.ts';
import type { Issue } from '../../../library/errors.ts';
import { yieldAfterWork } from '../../../library/limits/yield-to-event-loop.ts';
import { omittedFaultsNote, validateContext } from '../../../expressions/schemas/context-schema.ts';
import { hasExitRules } from '../../definitions/settings.ts';
import { toNotEnteredSince } from './rules.ts';
import type { NewRun } from './store.ts';
import type { InitialRunState, RunCandidate } from './candidate.ts';

const maxShownFaults = 20;
const interruptedError = {
  node_id: null,
  type: 'interrupted',
  message: 'The dry run was interrupted before its end; run it again',
  attempt: null,
};

/** The row of a candidate. `kept` holds the contexts that this call has stored already. */
export async function buildNewRun(
  context: Context,
  candidate: RunCandidate,
  state: InitialRunState,
  kept: Map<object, string>,
): Promise<NewRun> {
  const { settings, contextSchema, id, version } = candidate.workflow;
  await yieldAfterWork();
  const faults = validateContext(JSON.parse(contextSchema) as object, candidate.initialContext, ['context']);
  const now = context.clock();
  const unfit = faults.length ? { node_id: null, type: 'context_invalid', message: describeFaults(faults), attempt: null } : null;
  const error = unfit ?? (state === 'dry' ? interruptedError : null);
  const isTest = candidate.isTest ?? false;
  const isLiveEntry = !isTest && !unfit;
  const hold = isLiveEntry && state === 'queued' && settings.max_active_runs !== null ? 'max_active' : null;
  return {
    workflow_id: id,
    workflow_version: version,
    trigger_id: candidate.triggerId,
    contact_id: candidate.contactId,
    state: unfit || state === 'dry' ? 'failed' : state,
    error: error && JSON.stringify(error),
    dedup_key: candidate.dedupKey,
    entry_key: candidate.entryKey,
    is_test: isTest,
    depth: candidate.depth,
    chain_place: 0,
    hold,
    is_sole: isLiveEntry && settings.one_live_run_per_key && candidate.entryKey !== null,
    is_exitable: !error && hasExitRules(settings),
    parent_run_id: candidate.parentRunId ?? null,
    not_entered_since: isLiveEntry && candidate.entryKey !== null ? toNotEnteredSince(settings, now) : null,
    source: candidate.source,
    source_id: candidate.sourceId,
    initial_context: candidate.source === 'run' ? await storeContext(context, candidate.initialContext, kept) : null,
    wake_at: error || hold ? null : now,
    completed_at: unfit ? now : null,
  };
}

function describeFaults(faults: Issue[]): string {
  const first = faults.slice(0, maxShownFaults).map((fault) => `${fault.loc.join('.')}: ${fault.msg}`.slice(0, 500));
  return [...first, ...omittedFaultsNote(faults.length, maxShownFaults)].join('; ');
}

/** Runs of one cause share one context object: it is written out once. */
async function storeContext(context: Context, initialContext: Record<string, unknown>, kept: Map<object, string>): Promise<string> {
  const known = kept.get(initialContext);
  if (known !== undefined) return known;
  const name = () => `${context.organization.id}/contexts/${crypto.randomUUID()}`;
  const stored = await storePayload(context.bindings.FILES, name, JSON.stringify(initialContext));
  kept.set(initialContext, stored);
  return stored;
}
