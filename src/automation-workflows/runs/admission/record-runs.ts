import { LRUCache } from 'lru-cache';
import { lazily } from '../../../library/lazily.ts';
import type { Context, Organization } from '../../../context.ts';
import { rootRunOf } from '../../../library/lineage.ts';
import { evaluateAdmissionRules } from './rules.ts';
import { loadAdmissionFacts, insertRuns, type AdmissionFacts, type InsertedRun, type NewRun } from './store.ts';
import type { InitialRunState, RunCandidate, PlanRule, RecordedRuns, Refusal } from './candidate.ts';
import { callRun } from '../../rpc.ts';
import { parseDuration, subtractExact } from '../../../library/time/durations.ts';
import { type WorkflowSettings, hasExitRules } from '../../definitions/settings.ts';
import { storePayload } from '../../../database/payload.ts';
import type { Issue } from '../../../library/errors.ts';
import { evaluateInTurn } from '../../../library/limits/work-turn.ts';
import { omittedFaultsNote, validateContext } from '../../../expressions/schemas/context-schema.ts';

/** One statement inserts rows from one JSON value, which D1 bounds at 2 MB. */
const maxChunkBytes = 1_500_000;

/**
 * Writes the rows of runs; the caller starts the objects. `state` is the first state of the runs. `allowInactive`: also for workflows that are
 * not active. Runs whose context does not fit the workflow's context_schema are recorded as failed. `liveCheckErrors`: why runs that block
 * candidates under `one_live_run_per_key` could not be asked whether they have ended.
 */
export async function recordRuns(
  context: Context,
  candidates: RunCandidate[],
  options: { state?: InitialRunState; allowInactive?: boolean } = {},
): Promise<RecordedRuns & { liveCheckErrors: unknown[] }> {
  const first = await insertCandidates(context, candidates, options);
  const liveCheckErrors: unknown[] = [];
  if (!first.refused.some(({ rule }) => rule === 'one_live_run_per_key')) return { ...first, liveCheckErrors };
  // The row of the blocking run may be stale. Its object is asked once whether the run has ended.
  const retried = first.refused.filter(({ rule }) => rule === 'one_live_run_per_key');
  const freed: RunCandidate[] = [];
  for (const { candidate, holderId } of retried)
    await hasRunEnded(context, holderId).then(
      (isEnded) => isEnded && freed.push(candidate),
      (error: unknown) => liveCheckErrors.push(error),
    );
  if (!freed.length) return { ...first, liveCheckErrors };
  const second = await insertCandidates(context, freed, options);
  const kept = first.refused.filter(({ candidate }) => !freed.includes(candidate));
  const released = [...first.released, ...second.released];
  const inserted = [...first.inserted, ...second.inserted];
  return { stored: [...first.stored, ...second.stored], inserted, released, refused: [...kept, ...second.refused], liveCheckErrors };
}

async function hasRunEnded({ bindings, organization }: Context, runId: number | null): Promise<boolean> {
  if (runId === null) return true;
  return callRun(bindings, organization.id, runId, (run) => run.hasEnded());
}

interface InsertedCandidates extends RecordedRuns {
  refused: (Refusal & { holderId: number | null })[];
}

async function insertCandidates(
  context: Context,
  candidates: RunCandidate[],
  options: { state?: InitialRunState; allowInactive?: boolean },
): Promise<InsertedCandidates> {
  const { organization } = context;
  const admission = {
    now: context.clock(),
    allowInactive: options.allowInactive ?? false,
    allOrNothing: options.state === 'running' && !options.allowInactive,
    maxChained: organization.plan.maxChainedRuns,
  };
  let isFull = false;
  const stored: InsertedRun[] = [];
  const insertedIds: number[] = [];
  const released: number[] = [];
  const keys = new Set<string>();
  let chunk: NewRun[] = [];
  let bytes = 0;
  const flush = async () => {
    const needsCount = options.state !== 'dry' && isCountDue(organization, chunk.length, admission.now);
    const maxLive = needsCount ? organization.plan.maxLiveRuns : null;
    const inserted = await insertRuns(context.database, organization.id, withChainPlaces(chunk), { ...admission, maxLive });
    recordLiveCount(organization, inserted.live, chunk.length, admission.now);
    isFull ||= inserted.live !== null && inserted.live + (admission.allOrNothing ? chunk.length : 1) > organization.plan.maxLiveRuns;
    stored.push(...inserted.stored);
    insertedIds.push(...inserted.inserted);
    released.push(...inserted.released);
    chunk = [];
    bytes = 0;
    keys.clear();
  };
  const keptContexts = new Map<Record<string, unknown>, string>();
  for (const candidate of candidates) {
    const row = await buildNewRun(context, candidate, options.state ?? 'queued', keptContexts);
    const rowBytes = Buffer.byteLength(JSON.stringify(row));
    // The second entry of a key must see the first, so it goes into the next statement.
    const key = row.not_entered_since === null ? null : `${row.workflow_id}:${row.entry_key}`;
    if (bytes + rowBytes > maxChunkBytes || (key !== null && keys.has(key))) await flush();
    if (key !== null) keys.add(key);
    chunk.push(row);
    bytes += rowBytes;
  }
  await flush();
  return { stored, inserted: insertedIds, released, refused: await findRefusals(context, candidates, stored, isFull) };
}

/** Numbers the runs of each chain, in order. */
function withChainPlaces(runs: NewRun[]): NewRun[] {
  const places = new Map<number | null, number>();
  return runs.map((run) => {
    const chain = rootRunOf(run.depth);
    const place = places.get(chain) ?? 0;
    places.set(chain, place + 1);
    return { ...run, chain_place: place };
  });
}

/** The reasons why candidates were not recorded. */
async function findRefusals(
  context: Context,
  candidates: RunCandidate[],
  stored: InsertedRun[],
  isFull: boolean,
): Promise<InsertedCandidates['refused']> {
  const known = new Set(stored.map((run) => run.dedup_key));
  const missing = candidates.filter((candidate) => !known.has(candidate.dedupKey));
  if (!missing.length) return [];
  const queries = missing.map((candidate) => ({
    dedup_key: candidate.dedupKey,
    workflow_id: candidate.workflow.id,
    trigger_id: candidate.triggerId,
    contact_id: candidate.contactId,
    entry_key: candidate.entryKey,
    depth: candidate.depth,
  }));
  const facts = new Map(
    (await loadAdmissionFacts(context.database, context.organization.id, queries)).map((fact) => [fact.dedup_key, fact]),
  );
  return missing.map((candidate) => {
    const { settings } = candidate.workflow;
    const fact = facts.get(candidate.dedupKey);
    const broken = fact && evaluateAdmissionRules(settings, candidate.entryKey, fact, context.clock()).find((verdict) => !verdict.passed);
    const planned = broken ? null : findPlanRefusal(context.organization, candidate, fact, isFull);
    if (planned) return { candidate, rule: planned.rule, message: planned.message, holderId: null };
    // The reason may have passed already. The rule about live runs is the rule that changes most quickly.
    const rule = broken?.rule ?? (settings.one_live_run_per_key ? 'one_live_run_per_key' : 'status');
    const message = broken?.message ?? 'The workflow or its live runs changed just as the run was about to start';
    return { candidate, rule, message, holderId: fact?.sole_run_id ?? null };
  });
}

/** The limit of the plan that refuses a run; null: none does. */
function findPlanRefusal(
  { plan }: Organization,
  candidate: RunCandidate,
  fact: AdmissionFacts | undefined,
  isFull: boolean,
): { rule: PlanRule; message: string } | null {
  const chain = rootRunOf(candidate.depth);
  if (chain !== null && (fact?.chained_runs ?? 0) >= plan.maxChainedRuns)
    return {
      rule: 'max_chained_runs',
      message: `Run ${chain} has set off ${plan.maxChainedRuns} runs by now, as many as the plan allows (max_chained_runs); this one was not started`,
    };
  if (!isFull) return null;
  return {
    rule: 'max_live_runs',
    message: `The organization has as many live runs as its plan allows (${plan.maxLiveRuns}, max_live_runs), and this one was not started; stop some, or have the plan raised`,
  };
}

/** A new run is refused when its entry key has entered after this epoch ms; null: it is never refused. */
function toNotEnteredSince({ reentry }: WorkflowSettings, now: number): number | null {
  if (reentry.mode === 'always') return null;
  return reentry.mode === 'never' ? 0 : subtractExact(now, parseDuration(reentry.after!));
}

const maxShownFaults = 20;
const interruptedError = {
  node_id: null,
  type: 'interrupted',
  message: 'The dry run was interrupted before its end; run it again',
  attempt: null,
};

/** The row of a candidate. `storedContexts` has the contexts that this call has stored already. */
async function buildNewRun(
  context: Context,
  candidate: RunCandidate,
  state: InitialRunState,
  storedContexts: Map<object, string>,
): Promise<NewRun> {
  const { settings, contextSchema, id, version } = candidate.workflow;
  const faults = await evaluateInTurn(context.turn, () =>
    validateContext(JSON.parse(contextSchema) as object, candidate.initialContext, ['context']),
  );
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
    initial_context: candidate.source === 'run' ? await storeContext(context, candidate.initialContext, storedContexts) : null,
    wake_at: error || hold ? null : now,
    completed_at: unfit ? now : null,
  };
}

function describeFaults(faults: Issue[]): string {
  const first = faults.slice(0, maxShownFaults).map((fault) => `${fault.loc.join('.')}: ${fault.msg}`.slice(0, 500));
  return [...first, ...omittedFaultsNote(faults.length, maxShownFaults)].join('; ');
}

/** Stores a context once, for all runs of its cause. */
async function storeContext(
  context: Context,
  initialContext: Record<string, unknown>,
  storedContexts: Map<object, string>,
): Promise<string> {
  const known = storedContexts.get(initialContext);
  if (known !== undefined) return known;
  const name = () => `${context.organization.id}/contexts/${crypto.randomUUID()}`;
  const stored = await storePayload(context.bindings.FILES, name, JSON.stringify(initialContext));
  storedContexts.set(initialContext, stored);
  return stored;
}

// The number of an organization's live runs is the sum of its workflows' counters. Some of the batches that insert runs read it. Between two
// reads, this isolate adds the runs that it has started itself.

const countIntervalMs = 10_000;

interface CountSnapshot {
  at: number;
  live: number;
  startedSince: number;
}

const snapshots = lazily(() => new LRUCache<number, CountSnapshot>({ max: 10_000 }));

/** Whether the live runs must be counted before `wanted` more start: the last count is old, or the limit of the plan is near. */
function isCountDue({ id, plan }: Organization, wanted: number, now: number): boolean {
  const snapshot = snapshots().get(id);
  if (!snapshot || now < snapshot.at || now - snapshot.at > countIntervalMs) return true;
  return snapshot.live + snapshot.startedSince + wanted > plan.maxLiveRuns;
}

/** Records a count of live runs; with `live` null, records that `started` more runs have started since the last count. */
function recordLiveCount({ id }: Organization, live: number | null, started: number, now: number): void {
  const snapshot = snapshots().get(id);
  if (live === null) {
    if (snapshot) snapshot.startedSince += started;
    return;
  }
  snapshots().set(id, { at: now, live, startedSince: 0 });
}
