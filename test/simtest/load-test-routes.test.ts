import { isDeepStrictEqual } from 'node:util';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { findOverdueLoadTests } from '../../src/simtest/load-tests/store.ts';
import { shard } from '../../src/database/shards.ts';
import { tickAt } from '../support/background.ts';
import { Client } from '../support/organization.ts';
import { recordedClient } from '../support/recorded-database.ts';
import { newAgent, scripted, simpleAgent } from './sessions.ts';
import { sessionIn, startedLoadTest, statisticsIn, testingOrganization } from './simtest-service.ts';

afterEach(() => vi.restoreAllMocks());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
/** They talk until they are stopped. */
const endless = { max_turns: 100, turn_delay_ms: 60_000 };

const countsOf = ({ pending, running, completed, failed, stopped }: Record<string, number>) =>
  pending! + running! + completed! + failed! + stopped!;

describe('a load test', () => {
  test('runs all its sessions, no more at a time than asked, and its counts are those of its sessions at every moment', async () => {
    scripted();
    const testing = await testingOrganization();
    const { client, pairing } = testing;
    const started = await startedLoadTest(testing, { test_count: 12, concurrency: 3, config: { max_turns: 4 } });
    const id = started.load_test_group_id;
    const seen: number[][] = [];
    const wrong: object[] = [];
    expect(started).toEqual({
      load_test_group_id: expect.any(Number),
      test_session_ids: expect.any(Array),
      total: 12,
      status: 'running',
      warnings: [],
    });
    expect(new Set(started.test_session_ids).size).toBe(12);
    await vi.waitFor(
      async () => {
        const { body } = await client.get(`/simtest/load-tests/${id}/stats`);
        const counted = { pending: 0, running: 0, completed: 0, failed: 0, stopped: 0 };
        for (const { status } of body.sessions) counted[status as keyof typeof counted] += 1;
        seen.push([body.running, (await client.get('/simtest/active-tests')).body.count]);
        wrong.push(...(countsOf(body) === 12 && isDeepStrictEqual(body, { ...body, ...counted }) ? [] : [body]));
        expect(body.status).toBe('completed');
      },
      { timeout: 20_000, interval: 5 },
    );
    expect(wrong).toEqual([]);
    expect(Math.max(...seen.flat())).toBeLessThanOrEqual(3);
    const statistics = await statisticsIn(client, id, 'completed');
    expect(statistics).toMatchObject({ load_test_group_id: id, total: 12, completed: 12, passed: 12, pass_rate: 1, errors: [] });
    expect(statistics.achieved_concurrency_max).toBe(3);
    expect(statistics.achieved_concurrency_average).toBeGreaterThan(1);
    for (const { p50, p95, p99 } of [statistics.duration_seconds, statistics.turn_latency_ms]) {
      expect(p50).toEqual(expect.any(Number));
      expect(p95).toBeGreaterThanOrEqual(p50);
      expect(p99).toBeGreaterThanOrEqual(p95);
    }
    expect(statistics.sessions).toEqual(
      started.test_session_ids.map((session: number, index: number) => ({
        id: session,
        test_session_id: session,
        test_index: index,
        name: `Load #${index + 1}`,
        status: 'completed',
        outcome: 'passed',
        stop_reason: 'max_turns',
        turns: 4,
        duration_seconds: expect.any(Number),
        error: null,
      })),
    );
    const record = (await client.get(`/simtest/test-sessions/${started.test_session_ids[7]}`)).body;
    expect(record).toMatchObject({
      ...pairing,
      load_test_group_id: id,
      test_index: 7,
      config: { max_turns: 4, max_duration_seconds: 300 },
    });
  });

  test('fails sessions whose model refuses requests, and leaves them out of the pass rate', async () => {
    let refused = 0;
    scripted({
      actor: (_body, turn) => (turn === 0 && refused++ < 2 ? Response.json({ error: { message: 'No' } }, { status: 400 }) : 'Yes.'),
    });
    const testing = await testingOrganization();
    const checks = [{ name: 'says no', type: 'contains', value: 'no' }];
    const { load_test_group_id: id } = await startedLoadTest(testing, { test_count: 4, concurrency: 1, config: { max_turns: 2, checks } });
    const statistics = await statisticsIn(testing.client, id, 'completed');
    expect(statistics.failed).toBeGreaterThan(0);
    expect(statistics).toMatchObject({ completed: 4 - statistics.failed, passed: 0, pass_rate: 0 });
    expect(statistics.errors).toEqual([{ error: expect.any(String), count: statistics.failed }]);
    expect(statistics.sessions.filter(({ outcome }: { outcome: string }) => outcome === 'error')).toHaveLength(statistics.failed);
  });

  test('lets a session be stopped alone, and goes on with the others', async () => {
    scripted();
    const testing = await testingOrganization();
    const started = await startedLoadTest(testing, { test_count: 2, concurrency: 1, config: endless });
    const [first, second] = started.test_session_ids;
    await sessionIn(testing.client, first, 'running');
    await testing.client.post(`/simtest/test-sessions/${first}/stop`);
    await sessionIn(testing.client, second, 'running');
    await testing.client.post(`/simtest/test-sessions/${second}/stop`);
    expect(await statisticsIn(testing.client, started.load_test_group_id, 'completed')).toMatchObject({
      stopped: 2,
      completed: 0,
      pass_rate: null,
    });
  });

  test('ends those whose agent is archived meanwhile as failed', async () => {
    scripted();
    const testing = await testingOrganization();
    const started = await startedLoadTest(testing, { test_count: 3, concurrency: 1, config: endless });
    await sessionIn(testing.client, started.test_session_ids[0], 'running');
    await testing.client.put(`/workflow/${testing.actor}/status`, { status: 'archived' });
    await testing.client.post(`/simtest/test-sessions/${started.test_session_ids[0]}/stop`);
    const statistics = await statisticsIn(testing.client, started.load_test_group_id, 'completed');
    expect(statistics).toMatchObject({ stopped: 1, failed: 2, errors: [{ error: expect.stringMatching(/^agent_archived: /), count: 2 }] });
  });

  test('that did not begin with its creation is shown as waiting, and begun by the minute tick', async () => {
    scripted();
    const testing = await testingOrganization();
    const broken = { getByName: () => ({ begin: async () => Promise.reject(new Error('the object is out of reach')) }) };
    const { client: crashing } = recordedClient(testing.key, { bindings: { LOAD_TEST: broken as unknown as Env['LOAD_TEST'] } });
    const started = await startedLoadTest({ ...testing, client: crashing });
    const id = started.load_test_group_id;
    const before = (await testing.client.get(`/simtest/load-tests/${id}/stats`)).body;
    expect(before).toMatchObject({ status: 'running', total: 3, pending: 3, achieved_concurrency_max: 0 });
    expect(before.sessions.map(({ status }: { status: string }) => status)).toEqual(['pending', 'pending', 'pending']);
    const late = Date.now() + 600_000;
    expect((await findOverdueLoadTests(shard(env, 0), late - 120_000, 500)).map((one) => one.id)).toContain(id);
    await tickAt(late);
    await statisticsIn(testing.client, id, 'completed');
  });
});

describe('create', () => {
  test.each([
    ['test_count', { test_count: 0 }],
    ['test_count', { test_count: 1001 }],
    ['test_count', { test_count: 1.5 }],
    ['test_count', { test_count: undefined }],
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: 101 }],
    ['ramp_seconds', { ramp_seconds: -1 }],
    ['ramp_seconds', { ramp_seconds: 3601 }],
  ])('refuses a wrong %s and names it (%#)', async (field, wrong) => {
    const { client, pairing } = await testingOrganization();
    const answer = await client.post('/simtest/load-tests', { name: 'Load', ...pairing, test_count: 2, config: {}, ...wrong });
    expect(answer.status).toBe(422);
    expect(answer.body.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual([['body', field]]);
    expect((await client.get('/simtest/load-tests')).body.total).toBe(0);
  });

  test('refuses an agent that is archived, that is not there, or that is of another organization', async () => {
    const testing = await testingOrganization();
    const other = await testingOrganization();
    const archived = await newAgent(testing.id, { definition: simpleAgent('You are.'), status: 'archived' });
    const create = (wrong: object) =>
      testing.client.post('/simtest/load-tests', { name: 'Load', ...testing.pairing, test_count: 2, config: {}, ...wrong });
    const refused = await create({ actor_workflow_id: archived });
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining(`${archived} is archived`)]);
    expect((await create({ adversary_workflow_id: other.adversary })).status).toBe(404);
    expect((await create({ actor_workflow_id: 999_999_999 })).status).toBe(404);
    expect((await testing.client.get('/simtest/test-sessions')).body.total).toBe(0);
  });

  test('takes one test and a thousand', async () => {
    scripted();
    const testing = await testingOrganization();
    await startedLoadTest(testing, { test_count: 1, config: endless });
    const { load_test_group_id: id, test_session_ids } = await startedLoadTest(testing, {
      test_count: 1000,
      concurrency: 1,
      config: endless,
    });
    expect(test_session_ids).toEqual(Array.from({ length: 1000 }, (_, index) => test_session_ids[0] + index));
    const statistics = (await testing.client.get(`/simtest/load-tests/${id}/stats`)).body;
    expect(statistics.total).toBe(1000);
    expect(countsOf(statistics)).toBe(1000);
    expect(statistics.sessions.map((session: { id: number }) => session.id)).toEqual(test_session_ids);
    for (const { load_test_group_id } of (await testing.client.get('/simtest/load-tests')).body.load_tests)
      expect((await testing.client.post(`/simtest/load-tests/${load_test_group_id}/stop`)).status).toBe(200);
  });
});

describe('stop', () => {
  test('ends all sessions, begun or not, and answers the statistics', async () => {
    scripted();
    const testing = await testingOrganization();
    const { client } = testing;
    const started = await startedLoadTest(testing, { test_count: 6, concurrency: 2, config: endless });
    const id = started.load_test_group_id;
    for (const session of started.test_session_ids.slice(0, 2)) await sessionIn(client, session, 'running');
    const stopped = await client.post(`/simtest/load-tests/${id}/stop`);
    expect(stopped.status, JSON.stringify(stopped.body)).toBe(200);
    expect(stopped.body).toMatchObject({ load_test_group_id: id, status: 'stopped', total: 6, pending: 0 });
    expect(countsOf(stopped.body)).toBe(6);
    const statistics = await statisticsIn(client, id, 'stopped');
    expect(statistics).toMatchObject({ stopped: 6, completed: 0, pass_rate: null });
    expect((await client.get(`/simtest/test-sessions?load_test_group_id=${id}&status=stopped`)).body.total).toBe(6);
    expect((await client.get('/simtest/active-tests')).body.count).toBe(0);
    const again = await client.post(`/simtest/load-tests/${id}/stop`);
    expect([again.status, again.body.detail]).toEqual([409, expect.stringMatching(/stopped.*running/)]);
  });

  test('is refused when the load test has ended', async () => {
    scripted();
    const testing = await testingOrganization();
    const { load_test_group_id: id } = await startedLoadTest(testing, { test_count: 1 });
    await statisticsIn(testing.client, id, 'completed');
    const late = await testing.client.post(`/simtest/load-tests/${id}/stop`);
    expect([late.status, late.body.detail]).toEqual([409, expect.stringMatching(/completed.*running/)]);
  });
});

test('the list is newest first, in pages and by name', async () => {
  scripted();
  const testing = await testingOrganization();
  const { client, pairing } = testing;
  const ids: number[] = [];
  for (const name of ['Spring', 'Autumn', 'spring again']) {
    const { load_test_group_id: id } = await startedLoadTest(testing, { name, test_count: 1 });
    await statisticsIn(client, id, 'completed');
    ids.push(id);
  }
  const list = async (query: string) => (await client.get(`/simtest/load-tests?${query}`)).body;
  expect((await list('')).load_tests[2]).toEqual({
    load_test_group_id: ids[0],
    name: 'Spring',
    status: 'completed',
    ...pairing,
    total: 1,
    concurrency: 10,
    ramp_seconds: 0,
    warnings: [],
    config: expect.objectContaining({ max_turns: 2 }),
    created_at: timestamp,
    completed_at: timestamp,
  });
  const idsOf = ({ load_tests }: { load_tests: { load_test_group_id: number }[] }) => load_tests.map((one) => one.load_test_group_id);
  const first = await list('limit=2');
  expect([idsOf(first), first.total]).toEqual([[ids[2], ids[1]], 3]);
  expect(idsOf(await list(`limit=2&cursor=${first.next_cursor}`))).toEqual([ids[0]]);
  expect(idsOf(await list('search=SPRING'))).toEqual([ids[2], ids[0]]);
  expect((await client.get('/simtest/load-tests?limit=0')).status).toBe(422);
});

describe('strangers', () => {
  test('another organization finds no load test, and stops none', async () => {
    scripted();
    const testing = await testingOrganization();
    const other = await testingOrganization();
    const { load_test_group_id: id } = await startedLoadTest(testing, { config: endless });
    for (const answer of [
      await other.client.get(`/simtest/load-tests/${id}/stats`),
      await other.client.post(`/simtest/load-tests/${id}/stop`),
    ])
      expect([answer.status, answer.body]).toEqual([404, { detail: 'Load test not found' }]);
    expect((await other.client.get('/simtest/load-tests/x/stats')).status).toBe(422);
    expect((await other.client.get('/simtest/load-tests')).body.total).toBe(0);
    expect((await other.client.get(`/simtest/test-sessions?load_test_group_id=${id}`)).body.total).toBe(0);
    expect((await testing.client.get(`/simtest/load-tests/${id}/stats`)).body.status).toBe('running');
    expect((await testing.client.post(`/simtest/load-tests/${id}/stop`)).status).toBe(200);
  });

  test('nobody gets in without a key, and a key that reads starts and stops nothing', async () => {
    const anonymous = new Client(undefined);
    const reader = await testingOrganization({ scopes: ['read'] });
    const body = { name: 'Load', ...reader.pairing, test_count: 1, config: {} };
    for (const [client, forbidden, read] of [
      [anonymous, 401, 401],
      [reader.client, 403, 200],
    ] as const) {
      expect((await client.post('/simtest/load-tests', body)).status).toBe(forbidden);
      expect((await client.post('/simtest/load-tests/1/stop')).status).toBe(forbidden);
      expect((await client.get('/simtest/load-tests')).status).toBe(read);
      expect((await client.get('/simtest/load-tests/999999999/stats')).status).toBe(read === 401 ? 401 : 404);
    }
  });
});
