import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { enforceRateLimit as enforce } from '../../src/http/middleware/rate-limit.ts';
import { Logger } from '../../src/library/platform/log.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { linesLoggedBy, newMember, serviceWith } from './service.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

/** A limiter like the platform's, which counts the requests of all isolates. */
function limiterOf(limit: number) {
  let count = 0;
  return { limiter: { limit: async () => ({ success: ++count <= limit }) }, calls: () => count };
}

const log = new Logger('error');
const enforceRateLimit = (bindings: Env, limit: number, credential: string, now: number, logger: Logger) =>
  enforce(bindings, limit, credential, null, now, logger);
const statusesOf = async (client: Client, count: number) => {
  const statuses = [];
  for (let sent = 0; sent < count; sent++) statuses.push((await client.get('/no-such-path')).status);
  return statuses;
};

describe('the rate limit', () => {
  test('lets the requests of the variable through in 10 s, then says how long to wait', async () => {
    const { key } = await newOrganization();
    const client = new Client(key, serviceWith({ RATE_LIMIT_REQUESTS: '3' }));
    const start = Date.now();
    expect(await statusesOf(client, 3)).toEqual([404, 404, 404]);
    vi.setSystemTime(start + 3500);
    const refused = await client.get('/contacts');
    expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('More than 3 requests in 10 seconds') } });
    expect(refused.headers.get('retry-after')).toBe('7');
    expect(refused.headers.get('x-request-id')).toBeTruthy();
    vi.setSystemTime(start + 9999);
    expect((await client.get('/contacts')).headers.get('retry-after')).toBe('1');
    vi.setSystemTime(start + 10_000);
    expect(await statusesOf(client, 4)).toEqual([404, 404, 404, 429]);
  });

  test('is 600 by default', async () => {
    const { key } = await newOrganization();
    const client = new Client(key, serviceWith({ RATE_LIMIT_REQUESTS: undefined, RATE_LIMITER: undefined }));
    const statuses = await statusesOf(client, 601);
    expect(statuses.filter((status) => status === 404)).toHaveLength(600);
    expect(statuses.at(-1)).toBe(429);
  });

  test('is counted for each key and each session alone', async () => {
    const { organizationId, token } = await newMember();
    const send = serviceWith({ RATE_LIMIT_REQUESTS: '2' });
    const { key } = await newOrganization();
    const { key: other } = await newOrganization();
    expect(await statusesOf(new Client(key, send), 3)).toEqual([404, 404, 429]);
    expect(await statusesOf(new Client(other, send), 2)).toEqual([404, 404]);
    const session = new Client(undefined, send);
    const bySession = async () => (await session.get('/organizations/current', { Authorization: `Bearer ${token}` })).status;
    expect([await bySession(), await bySession(), await bySession()]).toEqual([200, 200, 429]);
    expect(organizationId).toBeGreaterThan(0);
  });

  test('counts what is refused for its scope or its body', async () => {
    const { key } = await newOrganization({ scopes: ['read'] });
    const client = new Client(key, serviceWith({ RATE_LIMIT_REQUESTS: '2' }));
    const statuses = [];
    for (let sent = 0; sent < 3; sent++) statuses.push((await client.post('/contacts', '{"mal')).status);
    expect(statuses).toEqual([403, 403, 429]);
  });

  test('does nothing of what it refuses', async () => {
    const { key, client: unlimited } = await newOrganization();
    const client = new Client(key, serviceWith({ RATE_LIMIT_REQUESTS: '1' }));
    const answers = [
      await client.post('/contacts', { email: 'a@example.com' }),
      await client.post('/contacts', { email: 'b@example.com' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 429]);
    expect((await unlimited.get('/contacts')).body.total).toBe(1);
  });
});

describe('the binding behind it', () => {
  test('is asked once in ten requests at 600, and refuses what other isolates have used up', async () => {
    const { limiter, calls } = limiterOf(2);
    const bindings = { ...env, RATE_LIMITER: limiter } as Env;
    const passed = [];
    for (let sent = 0; sent < 29; sent++) passed.push(await enforceRateLimit(bindings, 600, 'key:binding', Date.now(), log));
    expect(passed).toHaveLength(29);
    expect(calls()).toBe(2);
    await expect(enforceRateLimit(bindings, 600, 'key:binding', Date.now(), log)).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 10,
    });
  });

  test('never refuses before the variable does: raising the variable alone raises the limit', async () => {
    for (const limit of [1, 7, 60, 61, 600, 601, 5000]) {
      const { limiter } = limiterOf(60);
      const bindings = { ...env, RATE_LIMITER: limiter } as Env;
      for (let sent = 0; sent < limit; sent++) await enforceRateLimit(bindings, limit, `key:raised-${limit}`, Date.now(), log);
      await expect(enforceRateLimit(bindings, limit, `key:raised-${limit}`, Date.now(), log)).rejects.toMatchObject({
        code: 'rate_limited',
      });
    }
  });

  test('that fails or is not there lets requests pass', async () => {
    const failing = { ...env, RATE_LIMITER: { limit: () => Promise.reject(new Error('no limiter')) } } as unknown as Env;
    const lines = await linesLoggedBy(() => enforceRateLimit(failing, 1, 'key:failing', Date.now(), log));
    expect(lines.join()).toContain('no limiter');
    await enforceRateLimit({} as Env, 1, 'key:absent', Date.now(), log);
  });
});

test('a clock that is set back begins a new window', async () => {
  const now = Date.now();
  await enforceRateLimit({} as Env, 1, 'key:clock', now, log);
  await enforceRateLimit({} as Env, 1, 'key:clock', now - 60_000, log);
  await expect(enforceRateLimit({} as Env, 1, 'key:clock', now - 60_000, log)).rejects.toMatchObject({ retryAfterSeconds: 10 });
});
