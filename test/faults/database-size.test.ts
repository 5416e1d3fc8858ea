import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test } from 'vitest';
import { checkDatabaseSize } from '../../src/cron/tick.ts';
import { Database } from '../../src/database/client.ts';
import { isFullAt } from '../../src/database/database-size.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { newPerson } from '../support/people.ts';
import { tickAt } from '../support/background.ts';
import { anonymous, linesLoggedBy, newEmail, newMember, newUser, password, serviceWith, signUp } from '../http/service.ts';

const measured = async () =>
  (await env.DB.prepare("SELECT value FROM progress WHERE name = 'database_bytes'").first<{ value: number }>())?.value ?? 0;
const measure = (bytes: number) =>
  env.DB.prepare("INSERT OR REPLACE INTO progress (name, value) VALUES ('database_bytes', ?)").bind(bytes).run();

const gigabyte = 1_000_000_000;
const nearlyFull = 6 * gigabyte;

// Other tests make organizations in this database.
afterEach(() => measure(0));

test('the minute tick measures the database as D1 tells it', async () => {
  await tickAt(Date.now());
  const { meta } = await env.DB.prepare('SELECT 1').all();
  expect(await measured()).toBeGreaterThan(100_000);
  expect(Math.abs((await measured()) - meta.size_after)).toBeLessThan(meta.size_after / 2);
});

test('a database is full from 60 % of its limit on', () => {
  expect(isFullAt(nearlyFull - 1, 10_000)).toBe(false);
  expect(isFullAt(nearlyFull, 10_000)).toBe(true);
  expect(isFullAt(300_000_000, 500)).toBe(true);
});

describe('the log', () => {
  const hour = 3_600_000;
  const minute = 60_000;

  /** How often it warns when a database that has `before` bytes is measured. */
  async function warnings(before: number, limitMegabytes: number, now: number): Promise<number> {
    await measure(before);
    const log = new Logger('warn', {});
    const written = await linesLoggedBy(() => checkDatabaseSize(new Database(env.DB, true), 'DB', limitMegabytes, now, log));
    const lines = written.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const line of lines)
      expect(line).toMatchObject({ database: 'DB', limit_bytes: limitMegabytes * 1_000_000, bytes: await measured() });
    return lines.length;
  }

  test('warns when a database becomes full, and every hour while it is', async () => {
    expect(await warnings(0, 0.1, 5 * minute)).toBe(1);
    expect(await warnings(nearlyFull, 0.1, 6 * minute)).toBe(0);
    expect(await warnings(nearlyFull, 0.1, hour)).toBe(1);
  });

  test('does not warn of a database that has room', async () => {
    expect(await warnings(0, 10_000, hour)).toBe(0);
  });
});

describe('in a full database', () => {
  test('no organization is made, and the error has a name', async () => {
    await measure(nearlyFull);
    const { token } = await newUser();
    const refused = await anonymous.post('/auth/organizations', { name: 'One too many' }, { Authorization: `Bearer ${token}` });
    expect(refused.status).toBe(409);
    expect(refused.body).toEqual({ detail: 'database_full', message: expect.stringContaining('no new organizations') });
    const email = newEmail();
    const signedUp = await anonymous.post('/auth/signup', { email, password, organization_name: 'One too many' });
    expect([signedUp.status, signedUp.body.detail]).toEqual([409, 'database_full']);
    expect(await env.DB.prepare('SELECT 1 FROM user WHERE email = ?').bind(email).first()).toBeNull();
    expect(await env.DB.prepare("SELECT 1 FROM organization WHERE name = 'One too many'").first()).toBeNull();
  });

  test('existing organizations work on, and people sign up without an organization', async () => {
    const { client } = await newOrganization();
    await measure(nearlyFull);
    expect((await client.post('/events', { event_type: 'seen' })).status).toBe(201);
    expect((await signUp()).status).toBe(200);
    await measure(nearlyFull - 1);
    const { token } = await newUser();
    expect((await anonymous.post('/auth/organizations', { name: 'There is room' }, { Authorization: `Bearer ${token}` })).status).toBe(200);
  });
});

describe('GET /health', () => {
  test('tells an admin how full each database is', async () => {
    const { client } = await newOrganization({ scopes: ['admin'] });
    await measure(nearlyFull);
    const full = { name: 'DB', size_bytes: nearlyFull, limit_bytes: 10 * gigabyte, is_full: true };
    expect((await client.get('/health')).body).toMatchObject({ status: 'ok', databases: [full] });
    const { token } = await newMember();
    expect((await anonymous.get('/health', { Authorization: `Bearer ${token}` })).body.databases).toEqual([full]);
    await measure(nearlyFull - 1);
    expect((await client.get('/health')).body.databases).toEqual([{ ...full, size_bytes: nearlyFull - 1, is_full: false }]);
  });

  test('tells nobody else', async () => {
    const { id, client } = await newOrganization({ scopes: ['read', 'operate', 'write'] });
    const { token } = await newUser();
    const operator = await newPerson(id, 'operator');
    const answers = await Promise.all([
      client.get('/health'),
      operator.client.get('/health'),
      // Somebody without an organization is nobody's admin.
      anonymous.get('/health', { Authorization: `Bearer ${token}` }),
      anonymous.get('/health'),
      new Client('vaa_unknown').get('/health'),
      anonymous.get('/health', { Authorization: 'Bearer vaa_misplaced' }),
      anonymous.get('/health', { Authorization: 'Bearer vas_unknown' }),
    ]);
    for (const { status, body } of answers)
      expect([status, body.status, Object.keys(body).includes('databases')]).toEqual([200, 'ok', false]);
  });

  test('knows the limit of a smaller database', async () => {
    const { key } = await newOrganization({ scopes: ['admin'] });
    await measure(300_000_000);
    const { body } = await new Client(key, serviceWith({ DATABASE_LIMIT_MEGABYTES: '500' })).get('/health');
    expect(body.databases).toEqual([{ name: 'DB', size_bytes: 300_000_000, limit_bytes: 500_000_000, is_full: true }]);
  });
});
