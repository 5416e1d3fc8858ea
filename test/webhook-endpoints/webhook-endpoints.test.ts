import { afterEach, describe, expect, test, vi } from 'vitest';
import { Client, newOrganization } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { holdObjects, messagesOf, newEndpoint, newReceiver, path, suppressNumber, waitForDelivery } from './endpoints.ts';

afterEach(() => vi.restoreAllMocks());

const url = 'https://hooks.example.com/in';

describe('a webhook endpoint', () => {
  test('is created for all events or for some, and shows its secret once', async () => {
    const { client } = await newOrganization();
    const created = await client.post(path, {
      url,
      description: ' the  shop ',
      events: ['call.completed', 'call.completed', 'run.failed'],
    });
    expect(created.status).toBe(200);
    expect(created.body).toEqual({
      id: expect.any(Number),
      url,
      description: 'the shop',
      events: ['call.completed', 'run.failed'],
      status: 'active',
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      warning: null,
      previous_secret_until: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret, ...shown } = created.body;
    expect((await client.get(`${path}/${shown.id}`)).body).toEqual(shown);
    expect((await client.post(path, { url })).body).toMatchObject({ events: null, description: '' });
    const list = (await client.get(`${path}?limit=1`)).body;
    expect(list).toMatchObject({ total: 2, webhook_endpoints: [{ events: null }] });
    expect((await client.get(`${path}?limit=1&cursor=${list.next_cursor}`)).body.webhook_endpoints).toEqual([shown]);
    expect(JSON.stringify(list)).not.toContain(secret);
  });

  test('stores its secrets sealed, and shows none when it is changed, paused or resumed', async () => {
    const { client, id, secret } = await newEndpoint();
    const key = secret.slice('whsec_'.length);
    await client.post(`${path}/${id}/secret/rotate`, {});
    const row = await ownRows.prepare('SELECT * FROM webhook_endpoint WHERE id = ?').bind(id).first();
    expect(JSON.stringify(row)).not.toContain(key);
    expect(row).toMatchObject({ secret: expect.stringMatching(/^sealed:v1:/), previous_secret: expect.stringMatching(/^sealed:v1:/) });
    for (const answer of [
      await client.patch(`${path}/${id}`, { description: 'new' }),
      await client.post(`${path}/${id}/pause`),
      await client.post(`${path}/${id}/resume`),
    ]) {
      expect(answer.status).toBe(200);
      expect(answer.body.secret).toBeUndefined();
    }
  });

  test('changes what is given, and keeps the rest', async () => {
    const { client, id, receiver } = await newEndpoint(['run.failed']);
    expect((await client.patch(`${path}/${id}`, { description: 'runs' })).body).toMatchObject({
      url: receiver.url,
      events: ['run.failed'],
      description: 'runs',
    });
    expect((await client.patch(`${path}/${id}`, { events: null })).body).toMatchObject({ events: null, description: 'runs' });
    expect((await client.patch(`${path}/${id}`, { url, description: '' })).body).toMatchObject({ url, events: null, description: '' });
  });

  test('is deleted with its deliveries', async () => {
    const endpoint = await newEndpoint();
    const { client, id, organizationId } = endpoint;
    await suppressNumber(client);
    await waitForDelivery(endpoint);
    expect((await client.delete(`${path}/${id}`)).body).toEqual({ status: 'deleted' });
    expect((await client.get(`${path}/${id}`)).status).toBe(404);
    expect((await client.get(path)).body.total).toBe(0);
    await suppressNumber(client);
    await vi.waitFor(
      async () => {
        expect(await messagesOf(organizationId)).toEqual([]);
        expect(await ownRows.prepare('SELECT id FROM webhook_endpoint WHERE id = ?').bind(id).first()).toBeNull();
      },
      { timeout: 10_000, interval: 20 },
    );
  });

  test('names the plan when there are too many', async () => {
    const { client } = await newOrganization({ plan: { max_webhook_endpoints: 1 } });
    const { id } = (await client.post(path, { url })).body;
    expect(await client.post(path, { url })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('(max_webhook_endpoints)') },
    });
    await client.delete(`${path}/${id}`);
    expect((await client.post(path, { url })).status).toBe(200);
  });
});

describe('what cannot be an endpoint', () => {
  test.each([
    ['no address', { description: 'x' }, 'url'],
    ['an address that is none', { url: 'hooks' }, 'url'],
    ['a private address', { url: 'http://127.0.0.1:9/in' }, 'url'],
    ['the metadata of a cloud', { url: 'http://169.254.169.254/latest' }, 'url'],
    ['a private name', { url: 'https://intranet/in' }, 'url'],
    ['another scheme', { url: 'ftp://hooks.example.com/in' }, 'url'],
    ['credentials in the address', { url: 'https://a:b@hooks.example.com/in' }, 'url'],
    ['an unknown event', { url, events: ['call.started'] }, 'events'],
    ['the event of tests', { url, events: ['webhook_endpoint.test'] }, 'events'],
    ['no events', { url, events: [] }, 'events'],
  ])('%s is a 422 that names the field', async (_name, body, field) => {
    const { client } = await newOrganization();
    const answer = await client.post(path, body);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: expect.arrayContaining(['body', field]) }] } });
    expect((await client.get(path)).body.total).toBe(0);
  });

  test('a change to a private address is refused, and the address stays', async () => {
    const { client, id, receiver } = await newEndpoint();
    expect((await client.patch(`${path}/${id}`, { url: 'http://10.0.0.1/in' })).status).toBe(422);
    expect((await client.get(`${path}/${id}`)).body.url).toBe(receiver.url);
  });

  test.each([
    ['an overlap over 7 days', 'secret/rotate', { overlap_seconds: 604_801 }],
    ['a range without an end', 'replay', { from: '2026-01-01' }],
    ['a range that ends before it begins', 'replay', { from: '2026-01-02', to: '2026-01-01' }],
    ['a state that deliveries do not end in', 'replay', { from: '2026-01-01', to: '2026-01-02', status: 'pending' }],
  ])('%s is a 422', async (_name, operation, body) => {
    const { client, id } = await newEndpoint();
    expect((await client.post(`${path}/${id}/${operation}`, body)).status).toBe(422);
  });
});

describe('who may see and change endpoints', () => {
  const operations: [string, string, unknown?][] = [
    ['get', ''],
    ['patch', '', { description: 'mine' }],
    ['delete', ''],
    ['post', '/secret/rotate', {}],
    ['post', '/pause'],
    ['post', '/resume'],
    ['post', '/test'],
    ['get', '/deliveries'],
    ['get', '/deliveries/1'],
    ['post', '/deliveries/1/replay'],
    ['post', '/replay', { from: '2026-01-01', to: '2026-01-02' }],
  ];

  test.each(operations)('%s %s of another organization is a 404', async (method, rest, body) => {
    const { id } = await newEndpoint();
    const { client } = await newOrganization();
    expect((await client[method as 'post'](`${path}/${id}${rest}`, body)).status).toBe(404);
  });

  test.each(operations.filter(([method]) => method !== 'get'))('%s %s needs the scope write', async (method, rest, body) => {
    const { client } = await newOrganization({ scopes: ['read'] });
    const answer = await client[method as 'post'](`${path}/1${rest}`, body);
    expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('"write"') } });
  });

  test('a key that only reads may look, but creates nothing', async () => {
    const { client } = await newOrganization({ scopes: ['read'] });
    expect((await client.get(path)).status).toBe(200);
    expect((await client.post(path, { url })).status).toBe(403);
  });

  test('without credentials everything is a 401', async () => {
    expect((await new Client(undefined).get(path)).status).toBe(401);
    expect((await new Client(undefined).post(path, { url })).status).toBe(401);
  });

  test('a repeated request with an Idempotency-Key stores no secret', async () => {
    const { client, id } = await newOrganization();
    const { body } = await client.post(path, { url }, { 'Idempotency-Key': 'once' });
    const { results } = await ownRows.prepare('SELECT body FROM idempotency_key WHERE organization_id = ?').bind(id).all();
    expect(JSON.stringify(results)).not.toContain(body.secret);
  });

  test('an event of one organization is told to no endpoint of another', async () => {
    holdObjects();
    const [mine, other] = [await newEndpoint(), await newEndpoint(null, newReceiver())];
    await suppressNumber(mine.client);
    expect(await messagesOf(mine.organizationId)).toHaveLength(1);
    expect(await messagesOf(other.organizationId)).toEqual([]);
  });
});
