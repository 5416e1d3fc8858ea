import type { z } from '@hono/zod-openapi';
import type { Context } from '../../../context.ts';
import { showPayloads } from '../../../database/payload.ts';
import { notFound } from '../../../library/errors.ts';
import { isLive } from '../../run-states.ts';
import type { HistoryRecord, RunRecord } from '../schemas.ts';
import { readArchivedHistory } from '../engine/history.ts';
import { runRecord, runRecords } from './records.ts';
import { findRun, type RunRow } from '../store.ts';
import { initialContextOf } from '../cause.ts';
import { callRun } from '../../rpc.ts';

/** One run: what its object says while it lives, else what its row says. */
export async function readRun(context: Context, id: number): Promise<z.infer<typeof RunRecord>> {
  const row = await existingRun(context, id);
  if (isLive(row.state)) {
    const live = await callRun(context.bindings, context.organization.id, id, (object) => object.snapshot());
    if (live) {
      const [own, payload] = await showPayloads(context.bindings.FILES, [row.initial_context, row.source_payload]);
      return runRecord(row, initialContextOf(row, own, payload), live);
    }
    // It ended between the two reads, or is not started yet: the row has the last word.
    return (await runRecords(context.bindings.FILES, [await existingRun(context, id)]))[0]!;
  }
  return (await runRecords(context.bindings.FILES, [row]))[0]!;
}

export async function readHistory(
  context: Context,
  id: number,
  page: { limit: number; offset: number },
): Promise<{ records: HistoryRecord[]; total: number }> {
  await existingRun(context, id);
  const live = await callRun(context.bindings, context.organization.id, id, (object) => object.history(page));
  if (live) return live;
  const archived = await readArchivedHistory(context.bindings.FILES, context.organization.id, id, page);
  return archived ?? { records: [], total: 0 };
}

export async function existingRun(context: Context, id: number): Promise<RunRow> {
  const row = await findRun(context.database, context.organization.id, id);
  if (!row) throw notFound('Run');
  return row;
}
