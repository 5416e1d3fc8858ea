import type { Context } from '../../accounts/context.ts';
import { verdicts } from './admission.ts';
import { admissionFacts, insertRuns, type InsertedRun, type NewRun } from './admission-store.ts';
import type { BeginsAs, Candidate, Recorded, Refusal } from './candidate.ts';
import { callRun } from './launch.ts';
import { newRun } from './new-run.ts';

/** Rows written by one statement travel as one JSON value, which D1 bounds at 2 MB. */
const chunkBytes = 1_500_000;

/**
 * Writes the rows of runs, for callers that start the objects themselves. `state` is what a sound run begins as. Runs whose
 * context does not fit are recorded as failed.
 */
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
    const row = await newRun(context, candidate, options.state ?? 'queued', keptContexts);
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
