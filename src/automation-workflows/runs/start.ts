import type { Context } from '../../accounts/context.ts';
import { storePayload } from '../../database/payload.ts';
import type { Issue } from '../../library/errors.ts';
import { validateContext } from '../context-schema.ts';
import { insertRuns, type InsertedRun, type NewRun, type RunSource } from './store.ts';
import { launchRuns } from './launch.ts';

/** A run that a cause asks for. The cause gives it a dedup key, so that it is started once however often it is asked for. */
export interface Candidate {
  workflow: { id: number; version: number; contextSchema: string };
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
}

/** `dry`: walked by its request alone. Until that is done its row says that it was interrupted. */
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
 * Writes the runs' rows and starts their objects. Runs whose context does not fit are recorded as failed. Answers the row of
 * every candidate that is stored, also of those stored by an earlier try; a candidate whose workflow or trigger is no longer
 * active has none. Throws when an object could not be started: the caller's cause stays unhandled and is tried again.
 */
export async function startRuns(context: Context, candidates: Candidate[]): Promise<InsertedRun[]> {
  const stored = await recordRuns(context, candidates);
  await launchRuns(
    context,
    stored.filter((run) => run.state === 'queued').map((run) => run.id),
  );
  return stored;
}

/** Only the rows, for callers that start the objects themselves. `state` is what a sound run begins as. */
export async function recordRuns(
  context: Context,
  candidates: Candidate[],
  options: { state?: BeginsAs; evenIfInactive?: boolean } = {},
): Promise<InsertedRun[]> {
  const stored: InsertedRun[] = [];
  let chunk: NewRun[] = [];
  let bytes = 0;
  const flush = async () => {
    stored.push(...(await insertRuns(context.database, context.organization.id, chunk, context.clock(), options.evenIfInactive)));
    chunk = [];
    bytes = 0;
  };
  const keptContexts = new Map<Record<string, unknown>, string>();
  for (const candidate of candidates) {
    const row = await rowOf(context, candidate, options.state ?? 'queued', keptContexts);
    const rowBytes = Buffer.byteLength(JSON.stringify(row));
    if (bytes + rowBytes > chunkBytes) await flush();
    chunk.push(row);
    bytes += rowBytes;
  }
  await flush();
  return stored;
}

async function rowOf(context: Context, candidate: Candidate, state: BeginsAs, kept: Map<object, string>): Promise<NewRun> {
  const faults = validateContext(JSON.parse(candidate.workflow.contextSchema) as object, candidate.initialContext, ['context']);
  const now = context.clock();
  const unfit = faults.length ? { node_id: null, type: 'context_invalid', message: told(faults), attempt: null } : null;
  const error = unfit ?? (state === 'dry' ? interrupted : null);
  return {
    workflow_id: candidate.workflow.id,
    workflow_version: candidate.workflow.version,
    trigger_id: candidate.triggerId,
    contact_id: candidate.contactId,
    state: unfit || state === 'dry' ? 'failed' : state,
    outcome: null,
    error: error && JSON.stringify(error),
    dedup_key: candidate.dedupKey,
    entry_key: candidate.entryKey,
    is_test: candidate.isTest ?? false,
    depth: candidate.depth,
    source: candidate.source,
    source_id: candidate.sourceId,
    initial_context: candidate.source === 'run' ? await keepContext(context, candidate.initialContext, kept) : null,
    wake_at: error ? null : now,
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
