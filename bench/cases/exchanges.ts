import { createHmac } from 'node:crypto';
import type { Bench } from '../bench.ts';
import { wakingType, webhookSecret } from '../local/journeys.ts';
import type { Exchange } from '../load.ts';
import { externalIdOf, person, phoneOf } from './people.ts';

/** So many contacts are known from the start; events and webhooks are about them. */
export const knownContacts = 5000;

export const orderOf = (number: number) => `A-${100_000 + number}`;

export const dataOf = (number: number) => ({
  order_id: orderOf(number),
  total: 129.5 + (number % 100),
  currency: 'USD',
  items: [
    { sku: 'K-200', name: 'Kettle', quantity: 1, price: 79.5 },
    { sku: 'M-010', name: 'Mug', quantity: 4, price: 12.5 },
  ],
  landing_page: 'https://shop.example.com/collections/kitchen?utm_source=newsletter',
});

export const phoneOfSender = (number: number) => phoneOf(number % knownContacts);

export function postEvent({ headers }: Bench, type: string, number: number, path = '/api/v1/events'): Exchange {
  const body = JSON.stringify({ event_type: type, phone: phoneOfSender(number), data: dataOf(number) });
  return { method: 'POST', path, headers, body };
}

export const deliveryKey = (number: number) => `delivery-of-the-bench-${number}`;

/** Something has arrived: wakes the run that waits for the contact's parcel. */
export function postArrival({ headers }: Bench, number: number, path = '/api/v1/events'): Exchange {
  const body = JSON.stringify({ event_type: wakingType, phone: phoneOfSender(number), data: arrivalOf(number) });
  return { method: 'POST', path, headers, body };
}

export const arrivalOf = (number: number) => ({ customer: externalIdOf(number), parcel: `P-${200_000 + number}`, place: 'front door' });

/** Fires a manual trigger for these contacts. */
export const fireFor = ({ headers }: Bench, path: string, contact_ids: number[]): Exchange => ({
  method: 'POST',
  path,
  headers,
  body: JSON.stringify({ contact_ids }),
});

export function postWebhook(number: number, path: string): Exchange {
  const customer = { name: 'Ada Lovelace', phone: phoneOfSender(number), email: 'ada@example.com' };
  const body = JSON.stringify({ type: 'order.created', customer, ...dataOf(number) });
  const signature = createHmac('sha256', webhookSecret).update(body).digest('hex');
  return { method: 'POST', path, headers: { 'x-signature': signature, 'x-delivery-id': deliveryKey(number) }, body };
}

export const rowsPerRequest = 5000;
export const upsertPath = '/api/v1/contacts/bulk-upsert';

/** The people of a page, from 0 on. */
export function postUpsert({ headers }: Bench, page: number): Exchange {
  const contacts = Array.from({ length: rowsPerRequest }, (_, index) => person(page * rowsPerRequest + index));
  return { method: 'POST', path: upsertPath, headers, body: JSON.stringify({ list_name: 'Customers', contacts }) };
}

export const getContacts = ({ headers }: Bench, query: string): Exchange => ({ method: 'GET', path: `/api/v1/contacts?${query}`, headers });
