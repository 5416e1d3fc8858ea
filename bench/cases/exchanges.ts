import { createHmac } from 'node:crypto';
import type { Bench } from '../bench.ts';
import { wakingType, webhookSecret } from '../local/journeys.ts';
import type { HttpExchange } from '../load.ts';
import { toExternalId, createPerson, phoneOf } from './people.ts';

/** So many contacts are known from the start; events and webhooks are about them. */
const knownContacts = 5000;

export const toOrder = (number: number) => `A-${100_000 + number}`;

export const toEventData = (number: number) => ({
  order_id: toOrder(number),
  total: 129.5 + (number % 100),
  currency: 'USD',
  items: [
    { sku: 'K-200', name: 'Kettle', quantity: 1, price: 79.5 },
    { sku: 'M-010', name: 'Mug', quantity: 4, price: 12.5 },
  ],
  landing_page: 'https://shop.example.com/collections/kitchen?utm_source=newsletter',
});

export const toSenderPhone = (number: number) => phoneOf(number % knownContacts);

export function postEvent({ headers }: Bench, type: string, number: number, path = '/api/v1/events'): HttpExchange {
  const body = JSON.stringify({ event_type: type, phone: toSenderPhone(number), data: toEventData(number) });
  return { method: 'POST', path, headers, body };
}

export const deliveryKey = (number: number) => `delivery-of-the-bench-${number}`;

/** Reports that the contact's parcel has arrived, which wakes the run that waits for it. */
export function postParcelArrival({ headers }: Bench, number: number, path = '/api/v1/events'): HttpExchange {
  const body = JSON.stringify({ event_type: wakingType, phone: toSenderPhone(number), data: toParcelArrivalData(number) });
  return { method: 'POST', path, headers, body };
}

export const toParcelArrivalData = (number: number) => ({
  customer: toExternalId(number),
  parcel: `P-${200_000 + number}`,
  place: 'front door',
});

/** Fires a manual trigger for these contacts. */
export const fireTrigger = ({ headers }: Bench, path: string, contact_ids: number[]): HttpExchange => ({
  method: 'POST',
  path,
  headers,
  body: JSON.stringify({ contact_ids }),
});

export function postWebhook(number: number, path: string): HttpExchange {
  const customer = { name: 'Ada Lovelace', phone: toSenderPhone(number), email: 'ada@example.com' };
  const body = JSON.stringify({ type: 'order.created', customer, ...toEventData(number) });
  const signature = createHmac('sha256', webhookSecret).update(body).digest('hex');
  return { method: 'POST', path, headers: { 'x-signature': signature, 'x-delivery-id': deliveryKey(number) }, body };
}

export const rowsPerRequest = 5000;
export const upsertPath = '/api/v1/contacts/bulk-upsert';

/** Upserts the people of a page; pages begin at 0. */
export function postUpsert({ headers }: Bench, page: number): HttpExchange {
  const contacts = Array.from({ length: rowsPerRequest }, (_, index) => createPerson(page * rowsPerRequest + index));
  return { method: 'POST', path: upsertPath, headers, body: JSON.stringify({ list_name: 'Customers', contacts }) };
}

export const getContacts = ({ headers }: Bench, query: string): HttpExchange => ({
  method: 'GET',
  path: `/api/v1/contacts?${query}`,
  headers,
});
