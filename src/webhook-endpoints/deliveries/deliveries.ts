import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import { cutPage, decodeCursor, type Page, type PageResult } from '../../http/pagination.ts';
import { conflict, invalidAt, notFound } from '../../library/errors.ts';
import { existingEndpoint } from '../endpoints/change-endpoint.ts';
import { wakeStatement } from '../endpoints/store.ts';
import { testEventType } from '../event-paths.ts';
import { wakeEndpoint } from '../wake-endpoints.ts';
import * as store from './store.ts';

export interface DeliveryQuery extends Page {
  status?: store.MessageRow['status'] | undefined;
  type?: string | undefined;
  event_id?: string | undefined;
  /** Epoch ms. */
  from?: number | undefined;
  to?: number | undefined;
}

/** One page of an endpoint's deliveries, newest first. Throws 404. */
export async function listDeliveries(context: Context, endpointId: number, query: DeliveryQuery): Promise<PageResult<store.MessageRow>> {
  await existingEndpoint(context, endpointId);
  const { rows, total, isCapped } = await store.listMessages(context.database, context.organization.id, endpointId, {
    ...query,
    status: query.status,
    type: query.type,
    eventId: query.event_id,
    from: query.from,
    to: query.to,
    before: decodeCursor(query.cursor)?.id,
  });
  return { ...cutPage(rows, query.limit, ({ sequence }) => ({ value: null, id: sequence })), total, totalCapped: isCapped };
}

/** A delivery of an endpoint. Throws 404. */
export async function existingDelivery(context: Context, endpointId: number, id: number): Promise<store.MessageRow> {
  await existingEndpoint(context, endpointId);
  const row = await store.findMessage(context.database, context.organization.id, endpointId, id);
  if (!row) throw notFound('Delivery');
  return row;
}

/** Sends a delivery that has ended once more, with the attempts of a new one and the same id. Throws 404, and 409 while it is pending. */
export async function replayDelivery(context: Context, endpointId: number, id: number): Promise<store.MessageRow> {
  const { database, organization, clock } = context;
  const before = await existingDelivery(context, endpointId, id);
  if (before.status === 'pending')
    throw conflict(`Delivery ${id} is pending: it is sent at next_attempt_at, or when the endpoint is resumed`);
  const now = clock();
  const replay = store.replayOne(database, organization.id, endpointId, id, now);
  await database.batch([replay, wakeStatement(database, organization.id, endpointId, now)], 'read-back');
  wakeEndpoint(context, endpointId);
  return existingDelivery(context, endpointId, id);
}

/** How many deliveries one request looks at. */
const maxReplayed = 5000;

export interface ReplayResult {
  replayed: number;
  /** Epoch ms: where the next request goes on; null: the range is done. */
  nextFrom: number | null;
}

/** Sends the deliveries of a range that have ended once more, the oldest first, at most 5,000 a request. Throws 404, 422. */
export async function replayDeliveries(context: Context, endpointId: number, range: store.ReplayRange): Promise<ReplayResult> {
  const { database, organization, clock } = context;
  if (range.from >= range.to) throw invalidAt(['body', 'to'], 'Must be later than from');
  await existingEndpoint(context, endpointId);
  const now = clock();
  const page = store.replayPage(database, organization.id, endpointId, range, { limit: maxReplayed, now });
  const [rows] = await database.batchOnce(
    [...page, wakeStatement(database, organization.id, endpointId, now)],
    async ({ changes }) => [
      // The deliveries that the first attempt has made pending are not counted again.
      (await database.all(page[0])).map(({ last, seen }) => ({ last, seen, replayed: changes })),
      [],
      [],
    ],
    page.length,
  );
  wakeEndpoint(context, endpointId);
  const { last, seen, replayed } = rows[0]!;
  return { replayed, nextFrom: seen === maxReplayed && last !== null ? last + 1 : null };
}

/** Sends a test event to an endpoint, whatever types it wants. Throws 404, and 409 unless it is active. */
export async function sendTestEvent(context: Context, endpointId: number): Promise<store.MessageRow> {
  const { database, organization, clock } = context;
  const { status } = await existingEndpoint(context, endpointId);
  if (status !== 'active') throw conflict(`The endpoint is ${status}; resume it before you test it`);
  const now = clock();
  const event = {
    eventId: `evt_${randomUUID().replaceAll('-', '')}`,
    type: testEventType,
    subject: `test:${now}`,
    data: { webhook_endpoint_id: endpointId },
  };
  const insert = store.insertMessage(database, organization.id, endpointId, event, now);
  const [rows] = await database.batchOnce([insert, wakeStatement(database, organization.id, endpointId, now)], async () => [
    await database.all(store.selectNewest(database, organization.id, endpointId)),
    [],
  ]);
  wakeEndpoint(context, endpointId);
  return rows[0]!;
}
