import type { z } from '@hono/zod-openapi';
import type { Context } from '../../../context.ts';
import { showPayloads } from '../../../database/payload.ts';
import { notFound } from '../../../library/errors.ts';
import { isLive } from '../../run-states.ts';
import type { HistoryRecord, RunRecord } from '../schemas.ts';
import { readArchivedHistory, readPackedHistory } from '../engine/history.ts';
import { runRecord, runRecords } from './records.ts';
import { findRun, type RunRowWithHistory } from '../store.ts';
import { initialContextOf } from '../cause.ts';
import { callRun } from '../../rpc.ts';

/** The record of a run: from its object while the run lives, else from its row. Throws 404. */
export async function readRun(context: Context, id: number): Promise<z.infer<typeof RunRecord>> {
  const row = await existingRun(context, id);
  if (isLive(row.state)) {
    const live = await callRun(context.bindings, context.organization.id, id, (run) => run.snapshot());
    if (live) {
      const [own, payload] = await showPayloads(context.bindings.FILES, [row.initial_context, row.source_payload]);
      return runRecord(row, initialContextOf(row, own, payload), live);
    }
    // The run ended between the two reads, or has not started: the row is final.
    return (await runRecords(context.bindings.FILES, [await existingRun(context, id)]))[0]!;
  }
  return (await runRecords(context.bindings.FILES, [row]))[0]!;
}

/** A page of a run's history, oldest first: from its row, its object or R2. Throws 404. */
export async function readHistory(
  context: Context,
  id: number,
  page: { limit: number; offset: number },
): Promise<{ records: HistoryRecord[]; total: number }> {
  const row = await existingRun(context, id);
  if (row.history !== null) return readPackedHistory(row.history, page);
  const live = await callRun(context.bindings, context.organization.id, id, (run) => run.history(page));
  if (live) return live;
  // The run may have ended between the two reads.
  const { history } = await existingRun(context, id);
  if (history !== null) return readPackedHistory(history, page);
  const archived = await readArchivedHistory(context.bindings.FILES, context.organization.id, id, page);
  return archived ?? { records: [], total: 0 };
}

/** The row of a run. Throws 404. */
export async function existingRun(context: Context, id: number): Promise<RunRowWithHistory> {
  const row = await findRun(context.database, context.organization.id, id);
  if (!row) throw notFound('Run');
  return row;
}
