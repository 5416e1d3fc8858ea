import type { z } from '@hono/zod-openapi';
import type { Context } from '../../../../context.ts';
import { showPayloads, payloadLength } from '../../../../database/payload.ts';
import { toSenderKey } from '../../../../database/request-key.ts';
import { parseRangeEnd, parseRangeStart } from '../../../../http/date-range.ts';
import { decodeCursor, encodeCursor } from '../../../../http/pagination.ts';
import { invalidAt, notFound } from '../../../../library/errors.ts';
import { describeShape } from '../../../../library/json/describe-shape.ts';
import { isRecord } from '../../../../library/json/json.ts';
import { nullableTimestamp, toTimestamp } from '../../../../library/time/clock.ts';
import { existingTrigger } from '../../change-trigger.ts';
import { failureRecord, outcomeRunRecord } from '../../events/records.ts';
import { findDeliveryByName } from '../store.ts';
import type { DeliveryDetail, DeliveryQuery, DeliveryRecord } from './schemas.ts';
import * as store from './store.ts';

type Record = z.infer<typeof DeliveryRecord>;

/** A page of a webhook trigger's deliveries, newest first. Throws 404, and 422 for a foreign cursor. */
export async function listDeliveries(
  context: Context,
  workflowId: number,
  triggerId: number,
  query: z.output<typeof DeliveryQuery>,
): Promise<{ deliveries: Record[]; nextCursor: string | null }> {
  await requireTrigger(context, workflowId, triggerId);
  const { database, organization } = context;
  const filter = {
    state: query.state,
    from: query.start_date === undefined ? undefined : parseRangeStart(query.start_date),
    to: query.end_date === undefined ? undefined : parseRangeEnd(query.end_date),
  };
  const page = { limit: query.limit, before: readCursor(query.cursor) };
  const { rows, scannedTo } = await store.findDeliveries(database, organization.id, triggerId, filter, page);
  const details = await toDetails(context, triggerId, rows);
  return {
    deliveries: details.map(({ payload: _payload, ...record }) => record),
    nextCursor: scannedTo === null ? null : encodeCursor({ value: null, id: scannedTo }),
  };
}

/** A delivery by the `delivery_id` that its sender was answered, with its payload. Throws 404. */
export async function readDelivery(
  context: Context,
  workflowId: number,
  triggerId: number,
  name: string,
): Promise<z.infer<typeof DeliveryDetail>> {
  await requireTrigger(context, workflowId, triggerId);
  const { database, organization } = context;
  const id = await findDeliveryByName(database, organization.id, triggerId, name);
  const row = id === null ? null : await database.first(store.deliveryStatement(database, organization.id, id));
  if (!row) throw notFound('Delivery');
  const [detail] = await toDetails(context, triggerId, [row]);
  return detail!;
}

async function requireTrigger(context: Context, workflowId: number, triggerId: number): Promise<void> {
  const trigger = await existingTrigger(context, triggerId);
  if (trigger.workflow_id !== workflowId) throw notFound('Trigger');
}

function readCursor(cursor: string | undefined): number | undefined {
  const position = decodeCursor(cursor);
  if (position !== undefined && position.value !== null)
    throw invalidAt(['query', 'cursor'], 'Not a cursor of this list; use next_cursor of the page before', 'invalid_cursor');
  return position?.id;
}

/** The records of rows, with the runs and tries of all of them in one call. */
async function toDetails(context: Context, triggerId: number, rows: store.DeliveryRow[]): Promise<z.infer<typeof DeliveryDetail>[]> {
  if (rows.length === 0) return [];
  const { database, organization, bindings } = context;
  const ids = rows.map(({ id }) => id);
  const [runs, failures] = await database.batch([
    store.runsOfDeliveriesStatement(database, organization.id, triggerId, ids),
    store.failuresOfDeliveriesStatement(database, organization.id, ids),
  ]);
  const runOf = new Map(runs.map(({ delivery, ...run }) => [delivery, outcomeRunRecord(run)]));
  const failureOf = new Map(failures.map(({ delivery, ...failure }) => [delivery, failureRecord(failure)]));
  const payloads = await showPayloads(
    bindings.FILES,
    rows.map(({ payload }) => payload),
  );
  return rows.map((row, index) => {
    const payload = payloads[index];
    const stored = isRecord(payload) ? payload : {};
    return {
      id: row.id,
      delivery_id: toSenderKey(row.delivery_id) ?? String(row.id),
      trigger_id: row.trigger_id,
      contact_id: row.contact_id,
      state: row.state,
      note: row.note,
      run: runOf.get(row.id) ?? null,
      failure: failureOf.get(row.id) ?? null,
      payload_bytes: payloadLength(row.payload),
      payload_shape: 'body' in stored ? describeShape(stored.body) : null,
      created_at: toTimestamp(row.created_at),
      handled_at: nullableTimestamp(row.handled_at),
      payload: stored,
    };
  });
}
