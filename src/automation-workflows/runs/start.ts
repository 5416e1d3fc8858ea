import type { Context } from '../../accounts/context.ts';
import { storePayload } from '../../database/payload.ts';
import type { Issue } from '../../library/errors.ts';
import { validateContext } from '../context-schema.ts';
import { mayExit, type WorkflowSettings } from '../settings.ts';
import { notEnteredSince, verdicts, type AdmissionRule } from './admission.ts';
import { admissionFacts, insertRuns, type InsertedRun, type NewRun } from './admission-store.ts';
import { callRun, launchRuns } from './launch.ts';
import type { RunSource } from './store.ts';

/** A run that a cause asks for. The cause gives it a dedup key, so that it is started once however often it is asked for. */
export interface Candidate {
  workflow: { id: number; version: number; contextSchema: string; settings: WorkflowSettings };
  triggerId: number | null;
  contactId: number | null;
  dedupKey: string;
  entryKey: string | null;
  source: RunSource;
  sourceId: number | null;
  /** Checked against the workflow's context_schema; kept with the run only when no source keeps it. */
  initialContext: Record<string, unknown>;
  depth: number;
  isTest?: boolean;
  /** The run that waits for this one. */
  parentRunId?: number | undefined;
}

/** A candidate that a rule of its workflow kept out. */
export interface Refusal {
  candidate: Candidate;
  rule: AdmissionRule;
  message: string;
}

export interface Recorded {
  /** The row of every candidate that is stored, also of those stored by an earlier try. */
  stored: InsertedRun[];
  refused: Refusal[];
}

/** `running`: at once, all or none. `dry`: walked by its request alone; until that is done its row says that it was interrupted. */
type BeginsAs = 'queued' | 'running' | 'dry';

/** Rows written by one statement travel as one JSON value, which D1 bounds at 2 MB. */
const chunkBytes = 1_500_000;
const toldFaults = 20;
const interrupted = {
  node_id: null,
  type: 'interrupted',
  message: 'The dry run was interrupted before its end; run it again',
  attempt: null,
};

/**
 * Writes the runs' rows and starts their objects, except of those that wait for their turn. Runs whose context does not fit are
 * recorded as failed. Throws when an object could not be started: the caller's cause stays unhandled and is tried again.
 */
export async function startRuns(context: Context, candidates: Candidate[]): Promise<Recorded> {
  const recorded = await recordRuns(context, candidates);
  await launchRuns(
    context,
    recorded.stored.filter((run) => run.state === 'queued' && run.hold === null).map((run) => run.id),
  );
  return recorded;
}

/** Only the rows, for callers that start the objects themselves. `state` is what a sound run begins as. */
export async function recordRuns(
  context: Context,
  candidates: Candidate[],
  options: { state?: BeginsAs; evenIfInactive?: boolean } = {},
): Promise<Recorded> {
  const first = await insertAll(context, candidates, options);
  if (!first.refused.some(({ rule }) => rule === 'one_live_run_per_key')) return first;
  // The row that stands in the way may be behind its run, which has perhaps just ended: the run itself is asked, once.
  const retried = first.refused.filter(({ rule }) => rule === 'one_live_run_per_key');
  const freed: Candidate[] = [];
  for (const refusal of retried) if (await hasEnded(context, refusal.holderId)) freed.push(refusal.candidate);
  if (!freed.length) return first;
  const second = await insertAll(context, freed, options);
  const kept = first.refused.filter(({ candidate }) => !freed.includes(candidate));
  return { stored: [...first.stored, ...second.stored], refused: [...kept, ...second.refused] };
}

async function hasEnded({ bindings, organization }: Context, runId: number | null): Promise<boolean> {
  if (runId === null) return true;
  return callRun(bindings, organization.id, runId, (object) => object.hasEnded());
}

interface InsertedAll extends Recorded {
  refused: (Refusal & { holderId: number | null })[];
}

async function insertAll(
  context: Context,
  candidates: Candidate[],
  options: { state?: BeginsAs; evenIfInactive?: boolean },
): Promise<InsertedAll> {
  const admission = {
    now: context.clock(),
    evenIfInactive: options.evenIfInactive ?? false,
    atOnce: options.state === 'running' && !options.evenIfInactive,
  };
  const stored: InsertedRun[] = [];
  const keys = new Set<string>();
  let chunk: NewRun[] = [];
  let bytes = 0;
  const flush = async () => {
    stored.push(...(await insertRuns(context.database, context.organization.id, chunk, admission)));
    chunk = [];
    bytes = 0;
    keys.clear();
  };
  const keptContexts = new Map<Record<string, unknown>, string>();
  for (const candidate of candidates) {
    const row = await rowOf(context, candidate, options.state ?? 'queued', keptContexts);
    const rowBytes = Buffer.byteLength(JSON.stringify(row));
    // Of two entries of one key the second must see the first.
    const key = row.not_entered_since === null ? null : `${row.workflow_id}:${row.entry_key}`;
    if (bytes + rowBytes > chunkBytes || (key !== null && keys.has(key))) await flush();
    if (key !== null) keys.add(key);
    chunk.push(row);
    bytes += rowBytes;
  }
  await flush();
  return { stored, refused: await refusals(context, candidates, stored) };
}

/** Why the candidates that have no row have none. */
async function refusals(context: Context, candidates: Candidate[], stored: InsertedRun[]): Promise<InsertedAll['refused']> {
  const known = new Set(stored.map((run) => run.dedup_key));
  const missing = candidates.filter((candidate) => !known.has(candidate.dedupKey));
  if (!missing.length) return [];
  const asking = missing.map((candidate) => ({
    dedup_key: candidate.dedupKey,
    workflow_id: candidate.workflow.id,
    trigger_id: candidate.triggerId,
    contact_id: candidate.contactId,
    entry_key: candidate.entryKey,
  }));
  const facts = new Map((await admissionFacts(context.database, context.organization.id, asking)).map((one) => [one.dedup_key, one]));
  return missing.map((candidate) => {
    const { settings } = candidate.workflow;
    const fact = facts.get(candidate.dedupKey);
    const broken = fact && verdicts(settings, candidate.entryKey, fact, context.clock()).find((verdict) => !verdict.passed);
    // What kept it out may be over by now; of the rules, the one about live runs is the one that changes within a moment.
    const rule = broken?.rule ?? (settings.one_live_run_per_key ? 'one_live_run_per_key' : 'status');
    const message = broken?.message ?? 'The workflow or its live runs changed just as the run was about to start';
    return { candidate, rule, message, holderId: fact?.sole_run_id ?? null };
  });
}

async function rowOf(context: Context, candidate: Candidate, state: BeginsAs, kept: Map<object, string>): Promise<NewRun> {
  const { settings, contextSchema, id, version } = candidate.workflow;
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
  return [...first, ...(faults.length > toldFaults ? [`and ${faults.length - toldFaults} more`] : [])].join('; ');
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
