import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { authenticateKey } from '../../src/accounts/authentication/identity.ts';
import { requireScope } from '../../src/accounts/authentication/scopes.ts';
import { sha256Hex } from '../../src/library/security/hash.ts';
import { asBearer, newMember } from '../http/service.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

afterEach(() => vi.useRealTimers());

describe('minting a key', () => {
  test('answers its text this once, and stores its hash and first characters alone', async () => {
    const { client, userId, id } = await newOrganization();
    const minted = await client.post('/user/api-keys', { name: 'Shop' });
    expect(minted).toMatchObject({ status: 200 });
    expect(minted.body).toEqual({
      id: expect.any(Number),
      name: 'Shop',
      key_prefix: minted.body.api_key.slice(0, 8),
      scopes: ['write'],
      status: 'active',
      created_by: userId,
      expires_at: null,
      archived_at: null,
      created_at: timestamp,
      api_key: expect.stringMatching(/^vaa_[\w-]{43}$/),
    });
    const listed = await client.get('/user/api-keys');
    expect(JSON.stringify(listed.body)).not.toContain(minted.body.api_key.slice(8));
    const { results } = await env.DB.prepare('SELECT * FROM api_key WHERE organization_id = ?').bind(id).all();
    const row = results.find((one) => one.id === minted.body.id)!;
    expect(row).toMatchObject({ key_hash: sha256Hex(minted.body.api_key), key_prefix: minted.body.api_key.slice(0, 8) });
    expect(JSON.stringify(row)).not.toContain(minted.body.api_key.slice(8));
  });

  test('takes scopes and an end, and the key works for its organization', async () => {
    const { client } = await newOrganization();
    const { body } = await client.post('/user/api-keys', {
      name: 'Both',
      scopes: ['read', 'write', 'read'],
      expires_at: '2099-01-31T01:00:00+01:00',
    });
    expect(body).toMatchObject({ scopes: ['read', 'write'], expires_at: '2099-01-31T00:00:00.000Z' });
    const contact = await new Client(body.api_key).post('/contacts', { email: 'x@example.com' });
    expect((await client.get(`/contacts/${contact.body.id}`)).status).toBe(200);
  });

  test.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: ' ' }, 'name'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name'],
    ['no scope at all', { name: 'x', scopes: [] }, 'scopes'],
    ['an end that is no timestamp', { name: 'x', expires_at: 'tomorrow' }, 'expires_at'],
    ['an end that is a number', { name: 'x', expires_at: 4_000_000_000 }, 'expires_at'],
    ['an end in the past', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ])('%s is a 422 that names the field', async (_, body, field) => {
    const { client } = await newOrganization();
    expect(await client.post('/user/api-keys', body)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
  });

  test('an unknown scope is a 422 that names its place and the scopes there are', async () => {
    const { client } = await newOrganization();
    const answer = await client.post('/user/api-keys', { name: 'x', scopes: ['read', 'root'] });
    expect(answer.body.detail).toEqual([{ loc: ['body', 'scopes', '1'], msg: expect.stringContaining('"admin"'), type: 'invalid_value' }]);
  });
});

const namesOf = (answer: { body: any }) => answer.body.api_keys.map((key: { name: string }) => key.name);

describe('the list of keys', () => {
  test('is newest first, by page and by cursor, with archived keys apart', async () => {
    const { client } = await newOrganization();
    const ids = [];
    for (const name of ['One', 'Two', 'Three']) ids.push((await client.post('/user/api-keys', { name })).body.id);
    await client.delete(`/user/api-keys/${ids[1]}`);
    const first = await client.get('/user/api-keys?limit=2');
    expect(first.body).toMatchObject({ total: 3, limit: 2, offset: 0, next_cursor: expect.any(String) });
    expect(namesOf(first)).toEqual(['Three', 'One']);
    const rest = await client.get(`/user/api-keys?limit=2&cursor=${first.body.next_cursor}`);
    expect(namesOf(rest)).toEqual(['test']);
    expect(rest.body).toMatchObject({ total: 3, next_cursor: null });
    expect(namesOf(await client.get('/user/api-keys?offset=1&limit=1'))).toEqual(['One']);
    expect(namesOf(await client.get('/user/api-keys?status=archived'))).toEqual(['Two']);
    expect(namesOf(await client.get('/user/api-keys?search=thR'))).toEqual(['Three']);
    expect((await client.get('/user/api-keys?status=lost')).body.detail[0].loc).toEqual(['query', 'status']);
  });

  test("shows nothing of another organization's", async () => {
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    await other.post('/user/api-keys', { name: 'Theirs' });
    expect(JSON.stringify((await client.get('/user/api-keys')).body)).not.toContain('Theirs');
  });
});

describe('archiving a key', () => {
  test('ends it at once in this isolate; reactivating brings it back', async () => {
    const { client } = await newOrganization();
    const minted = (await client.post('/user/api-keys', { name: 'Shop' })).body;
    const keyed = new Client(minted.api_key);
    expect((await keyed.get('/contacts')).status).toBe(200);
    const archived = await client.delete(`/user/api-keys/${minted.id}`);
    expect(archived).toMatchObject({ status: 200, body: { id: minted.id, status: 'archived', archived_at: timestamp } });
    expect(archived.body).not.toHaveProperty('api_key');
    expect(await keyed.get('/contacts')).toMatchObject({ status: 401, body: { detail: expect.stringContaining('revoked') } });
    expect((await client.delete(`/user/api-keys/${minted.id}`)).body.archived_at).toBe(archived.body.archived_at);
    const back = await client.put(`/user/api-keys/${minted.id}/reactivate`);
    expect(back).toMatchObject({ status: 200, body: { status: 'active', archived_at: null } });
    expect((await keyed.get('/contacts')).status).toBe(200);
  });

  test('ends it within five seconds where another isolate archived it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { client, id, key } = await newOrganization();
    expect((await client.get('/contacts')).status).toBe(200);
    await env.DB.prepare('UPDATE api_key SET archived_at = ? WHERE organization_id = ?').bind(Date.now(), id).run();
    vi.setSystemTime(Date.now() + 5000);
    expect((await new Client(key).get('/contacts')).status).toBe(401);
  });

  test('of an organization leaves the sessions of its users alone', async () => {
    const { token } = await newMember();
    const session = asBearer(token);
    const minted = (await session.post('/user/api-keys', { name: 'Shop' })).body;
    await session.delete(`/user/api-keys/${minted.id}`);
    expect((await session.get('/contacts')).status).toBe(200);
  });

  test("another organization's key is 404, as one that does not exist, and goes on working", async () => {
    const { client } = await newOrganization();
    const { client: other } = await newOrganization();
    const theirs = (await other.post('/user/api-keys', { name: 'Theirs' })).body;
    for (const id of [theirs.id, 2 ** 50]) {
      expect(await client.delete(`/user/api-keys/${id}`)).toMatchObject({ status: 404, body: { detail: 'API key not found' } });
      expect(await client.put(`/user/api-keys/${id}/reactivate`)).toMatchObject({ status: 404, body: { detail: 'API key not found' } });
    }
    expect((await new Client(theirs.api_key).get('/contacts')).status).toBe(200);
  });
});

describe('a key with an end', () => {
  test('stops at that moment, cached or not, and says so', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { client } = await newOrganization();
    const endsAt = Date.now() + 2000;
    const minted = (await client.post('/user/api-keys', { name: 'Short', expires_at: new Date(endsAt).toISOString() })).body;
    const keyed = new Client(minted.api_key);
    vi.setSystemTime(endsAt - 1);
    expect((await keyed.get('/contacts')).status).toBe(200);
    vi.setSystemTime(endsAt);
    expect(await keyed.get('/contacts')).toMatchObject({ status: 401, body: { detail: expect.stringContaining('expired') } });
    const listed = (await client.get('/user/api-keys')).body.api_keys;
    expect(listed.find((key: { id: number }) => key.id === minted.id)).toMatchObject({ status: 'expired' });
  });
});

const isOfKeys = (sql: string) => sql.includes('"api_key"');

describe('the queries of authentication', () => {
  test('is one indexed read for a key, and none for five seconds after', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { key } = await newOrganization();
    const { client, recording } = recordedClient(key);
    const startedAt = Date.now();
    await client.get('/no-such-path');
    expect(recording.statements).toHaveLength(1);
    expect(recording.calls).toBe(1);
    expect(isOfKeys(recording.statements[0]!.sql)).toBe(true);
    const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${recording.statements[0]!.sql}`)
      .bind(...recording.statements[0]!.parameters)
      .all<{ detail: string }>();
    expect(results.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/USING INDEX api_key_hash/),
      expect.stringMatching(/PRIMARY KEY/),
      expect.stringMatching(/membership.*LEFT-JOIN/),
    ]);
    for (const later of [1, 4999]) {
      vi.setSystemTime(startedAt + later);
      await client.get('/no-such-path');
    }
    expect(recording.calls).toBe(1);
    vi.setSystemTime(startedAt + 5000);
    await client.get('/no-such-path');
    expect(recording.calls).toBe(2);
    expect(rowsRead(recording)).toBeLessThanOrEqual(4);
  });

  test('is one read a request for an unknown key', async () => {
    const { client, recording } = recordedClient('vaa_unknown');
    await client.get('/contacts');
    await client.get('/contacts');
    expect(recording.calls).toBe(2);
  });

  test('does not last longer when the clock is set back', async () => {
    const { key } = await newOrganization();
    const now = Date.now();
    await authenticateKey(env, key, now);
    await env.DB.prepare('UPDATE api_key SET archived_at = 1 WHERE key_hash = ?').bind(sha256Hex(key)).run();
    await expect(authenticateKey(env, key, now - 60_000)).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('is tried again when the database drops it for a moment', async () => {
    const { key } = await newOrganization();
    let drops = 1;
    const { client } = recordedClient(key, {
      beforeCall: async (sql) => {
        if (sql.some(isOfKeys) && drops-- > 0) throw new Error('D1_ERROR: Network connection lost.');
      },
    });
    expect((await client.get('/contacts')).status).toBe(200);
  });
});

describe('scopes', () => {
  test('a key that reads lists and searches, and changes nothing', async () => {
    const { client } = await newOrganization({ scopes: ['read'] });
    for (const path of ['/contacts', '/events', '/organizations/current', '/auth/me', '/user/api-keys'])
      expect((await client.get(path)).status).toBe(200);
    for (const answer of [
      await client.post('/contacts', { email: 'x@example.com' }),
      await client.put('/contacts/1', { email: 'x@example.com' }),
      await client.delete('/contacts/1'),
      await client.post('/events', { event_type: 'x' }),
      await client.post('/automation-workflows', {}),
    ])
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringMatching(/^insufficient_scope: .*"write"/) } });
    expect((await client.get('/contacts')).body.total).toBe(0);
  });

  test('a key that writes does everything but keys and the organization', async () => {
    const { client } = await newOrganization({ scopes: ['write'] });
    expect((await client.get('/contacts')).status).toBe(200);
    expect((await client.post('/contacts', { email: 'x@example.com' })).status).toBe(201);
    expect((await client.get('/organizations/current')).status).toBe(200);
    for (const answer of [
      await client.get('/user/api-keys'),
      await client.get('/user/api-keys/'),
      await client.post('/user/api-keys', { name: 'more', scopes: ['admin'] }),
      await client.delete('/user/api-keys/1'),
      await client.put('/user/api-keys/1/reactivate'),
      await client.patch('/organizations/current', { name: 'Mine now' }),
      await client.patch('/organizations/current/', { name: 'Mine now' }),
    ])
      expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringMatching(/^insufficient_scope: .*"admin"/) } });
    expect((await client.get('/organizations/current')).body.name).toBe('Test organization');
  });

  test('a spelling of a path is no way around a scope', async () => {
    const { client } = await newOrganization({ scopes: ['write'] });
    for (const path of [
      '/user/api%2Dkeys',
      '/user/%61pi-keys',
      '/user//api-keys',
      '//user/api-keys',
      '/contacts/../user/api-keys',
      '/USER/API-KEYS',
    ])
      expect([403, 404]).toContain((await client.post(path, { name: 'more', scopes: ['admin'] })).status);
    expect([403, 404]).toContain((await client.patch('/organizations/%63urrent', { name: 'Mine now' })).status);
    expect((await client.get('/organizations/current')).body.name).toBe('Test organization');
  });

  test('a missing scope is reported before any fault of the body', async () => {
    const { client } = await newOrganization({ scopes: ['read'] });
    expect((await client.post('/contacts', '{"phone": ')).status).toBe(403);
  });

  test.each([
    [['read'], 'POST', '/api/v1/knowledge-base/search', null],
    [['read'], 'POST', '/api/v1/knowledge-base/search/', null],
    [['read'], 'POST', '/api/v1/campaign/preview', null],
    [['read'], 'POST', '/api/v1/campaign/create', 'write'],
    [['write'], 'PATCH', '/api/v1/organizations/current/', 'admin'],
    [['read'], 'HEAD', '/api/v1/contacts', null],
    [['read'], 'POST', '/api/v1/contacts/knowledge-base/search', 'write'],
    [['write'], 'GET', '/api/v1/user/api-keys', 'admin'],
    [['write'], 'PATCH', '/api/v1/organizations/current', 'admin'],
    [['read', 'write'], 'GET', '/api/v1/user/api-keys', null],
    [['read', 'write'], 'POST', '/api/v1/user/api-keys', 'admin'],
    [['read', 'admin'], 'POST', '/api/v1/user/api-keys', null],
    [[], 'GET', '/api/v1/contacts', 'read'],
  ] as const)('%j may %s %s, or lacks %s', (scopes, method, path, missing) => {
    const call = () => requireScope([...scopes], method, path);
    if (missing) expect(call).toThrow(new RegExp(`the scope .*"${missing}"`));
    else expect(call).not.toThrow();
  });
});
