import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { shortenBody } from '../../src/http/middleware/idempotency.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';
import { recordedClient, recordedDatabase, type Recording } from '../support/recorded-database.ts';
import { anonymous, linesLoggedBy, newEmail, password, serviceWith } from './service.ts';

afterEach(() => vi.useRealTimers());

const keyed = (key: string) => ({ 'Idempotency-Key': key });
const countOf = async (client: Client) => (await client.get('/contacts')).body.total;
const storedOf = async (organizationId: number) =>
  (await env.DB.prepare('SELECT * FROM idempotency_key WHERE organization_id = ?').bind(organizationId).all()).results;

describe('a repeat', () => {
  test('with the same key and body is answered with the first answer, and does nothing', async () => {
    const { client } = await newOrganization();
    const body = { phone: newPhone(), custom_fields: { note: 'naïve ✓' } };
    const first = await client.post('/contacts', body, keyed('a'));
    const second = await client.post('/contacts/', body, keyed('a'));
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await countOf(client)).toBe(1);
  });

  test('of a refusal is refused the same way', async () => {
    const { client } = await newOrganization();
    const first = await client.post('/contacts', { phone: 'letters' }, keyed('a'));
    const second = await client.post('/contacts', { phone: 'letters' }, keyed('a'));
    expect(first.status).toBe(422);
    expect(second).toMatchObject({ status: 422, body: first.body });
    expect(second.headers.get('idempotency-replayed')).toBe('true');
  });

  test('with another body is 422, and does nothing', async () => {
    const { client } = await newOrganization();
    await client.post('/contacts', { phone: newPhone() }, keyed('a'));
    const other = await client.post('/contacts', { phone: newPhone() }, keyed('a'));
    expect(other).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body'], msg: expect.stringContaining('another body'), type: 'key_reused' }] },
    });
    expect(await countOf(client)).toBe(1);
  });

  test('with another query is 422, and does nothing; the same query in another order is a repeat', async () => {
    const { client } = await newOrganization();
    const body = { phone: newPhone() };
    const first = await client.post('/contacts?a=1&b=2', body, keyed('a'));
    expect(first.status).toBe(201);
    for (const query of ['', '?a=1', '?a=1&b=3', '?a=1&b=2&b=2', '?b=1&a=2'])
      expect(await client.post(`/contacts${query}`, body, keyed('a')), query).toMatchObject({
        status: 422,
        body: { detail: [{ msg: expect.stringContaining('another body or query'), type: 'key_reused' }] },
      });
    const again = await client.post('/contacts?b=2&a=1', body, keyed('a'));
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await countOf(client)).toBe(1);
  });

  test('without a query is found by a repeat without one, and the query of another organization is its own', async () => {
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    const body = { phone: newPhone() };
    await client.post('/contacts', body, keyed('a'));
    expect((await client.post('/contacts?', body, keyed('a'))).headers.get('idempotency-replayed')).toBe('true');
    const theirs = await other.post('/contacts?a=1', body, keyed('a'));
    expect(theirs.status).toBe(201);
    expect(theirs.headers.get('idempotency-replayed')).toBeNull();
  });

  test.each([
    [
      'another path',
      (client: Client, name: string) => client.post('/contacts/upsert', { list_name: name, contact: { phone: newPhone() } }, keyed('a')),
    ],
    ['another method', (client: Client) => client.patch('/organizations/current', { name: 'Other' }, keyed('a'))],
    ['another key', (client: Client, name: string) => client.post('/contacts/lists', { name: `${name} 2` }, keyed('A'))],
  ])('on %s is another request', async (_, call) => {
    const { client } = await newOrganization();
    await client.post('/contacts/lists', { name: 'One' }, keyed('a'));
    const answer = await call(client, 'One');
    expect(answer.status).not.toBe(409);
    expect(answer.headers.get('idempotency-replayed')).toBeNull();
  });

  test('by another organization is another request', async () => {
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    const body = { phone: newPhone() };
    const ours = await client.post('/contacts', body, keyed('a'));
    const theirs = await other.post('/contacts', body, keyed('a'));
    expect(theirs.status).toBe(201);
    expect(theirs.headers.get('idempotency-replayed')).toBeNull();
    expect(theirs.body.organization_id).not.toBe(ours.body.organization_id);
    const different = await other.post('/contacts', { phone: newPhone() }, keyed('b'));
    expect(different.status).toBe(201);
  });

  test('by another key of the same organization is a repeat', async () => {
    const { client } = await newOrganization();
    const minted = (await client.post('/user/api-keys', { name: 'second' })).body.api_key;
    const body = { phone: newPhone() };
    await client.post('/contacts', body, keyed('a'));
    expect((await new Client(minted).post('/contacts', body, keyed('a'))).headers.get('idempotency-replayed')).toBe('true');
  });

  test('after 24 hours is a new request, and not a moment before', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { client } = await newOrganization();
    const start = Date.now();
    const body = { email: newEmail() };
    const first = await client.post('/contacts', body, keyed('a'));
    vi.setSystemTime(start + 86_400_000);
    expect((await client.post('/contacts', body, keyed('a'))).body).toEqual(first.body);
    vi.setSystemTime(start + 86_400_001);
    const later = await client.post('/contacts', { ...body, first_name: 'New' }, keyed('a'));
    expect(later.headers.get('idempotency-replayed')).toBeNull();
    expect(later.body.id).not.toBe(first.body.id);
  });
});

/** Holds a request in the middle of its work until released; `arrived` resolves when the request is held. */
function held(key: string) {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const { client } = recordedClient(key, {
    beforeCall: async (sql) => {
      if (!/INSERT INTO contact\b/i.test(sql.join())) return;
      arrived.resolve();
      await released.promise;
    },
  });
  return { client, arrived: arrived.promise, go: released.resolve };
}

describe('a request that is still running', () => {
  test('makes its repeat wait: 409; another body is still 422', async () => {
    const { client, key } = await newOrganization();
    const slow = held(key);
    const body = { phone: newPhone() };
    const first = slow.client.post('/contacts', body, keyed('a'));
    await slow.arrived;
    expect(await client.post('/contacts', body, keyed('a'))).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('still running') },
    });
    expect((await client.post('/contacts', { phone: newPhone() }, keyed('a'))).status).toBe(422);
    slow.go();
    expect((await first).status).toBe(201);
    expect((await client.post('/contacts', body, keyed('a'))).headers.get('idempotency-replayed')).toBe('true');
    expect(await countOf(client)).toBe(1);
  });

  test('of two sent at once one does the work', async () => {
    const { client } = await newOrganization();
    const body = { email: newEmail() };
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.post('/contacts', body, keyed('a'))));
    const fresh = answers.filter(({ status, headers }) => status === 201 && !headers.has('idempotency-replayed'));
    expect(fresh).toHaveLength(1);
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect(await countOf(client)).toBe(1);
  });

  test('and died keeps its repeat waiting for 60 s, then lets it through', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { client, id } = await newOrganization();
    const start = Date.now();
    const body = { phone: newPhone() };
    await client.post('/contacts/lists', body, keyed('a'));
    await env.DB.prepare('UPDATE idempotency_key SET status = NULL, body = NULL WHERE organization_id = ?').bind(id).run();
    vi.setSystemTime(start + 60_000);
    expect((await client.post('/contacts/lists', body, keyed('a'))).status).toBe(409);
    vi.setSystemTime(start + 60_001);
    const again = await client.post('/contacts/lists', body, keyed('a'));
    expect(again.status).toBe(422);
    expect(again.headers.get('idempotency-replayed')).toBeNull();
    expect(await storedOf(id)).toMatchObject([{ status: 422, created_at: start + 60_001 }]);
  });

  test('and may have waited for the tests of an agent keeps its repeat waiting for so much longer', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { client, id } = await newOrganization();
    const start = Date.now();
    await client.post('/workflow/1/verify', {}, keyed('a'));
    await client.put('/workflow/1', {}, keyed('a'));
    await env.DB.prepare('UPDATE idempotency_key SET status = NULL, body = NULL WHERE organization_id = ?').bind(id).run();
    const statuses = async () => [
      (await client.post('/workflow/1/verify', {}, keyed('a'))).status,
      (await client.put('/workflow/1', {}, keyed('a'))).status,
    ];
    vi.setSystemTime(start + 150_000);
    expect(await statuses()).toEqual([409, 409]);
    vi.setSystemTime(start + 150_001);
    expect(await statuses()).toEqual([404, 404]);
  });

  test('and lost its mark to a repeat does not overwrite what that one answered', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { client, key, id } = await newOrganization();
    const slow = held(key);
    const body = { email: newEmail() };
    const first = slow.client.post('/contacts', body, keyed('a'));
    await slow.arrived;
    vi.setSystemTime(Date.now() + 61_000);
    const second = await client.post('/contacts', body, keyed('a'));
    slow.go();
    expect((await first).status).toBe(201);
    const kept = await storedOf(id);
    expect(kept).toHaveLength(1);
    expect(JSON.parse(String(kept[0]!.body))).toEqual(second.body);
  });
});

describe('a failure of the moment', () => {
  test('is not kept: the repeat is a new try', async () => {
    const { client, key, id } = await newOrganization();
    const { client: failing } = recordedClient(key, {
      beforeCall: async (sql) => {
        if (/INSERT INTO contact\b/i.test(sql.join())) throw new Error('D1_ERROR: out of disk');
      },
    });
    const body = { phone: newPhone() };
    await linesLoggedBy(async () => expect((await failing.post('/contacts', body, keyed('a'))).status).toBe(500));
    expect(await storedOf(id)).toEqual([]);
    expect(await client.post('/contacts', body, keyed('a'))).toMatchObject({ status: 201 });
  });

  test('in keeping the answer does not take the answer away', async () => {
    const { client, key } = await newOrganization();
    const { client: forgetful } = recordedClient(key, {
      beforeCall: async (sql) => {
        if (sql.join().startsWith('update "idempotency_key"')) throw new Error('D1_ERROR: out of disk');
      },
    });
    const lines = await linesLoggedBy(async () => {
      expect(await forgetful.post('/contacts', { phone: newPhone() }, keyed('a'))).toMatchObject({ status: 201 });
    });
    expect(lines.join()).toContain('could not be kept');
    expect(await countOf(client)).toBe(1);
  });

  test('before it is known who asks leaves no mark', async () => {
    const { client, id } = await newOrganization();
    await client.post('/contacts', '{"mal', keyed('a'));
    await client.post('/contacts', 'x', { ...keyed('b'), 'Content-Type': 'text/plain' });
    await anonymous.post('/contacts', {}, keyed('c'));
    expect(await storedOf(id)).toEqual([]);
  });
});

describe('the key', () => {
  test('has 1 to 255 characters, on events too', async () => {
    const { client } = await newOrganization();
    expect((await client.post('/contacts', { phone: newPhone() }, keyed('x'.repeat(255)))).status).toBe(201);
    for (const [path, body] of [
      ['/contacts', { phone: newPhone() }],
      ['/events', { event_type: 'x' }],
    ] as const)
      for (const key of ['x'.repeat(256), ''])
        expect(await client.post(path, body, keyed(key))).toMatchObject({
          status: 422,
          body: { detail: [{ loc: ['header', 'Idempotency-Key'], msg: 'Must have 1 to 255 characters' }] },
        });
    expect(await countOf(client)).toBe(1);
  });

  test('means nothing on a GET', async () => {
    const { client, id } = await newOrganization();
    expect((await client.get('/contacts', keyed('x'.repeat(300)))).status).toBe(200);
    await client.get('/contacts', keyed('a'));
    expect(await storedOf(id)).toEqual([]);
  });

  test('is the event_id on POST /events: the first event is answered, even after another body', async () => {
    const { client, id } = await newOrganization();
    const first = await client.post('/events', { event_type: 'x' }, keyed('order-1'));
    const second = await client.post('/events', { event_type: 'x' }, keyed('order-1'));
    const third = await client.post('/events/', { event_type: 'x', event_id: 'order-1' }, keyed('other'));
    expect(first.status).toBe(201);
    for (const answer of [second, third]) expect(answer).toMatchObject({ status: 201, body: first.body });
    expect((await client.get('/events')).body.total).toBe(1);
    expect(await storedOf(id)).toEqual([]);
  });

  test('is the same with and without a slash behind the path', async () => {
    const { client } = await newOrganization();
    const first = await client.post('/contacts/lists', { name: 'One' }, keyed('slash'));
    const again = await client.post('/contacts/lists/', { name: 'One' }, keyed('slash'));
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  });

  test('is not honoured where answers hold secrets: nothing of them is stored', async () => {
    const { client, id } = await newOrganization();
    const one = await client.post('/user/api-keys', { name: 'x' }, keyed('a'));
    const two = await client.post('/user/api-keys', { name: 'x' }, keyed('a'));
    expect(two.status).toBe(200);
    expect(two.body.api_key).not.toBe(one.body.api_key);
    const archived = await client.delete(`/user/api-keys/${one.body.id}`, keyed('a'));
    expect(archived.headers.get('idempotency-replayed')).toBeNull();
    const email = newEmail();
    expect((await anonymous.post('/auth/signup', { email, password, organization_name: 'x' }, keyed('a'))).status).toBe(200);
    expect((await anonymous.post('/auth/login', { email, password }, keyed('a'))).status).toBe(200);
    expect((await anonymous.post('/auth/login', { email, password: 'other' }, keyed('a'))).status).toBe(401);
    expect(await storedOf(id)).toEqual([]);
    const { results } = await env.DB.prepare(
      "SELECT * FROM idempotency_key WHERE body LIKE '%va_\\_%' ESCAPE '\\' OR scope LIKE '%/auth/%'",
    ).all();
    expect(results).toEqual([]);
  });
});

describe('a large answer', () => {
  test('is kept as states, counts and ids', async () => {
    const { client, id } = await newOrganization();
    const body = { list_name: 'Many', contacts: Array.from({ length: 400 }, () => ({ phone: newPhone(), company: 'x'.repeat(100) })) };
    body.contacts.push({ phone: 'letters', company: '' });
    const first = await client.post('/contacts/bulk-upsert', body, keyed('a'));
    const second = await client.post('/contacts/bulk-upsert', body, keyed('a'));
    expect(first.body).toMatchObject({ created: 400, failed: 1 });
    expect(JSON.stringify(first.body).length).toBeGreaterThan(64 * 1024);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    const { contacts, ...rest } = first.body;
    expect(second.body).toEqual({ ...rest, contacts: contacts.map((contact: { id: number }) => ({ id: contact.id })), shortened: true });
    const [kept] = await storedOf(id);
    expect(String(kept!.body).length).toBeLessThan(16 * 1024);
  });

  test('leaves out long texts and nested objects, and says that it is shortened', () => {
    const answer = {
      id: 7,
      status: 'done',
      is_active: false,
      note: null,
      text: 'x'.repeat(201),
      definition: { nodes: [] },
      rows: [{ id: 1, a: 2 }, { index: 3 }, 'x'],
    };
    expect(JSON.parse(shortenBody(JSON.stringify(answer)))).toEqual({
      id: 7,
      status: 'done',
      is_active: false,
      note: null,
      rows: [{ id: 1 }, { index: 3 }, 'x'],
      shortened: true,
    });
  });

  test('fits a database value whatever it was', () => {
    expect(shortenBody(JSON.stringify({ rows: Array.from({ length: 100_000 }, () => 'é'.repeat(20)) }))).toBe('{"shortened":true}');
    expect(JSON.parse(shortenBody('[{"id":1,"a":2}]'))).toEqual({ items: [{ id: 1 }], shortened: true });
    expect(JSON.parse(shortenBody('"text"'))).toEqual({ items: 'text', shortened: true });
  });
});

test('a call without a key asks nothing more of the database, one with a key two calls', async () => {
  const { key } = await newOrganization();
  const recording: Recording = { statements: [], calls: 0 };
  const client = new Client(key, serviceWith({ DB: recordedDatabase(env.DB, recording) }));
  await client.get('/no-such-path');
  const callsFor = async (headers: Record<string, string>) => {
    const before = recording.calls;
    await client.post('/contacts/lists', { name: `List ${recording.calls}` }, headers);
    return recording.calls - before;
  };
  const without = await callsFor({});
  expect(await callsFor(keyed('a'))).toBe(without + 2);
});
