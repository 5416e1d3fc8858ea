import type { Context } from '../../accounts/context.ts';
import { storePayload } from '../../database/payload.ts';
import type { Issue } from '../../library/errors.ts';
import { endTurnAfterWork } from '../../library/let-others-run.ts';
import { untoldFaults, validateContext } from '../context-schema.ts';
import { mayExit } from '../settings.ts';
import { notEnteredSince } from './admission.ts';
import type { NewRun } from './admission-store.ts';
import type { BeginsAs, Candidate } from './candidate.ts';

const toldFaults = 20;
const interrupted = {
  node_id: null,
  type: 'interrupted',
  message: 'The dry run was interrupted before its end; run it again',
  attempt: null,
};

/** The row of a candidate. `kept` holds the contexts that this call has stored already. */
export async function newRun(context: Context, candidate: Candidate, state: BeginsAs, kept: Map<object, string>): Promise<NewRun> {
  const { settings, contextSchema, id, version } = candidate.workflow;
  await endTurnAfterWork();
  const faults = validateContext(JSON.parse(contextSchema) as object, candidate.initialContext, ['context']);
  const now = context.clock();
  const unfit = faults.length ? { node_id: null, type: 'context_invalid', message: told(faults), attempt: null } : null;
  const error = unfit ?? (state === 'dry' ? interrupted : null);
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
    is_exitable: !error && mayExit(settings),
    parent_run_id: candidate.parentRunId ?? null,
    not_entered_since: isLiveEntry && candidate.entryKey !== null ? notEnteredSince(settings, now) : null,
    source: candidate.source,
    source_id: candidate.sourceId,
    initial_context: candidate.source === 'run' ? await keepContext(context, candidate.initialContext, kept) : null,
    wake_at: error || hold ? null : now,
    completed_at: unfit ? now : null,
  };
}

function told(faults: Issue[]): string {
  const first = faults.slice(0, toldFaults).map((fault) => `${fault.loc.join('.')}: ${fault.msg}`.slice(0, 500));
  return [...first, ...untoldFaults(faults.length, toldFaults)].join('; ');
}

/** Runs of one cause share one context object: it is written out once. */
async function keepContext(context: Context, initialContext: Record<string, unknown>, kept: Map<object, string>): Promise<string> {
  const known = kept.get(initialContext);
  if (known !== undefined) return known;
  const name = () => `${context.organization.id}/contexts/${crypto.randomUUID()}`;
  const stored = await storePayload(context.bindings.FILES, name, JSON.stringify(initialContext));
  kept.set(initialContext, stored);
  return stored;
}
