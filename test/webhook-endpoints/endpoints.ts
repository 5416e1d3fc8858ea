import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import type { Context } from '../../src/context.ts';
import { Database } from '../../src/database/client.ts';
import { runInvocation } from '../../src/database/query-budget.ts';
import type { Unrecorded } from '../../src/webhook-endpoints/sending/deliver-due.ts';
import { deliverDue } from '../../src/webhook-endpoints/sending/deliver-due.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { realFetch } from '../support/real-fetch.ts';

export const path = '/webhook-endpoints';

/** A request that a receiver got. */
export interface Received {
  url: string;
  headers: Record<string, string>;
  body: string;
  event: { type: string; timestamp: string; data: Record<string, any> };
}

type Answering = (request: Received) => Response | Promise<Response>;

/** A receiver under an address of its own. `answer` may be replaced while the service sends. */
export interface Receiver {
  url: string;
  received: Received[];
  answer: Answering;
}

const receivers = new Map<string, Receiver>();
let count = 0;

/** Takes what the service sends to one address. All other requests go their way. `restoreAllMocks` ends all receivers. */
export function newReceiver(answer: Answering = () => new Response('thanks')): Receiver {
  const receiver: Receiver = {
    url: `https://receiver-${(count += 1)}-${Math.random().toString(36).slice(2)}.example.com/hooks`,
    received: [],
    answer,
  };
  receivers.set(receiver.url, receiver);
  if (!vi.isMockFunction(globalThis.fetch))
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const request = new Request(input as RequestInfo, init as RequestInit);
      const found = receivers.get(request.url);
      if (!found) return realFetch(request);
      const body = await request.text();
      const received = { url: request.url, headers: Object.fromEntries(request.headers), body, event: JSON.parse(body) };
      found.received.push(received);
      return found.answer(received);
    });
  return receiver;
}

export interface Endpoint {
  id: number;
  secret: string;
  organizationId: number;
  client: Client;
  receiver: Receiver;
}

/** An organization with an endpoint that wants `events`; null: all. */
export async function newEndpoint(events: string[] | null = null, receiver = newReceiver()): Promise<Endpoint> {
  const { client, id: organizationId } = await newOrganization();
  const { body } = await client.post(path, { url: receiver.url, events });
  return { id: body.id, secret: body.secret, organizationId, client, receiver };
}

/** Keeps the objects of endpoints from being woken, so that only the test sends. */
export function holdObjects(): void {
  vi.spyOn(env.WEBHOOK_ENDPOINT, 'getByName').mockImplementation(
    () =>
      ({ wake: async () => undefined, deleteAllData: async () => undefined }) as unknown as ReturnType<
        typeof env.WEBHOOK_ENDPOINT.getByName
      >,
  );
}

/** Has a number suppressed: an event `suppression.added`. Answers the number. */
export async function suppressNumber(client: Client, phone = newPhone()): Promise<string> {
  await client.post('/contacts/suppressions', { phone });
  return phone;
}

export const deliveriesOf = async ({ client, id }: Endpoint, query = ''): Promise<any[]> =>
  (await client.get(`${path}/${id}/deliveries${query}`)).body.deliveries;

export const readEndpoint = async ({ client, id }: Endpoint): Promise<any> => (await client.get(`${path}/${id}`)).body;

export const waitForDelivery = (endpoint: Endpoint, query = '?status=delivered'): Promise<any> =>
  vi.waitFor(
    async () => {
      const [delivery] = await deliveriesOf(endpoint, query);
      if (!delivery) throw new Error(`no delivery with ${query} yet`);
      return delivery;
    },
    { timeout: 10_000, interval: 20 },
  );

/** A sender that the test drives, with a clock of its own. `unrecorded` is what the object keeps in memory. */
export async function newSender({ organizationId, id }: Pick<Endpoint, 'organizationId' | 'id'>, database: D1Database = ownRows) {
  const time = { now: Date.now() + 1000 };
  const context: Context = {
    ...(await backgroundContext(env, organizationId, () => {}))!,
    clock: () => time.now,
    database: new Database(database, true),
  };
  const unrecorded: Unrecorded = { sent: [] };
  return {
    time,
    context,
    unrecorded,
    /** Sends what is due, as the object's alarm does. Answers when there is work next. */
    deliver: () => runInvocation(() => deliverDue(context, id, unrecorded, () => false)),
  };
}

export const messagesOf = async (organizationId: number): Promise<any[]> =>
  (
    await ownRows
      .prepare('SELECT * FROM webhook_message WHERE organization_id = ? ORDER BY endpoint_id, sequence')
      .bind(organizationId)
      .all()
  ).results;

/** Records an event of a subject, as the triggers of the database do. */
export const recordEvent = (organizationId: number, subject: string, number: number): Promise<unknown> =>
  ownRows
    .prepare(
      `INSERT INTO webhook_event (organization_id, type, subject, data, event_id, created_at)
       VALUES (?1, 'suppression.added', ?2, json_object('suppression_id', ?3, 'phone', '+12125550100', 'reason', 'test', 'until_at', NULL),
         'evt_' || lower(hex(randomblob(16))), CAST(round(unixepoch('subsec') * 1000) AS INTEGER))`,
    )
    .bind(organizationId, subject, number)
    .run();
