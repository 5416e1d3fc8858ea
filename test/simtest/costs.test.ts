import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { Database } from '../../src/database/client.ts';
import { endSilentSessions, readLoadTestFacts, stopPendingSessions } from '../../src/simtest/load-tests/object-store.ts';
import { findOverdueLoadTests } from '../../src/simtest/load-tests/store.ts';
import { findOverdueSessions } from '../../src/simtest/sessions/store.ts';
import {
  explainQueryPlans,
  recordedClient,
  recordedDatabase,
  rowsRead,
  rowsWritten,
  type Recording,
} from '../support/recorded-database.ts';
import { countWrites } from '../support/count-writes.ts';
import { end, inside, leaveAlone, monday, newLoadTest, settle, standAt } from './load-tests.ts';
import { newTestSession, startedLoadTest, testingOrganization } from './simtest-service.ts';

/** Copies of a session and of a load test in another organization's name. */
const multiply = (organizationId: number, session: number, loadTest: number, count: number) => {
  const numbers = '(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) SELECT i FROM n)';
  return env.DB.batch([
    env.DB.prepare(
      `INSERT INTO test_session (organization_id, name, status, actor_agent_id, adversary_agent_id, config, created_at)
       SELECT ?1, name, 'running', actor_agent_id, adversary_agent_id, config, created_at FROM test_session CROSS JOIN ${numbers} WHERE id = ?3`,
    ).bind(organizationId, count, session),
    env.DB.prepare(
      `INSERT INTO load_test (organization_id, name, status, actor_agent_id, adversary_agent_id, test_count, concurrency, ramp_seconds, config, created_at)
       SELECT ?1, name, status, actor_agent_id, adversary_agent_id, test_count, concurrency, ramp_seconds, config, created_at
       FROM load_test CROSS JOIN ${numbers} WHERE id = ?3`,
    ).bind(organizationId, count, loadTest),
  ]);
};

/** Load tests are created and never begin. */
const neverBegin = {
  LOAD_TEST: { getByName: () => ({ begin: async () => {}, statistics: async () => null }) } as unknown as Env['LOAD_TEST'],
};

test('no call reads more because other organizations test, and none goes without an index', async () => {
  const testing = await testingOrganization();
  const { id: session } = await newTestSession(testing);
  const { client: creating } = recordedClient(testing.key, { bindings: neverBegin });
  const { load_test_group_id: load } = await startedLoadTest({ ...testing, client: creating }, { test_count: 5 });
  await leaveAlone(load);
  const look = async () => {
    const { client, recording } = recordedClient(testing.key);
    for (const query of [
      '',
      'status=pending',
      'status=running&search=talk',
      `load_test_group_id=${load}`,
      `load_test_group_id=${load}&status=pending`,
    ])
      await client.get(`/simtest/test-sessions?${query}`);
    await client.get(`/simtest/test-sessions/${session}`);
    await client.get(`/simtest/test-sessions/${session}/conversation`);
    await client.get('/simtest/active-tests');
    await client.get('/simtest/load-tests?search=load');
    await client.get(`/simtest/load-tests/${load}/stats`);
    const database = new Database(recordedDatabase(env.DB, recording), true);
    await readLoadTestFacts(database, testing.id, load);
    await endSilentSessions(database, testing.id, load, [1, 2], 0);
    await stopPendingSessions(database, testing.id, load, 0);
    await findOverdueSessions(database, 1000, 500);
    await findOverdueLoadTests(database, 1000, 500);
    return recording;
  };
  await look();
  const before: Recording = await look();
  const other = await testingOrganization();
  await multiply(other.id, session, load, 5000);
  const after = await look();
  // A stretch of an index may end at another organization's entry, which is looked at.
  expect(rowsRead(after)).toBeLessThanOrEqual(rowsRead(before) + 10);
  for (const { sql, plan } of await explainQueryPlans(after))
    expect([sql, plan.filter((step) => /^SCAN (test_session|load_test|voice_agent|s|l|a)\b/.test(step))]).toEqual([sql, []]);
});

test('a session is created in three calls to D1, and a load test too, however many sessions it has', async () => {
  const testing = await testingOrganization();
  const created = async (path: string, more: object) => {
    const { client, recording } = recordedClient(testing.key, { bindings: neverBegin });
    await client.get('/simtest/active-tests');
    const before = recording.calls;
    const answer = await client.post(path, { name: 'Talk', ...testing.pairing, config: {}, ...more });
    expect(answer.status).toBe(200);
    if (answer.body.load_test_group_id) await leaveAlone(answer.body.load_test_group_id);
    return { calls: recording.calls - before, written: rowsWritten(recording) };
  };
  expect((await created('/simtest/test-sessions', {})).calls).toBe(3);
  const { calls, written } = await created('/simtest/load-tests', { test_count: 200 });
  expect(calls).toBe(3);
  // Each session is a row and its entries in three indexes.
  expect(written).toBeLessThanOrEqual(200 * 4 + 10);
});

test('a session costs a dozen written rows in the object of its load test, and none in D1', async () => {
  const load = await newLoadTest({ count: 20, concurrency: 2 });
  const written = await countWrites((look) => inside(load, look));
  await standAt(load, monday);
  await load.stub().begin(load.organizationId, load.id);
  await settle(load);
  for (const id of load.sessionIds) {
    await end(load, id);
    await settle(load);
  }
  const { object, d1Rows } = written();
  expect(object / 20).toBeLessThanOrEqual(12);
  expect(d1Rows).toBeLessThanOrEqual(6);
});
