import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ownRows } from '../support/own-rows.ts';
import {
  deliveriesOf,
  holdObjects,
  newEndpoint,
  newReceiver,
  newSender,
  path,
  readEndpoint,
  suppressNumber,
  waitForDelivery,
  type Endpoint,
} from './endpoints.ts';

afterEach(() => vi.restoreAllMocks());

const minute = 60_000;
const day = 86_400_000;

/** An endpoint whose object is held, and the sender in its place. */
async function heldEndpoint(events: string[] | null = null): Promise<{ endpoint: Endpoint } & Awaited<ReturnType<typeof newSender>>> {
  holdObjects();
  const endpoint = await newEndpoint(events);
  return { endpoint, ...(await newSender(endpoint)) };
}

const setEndpoint = (id: number, change: string) => ownRows.prepare(`UPDATE webhook_endpoint SET ${change} WHERE id = ?`).bind(id).run();

describe('a webhook', () => {
  test('is sent soon after its event, by the object of the endpoint, and can be verified by the official library', async () => {
    const endpoint = await newEndpoint(['suppression.added']);
    const phone = await suppressNumber(endpoint.client);
    const delivery = await waitForDelivery(endpoint);
    const [request, ...more] = endpoint.receiver.received;
    expect(more).toEqual([]);
    const event = new Webhook(endpoint.secret).verify(request!.body, request!.headers) as any;
    expect(event).toEqual({
      type: 'suppression.added',
      timestamp: expect.stringMatching(/Z$/),
      data: {
        suppression_id: expect.any(Number),
        phone,
        reason: 'do_not_call',
        source: 'manual',
        until_at: null,
        record_url: `/api/v1/contacts/suppressions?phone=${encodeURIComponent(phone)}`,
      },
    });
    expect(request!.headers).toMatchObject({ 'webhook-id': delivery.event_id, 'content-type': 'application/json' });
    expect(() => new Webhook(endpoint.secret).verify(`${request!.body} `, request!.headers)).toThrow();
    expect(delivery).toEqual({
      id: expect.any(Number),
      event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'suppression.added',
      status: 'delivered',
      payload: event,
      next_attempt_at: null,
      attempts: [{ at: expect.any(String), answer_status: 200, answer_body: 'thanks', error: null, latency_ms: expect.any(Number) }],
      created_at: event.timestamp,
      ended_at: expect.any(String),
    });
  });

  test('is signed with both secrets during a rotation, and with the new one alone afterwards', async () => {
    const { endpoint, deliver, time } = await heldEndpoint();
    const rotated = (await endpoint.client.post(`${path}/${endpoint.id}/secret/rotate`, { overlap_seconds: 3600 })).body;
    expect(Date.parse(rotated.previous_secret_until)).toBeGreaterThan(Date.now());
    await suppressNumber(endpoint.client);
    await deliver();
    const verify = (secret: string, index: number) => {
      const { body, headers } = endpoint.receiver.received[index]!;
      return new Webhook(secret).verify(body, headers);
    };
    expect(verify(endpoint.secret, 0)).toEqual(verify(rotated.secret, 0));
    await setEndpoint(endpoint.id, 'previous_secret_until = 1');
    await suppressNumber(endpoint.client);
    time.now = Date.now() + 1;
    await deliver();
    expect(verify(rotated.secret, 1)).toBeTruthy();
    expect(() => verify(endpoint.secret, 1)).toThrow();
  });

  test('without an overlap, the old secret signs nothing any more', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    const { secret } = (await endpoint.client.post(`${path}/${endpoint.id}/secret/rotate`, { overlap_seconds: 0 })).body;
    await suppressNumber(endpoint.client);
    await deliver();
    const [{ body, headers }] = endpoint.receiver.received as [any];
    expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
    expect(() => new Webhook(endpoint.secret).verify(body, headers)).toThrow();
  });

  test('of a test comes whatever events are wanted', async () => {
    const endpoint = await newEndpoint(['call.completed']);
    const { body } = await endpoint.client.post(`${path}/${endpoint.id}/test`);
    expect(body).toMatchObject({ type: 'webhook_endpoint.test', status: 'pending', attempts: [] });
    const delivery = await waitForDelivery(endpoint);
    expect(delivery.event_id).toBe(body.event_id);
    expect(endpoint.receiver.received[0]!.event.data).toEqual({
      webhook_endpoint_id: endpoint.id,
      record_url: `/api/v1/webhook-endpoints/${endpoint.id}`,
    });
  });

  test('has one id for all endpoints that want it', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    const second = newReceiver();
    const { id } = (await endpoint.client.post(path, { url: second.url })).body;
    await suppressNumber(endpoint.client);
    await suppressNumber(endpoint.client);
    await deliver();
    await (await newSender({ organizationId: endpoint.organizationId, id })).deliver();
    const ids = (requests: typeof second.received) => requests.map(({ headers }) => headers['webhook-id']).toSorted();
    expect(ids(second.received)).toEqual(ids(endpoint.receiver.received));
    expect(new Set(ids(second.received)).size).toBe(2);
  });
});

describe('a webhook that is not taken', () => {
  test('is sent again by the schedule under the same id, and then given up', async () => {
    const { endpoint, deliver, time } = await heldEndpoint();
    endpoint.receiver.answer = () => new Response('x'.repeat(3000), { status: 500 });
    await suppressNumber(endpoint.client);
    // Beyond five days the endpoint would be disabled.
    for (let next: number | null = time.now; endpoint.receiver.received.length < 10; time.now = next!) next = await deliver();
    const [delivery] = await deliveriesOf(endpoint);
    expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null });
    expect(delivery.attempts).toHaveLength(10);
    expect(Date.parse(delivery.attempts[9].at) - Date.parse(delivery.attempts[0].at)).toBeGreaterThan(3 * day);
    expect(delivery.attempts[0]).toMatchObject({
      answer_status: 500,
      answer_body: 'x'.repeat(1024),
      error: 'The receiver answered 500; only 200 to 299 is a success',
    });
    expect(new Set(endpoint.receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivery.event_id]));
    await deliver();
    expect(endpoint.receiver.received).toHaveLength(10);
  });

  test('is not sent before the moment of Retry-After, nor is anything else', async () => {
    const { endpoint, deliver, time } = await heldEndpoint();
    endpoint.receiver.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '600' } });
    await suppressNumber(endpoint.client);
    const began = time.now;
    expect(await deliver()).toBe(began + 10 * minute);
    await suppressNumber(endpoint.client);
    time.now = began + 9 * minute;
    await deliver();
    expect(endpoint.receiver.received).toHaveLength(1);
    endpoint.receiver.answer = () => new Response(null);
    time.now = began + 10 * minute;
    await deliver();
    expect(endpoint.receiver.received).toHaveLength(3);
  });

  test('follows no redirect', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    const target = newReceiver();
    endpoint.receiver.answer = () => new Response(null, { status: 307, headers: { location: target.url } });
    await suppressNumber(endpoint.client);
    await deliver();
    expect(target.received).toEqual([]);
    expect((await deliveriesOf(endpoint))[0].attempts).toMatchObject([
      { answer_status: 307, error: expect.stringContaining('redirects are not followed') },
    ]);
  });

  test('tells why there was no answer, without the address of the receiver', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    endpoint.receiver.answer = () => {
      throw new TypeError('connection refused by 203.0.113.7');
    };
    await suppressNumber(endpoint.client);
    await deliver();
    const [{ attempts }] = await deliveriesOf(endpoint);
    expect(attempts).toMatchObject([{ answer_status: null, answer_body: null, error: expect.stringContaining('cannot be reached') }]);
    expect(JSON.stringify(attempts)).not.toContain('203.0.113.7');
  });

  test('is never sent to an address that has become private', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    await setEndpoint(endpoint.id, "url = 'http://10.0.0.7/in'");
    await suppressNumber(endpoint.client);
    await deliver();
    expect((await deliveriesOf(endpoint))[0].attempts).toMatchObject([{ error: expect.stringContaining('may not be called') }]);
  });

  test('keeps an answer with zero characters', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    endpoint.receiver.answer = () => new Response('a\u0000b "quoted"');
    await suppressNumber(endpoint.client);
    await deliver();
    expect((await deliveriesOf(endpoint))[0]).toMatchObject({ status: 'delivered', attempts: [{ answer_body: 'ab "quoted"' }] });
  });
});

describe('an endpoint', () => {
  test('is disabled at once by 410 Gone, and the other endpoints are told', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    const other = newReceiver();
    const { id } = (await endpoint.client.post(path, { url: other.url, events: ['webhook_endpoint.disabled'] })).body;
    endpoint.receiver.answer = () => new Response(null, { status: 410 });
    await suppressNumber(endpoint.client);
    await deliver();
    const record = await readEndpoint(endpoint);
    expect(record).toMatchObject({
      status: 'disabled',
      disabled_reason: expect.stringMatching(/^gone: /),
      warning: expect.stringContaining('410'),
    });
    await (await newSender({ organizationId: endpoint.organizationId, id })).deliver();
    expect(other.received.map(({ event }) => event)).toMatchObject([
      {
        type: 'webhook_endpoint.disabled',
        data: { webhook_endpoint_id: endpoint.id, reason: record.disabled_reason, disabled_at: record.disabled_at },
      },
    ]);
    // An address may have a credential in it.
    expect(other.received[0]!.body).not.toContain(endpoint.receiver.url);
    // Nothing is recorded while it is disabled; what was pending is sent once it is resumed.
    await suppressNumber(endpoint.client);
    expect(await deliveriesOf(endpoint)).toHaveLength(1);
    endpoint.receiver.answer = () => new Response(null);
    const resumed = (await endpoint.client.post(`${path}/${endpoint.id}/resume`)).body;
    expect(resumed).toMatchObject({ status: 'active', disabled_reason: null, warning: null });
  });

  test('is disabled after five days of failures, of which its warning tells before', async () => {
    const { endpoint, deliver, time } = await heldEndpoint();
    endpoint.receiver.answer = () => new Response(null, { status: 503 });
    await suppressNumber(endpoint.client);
    await deliver();
    expect(await readEndpoint(endpoint)).toMatchObject({
      status: 'active',
      failing_since: expect.any(String),
      warning: expect.stringContaining('disabled at'),
    });
    for (let days = 1; days <= 5; days++) {
      time.now += day;
      await suppressNumber(endpoint.client);
      await deliver();
    }
    expect(await readEndpoint(endpoint)).toMatchObject({ status: 'disabled', disabled_reason: expect.stringMatching(/^failing: /) });
  });

  test('that a person resumed while it was failing is not disabled by what was under way', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    endpoint.receiver.answer = async () => {
      await endpoint.client.patch(`${path}/${endpoint.id}`, { description: 'repaired' });
      return new Response(null, { status: 410 });
    };
    await suppressNumber(endpoint.client);
    await deliver();
    expect(await readEndpoint(endpoint)).toMatchObject({ description: 'repaired', status: 'active' });
  });

  test('is healthy again after one success', async () => {
    const { endpoint, deliver, time } = await heldEndpoint();
    endpoint.receiver.answer = () => new Response(null, { status: 500 });
    await suppressNumber(endpoint.client);
    time.now = (await deliver())!;
    endpoint.receiver.answer = () => new Response(null);
    await deliver();
    expect(await readEndpoint(endpoint)).toMatchObject({ failing_since: null, warning: null });
  });

  test('that is paused keeps its events, and is sent them when it is resumed', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    await endpoint.client.post(`${path}/${endpoint.id}/pause`);
    const phones = [await suppressNumber(endpoint.client), await suppressNumber(endpoint.client)];
    await deliver();
    expect(endpoint.receiver.received).toEqual([]);
    expect((await endpoint.client.post(`${path}/${endpoint.id}/test`)).status).toBe(409);
    expect((await endpoint.client.post(`${path}/${endpoint.id}/resume`)).body.status).toBe('active');
    await deliver();
    expect(endpoint.receiver.received.map(({ event }) => event.data['phone']).toSorted()).toEqual(phones.toSorted());
  });

  test('has deliveries for as long as they are kept, and then no work', async () => {
    const { endpoint, deliver, time } = await heldEndpoint();
    await suppressNumber(endpoint.client);
    const [{ id }] = await deliveriesOf(endpoint);
    expect(await deliver()).toBe(id + 30 * day);
    time.now = id + 30 * day + 1;
    expect(await deliver()).toBeNull();
    expect(await deliveriesOf(endpoint)).toEqual([]);
  });
});

describe('the log of deliveries', () => {
  test('is filtered by state, type, event and time, and paged by a cursor', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    for (let number = 0; number < 3; number++) await suppressNumber(endpoint.client);
    endpoint.receiver.answer = ({ event }) => new Response(null, { status: event.type === 'suppression.added' ? 200 : 500 });
    await endpoint.client.post(`${path}/${endpoint.id}/test`);
    await deliver();
    const all = await deliveriesOf(endpoint);
    expect(all.map(({ type }) => type)).toEqual(['webhook_endpoint.test', ...Array.from({ length: 3 }, () => 'suppression.added')]);
    const ids = async (query: string) => (await deliveriesOf(endpoint, query)).map(({ id }) => id);
    const idsOf = (some: any[]) => some.map(({ id }) => id);
    expect(await ids('?status=pending')).toEqual(idsOf(all.slice(0, 1)));
    expect(await ids('?status=delivered')).toEqual(idsOf(all.slice(1)));
    expect(await ids('?type=suppression.added&limit=2')).toEqual(idsOf(all.slice(1, 3)));
    expect(await ids(`?event_id=${all[2].event_id}`)).toEqual([all[2].id]);
    expect(await ids(`?from=${new Date(all[1].id).toISOString()}`)).toEqual(idsOf(all.slice(0, 2)));
    expect(await ids(`?to=${new Date(all[1].id).toISOString()}`)).toEqual(idsOf(all.slice(2)));
    const first = (await endpoint.client.get(`${path}/${endpoint.id}/deliveries?limit=3`)).body;
    expect(first.total).toBe(4);
    expect(await ids(`?limit=3&cursor=${first.next_cursor}`)).toEqual([all[3].id]);
    expect((await endpoint.client.get(`${path}/${endpoint.id}/deliveries/${all[1].id}`)).body).toEqual(all[1]);
    expect((await endpoint.client.get(`${path}/${endpoint.id}/deliveries/1`)).status).toBe(404);
    for (const query of ['status=lost', 'type=none', 'from=soon', 'cursor=x'])
      expect((await endpoint.client.get(`${path}/${endpoint.id}/deliveries?${query}`)).status, query).toBe(422);
  });

  test('replays one delivery that has ended, under the same id', async () => {
    const { endpoint, deliver } = await heldEndpoint();
    await suppressNumber(endpoint.client);
    const [{ id, event_id }] = await deliveriesOf(endpoint);
    const replay = () => endpoint.client.post(`${path}/${endpoint.id}/deliveries/${id}/replay`);
    expect(await replay()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('pending') } });
    await deliver();
    expect((await replay()).body).toMatchObject({ id, event_id, status: 'pending', attempts: [{ answer_status: 200 }] });
    await deliver();
    expect(endpoint.receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([event_id, event_id]);
    expect(endpoint.receiver.received[0]!.body).toBe(endpoint.receiver.received[1]!.body);
    expect((await deliveriesOf(endpoint))[0].attempts).toHaveLength(2);
  });

  test('replays the failed ones of a range, or those of another state, and no pending ones', async () => {
    const { endpoint, deliver, time } = await heldEndpoint();
    const phones = [await suppressNumber(endpoint.client), await suppressNumber(endpoint.client), await suppressNumber(endpoint.client)];
    await deliver();
    await ownRows
      .prepare("UPDATE webhook_message SET status = 'failed' WHERE organization_id = ? AND data LIKE ?")
      .bind(endpoint.organizationId, `%${phones[1]}%`)
      .run();
    const pending = await suppressNumber(endpoint.client);
    const replay = (status?: string, from = '2026-01-01') =>
      endpoint.client.post(`${path}/${endpoint.id}/replay`, { from, to: '2100-01-01', ...(status && { status }) });
    const sent = async () => {
      endpoint.receiver.received.length = 0;
      time.now = Date.now() + 1000;
      await deliver();
      return endpoint.receiver.received.map(({ event }) => event.data['phone'] as string).toSorted();
    };
    expect((await replay()).body).toEqual({ replayed: 1, next_from: null });
    expect(await sent()).toEqual([phones[1]!, pending].toSorted());
    expect((await replay('failed')).body.replayed).toBe(0);
    expect((await replay('all')).body.replayed).toBe(4);
    expect(await sent()).toEqual([...phones, pending].toSorted());
    expect((await replay('delivered', '2099-01-01')).body.replayed).toBe(0);
  });
});
