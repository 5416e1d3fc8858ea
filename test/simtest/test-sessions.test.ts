import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { findOverdueSessions } from '../../src/simtest/sessions/store.ts';
import { shard } from '../../src/database/shards.ts';
import { tickAt } from '../support/background.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { newAgent, orderTool, scripted, simpleAgent } from './sessions.ts';
import { newTestSession, sessionIn, startedLoadTest, statisticsIn, testingOrganization } from './simtest-service.ts';

afterEach(() => vi.restoreAllMocks());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
/** They talk until they are stopped. */
const endless = { max_turns: 100, turn_delay_ms: 60_000 };

describe('create', () => {
  test('answers a pending session with its config filled in, and get, list and conversation know it', async () => {
    const testing = await testingOrganization();
    const { client, pairing } = testing;
    const record = await newTestSession(testing, { max_turns: 6, checks: [{ name: 'greets', type: 'contains', value: 'hello' }] });
    expect(record).toEqual({
      id: expect.any(Number),
      name: 'Talk',
      status: 'pending',
      ...pairing,
      load_test_group_id: null,
      test_index: null,
      config: {
        max_turns: 6,
        max_duration_seconds: 300,
        first_speaker: 'adversary',
        actor_context: {},
        adversary_context: {},
        persona: null,
        checks: [{ name: 'greets', type: 'contains', value: 'hello', required: true, speaker: 'any' }],
        seed: null,
        turn_delay_ms: 0,
        tool_mocks: [],
      },
      warnings: [],
      results: null,
      error: null,
      created_at: timestamp,
      started_at: null,
      completed_at: null,
    });
    expect((await client.get(`/simtest/test-sessions/${record.id}`)).body).toEqual(record);
    expect((await client.get('/simtest/test-sessions')).body).toMatchObject({ test_sessions: [record], total: 1, limit: 50, offset: 0 });
    expect((await client.get(`/simtest/test-sessions/${record.id}/conversation`)).body).toEqual({ conversation: null });
  });

  test('takes one agent for both sides, and an archived one, which may be restored before the start', async () => {
    const testing = await testingOrganization();
    const archived = await newAgent(testing.id, { definition: simpleAgent('You are.'), status: 'archived' });
    await newTestSession(testing, {}, { adversary_workflow_id: testing.actor });
    await newTestSession(testing, {}, { actor_workflow_id: archived });
  });

  test.each([
    ['body.name', { name: '' }],
    ['body.name', { name: 'x'.repeat(201) }],
    ['body.name', { name: undefined }],
    ['body.actor_workflow_id', { actor_workflow_id: 'seven' }],
    ['body.adversary_workflow_id', { adversary_workflow_id: undefined }],
    ['body.config.max_turns', { config: { max_turns: 0 } }],
    ['body.config.max_turns', { config: { max_turns: 101 } }],
    ['body.config.max_turns', { config: { max_turns: 0 } }],
    ['body.config.first_speaker', { config: { first_speaker: 'nobody' } }],
    ['body.config.checks.0.type', { config: { checks: [{ name: 'x', type: 'guess' }] } }],
    ['body.config.checks.0.node', { config: { checks: [{ name: 'x', type: 'reached_node', node: 'nowhere' }] } }],
    ['body.config.checks.0.tool', { config: { checks: [{ name: 'x', type: 'tool_called', tool: 'find_odrer' }] } }],
    ['body.config.tool_mocks.0.name', { config: { tool_mocks: [{ name: 'find_odrer', response: 1 }] } }],
    ['body.config.tool_mocks.0', { config: { tool_mocks: [{ name: 'find_order' }] } }],
  ])('refuses a wrong %s and names it (%#)', async (field, wrong) => {
    const { id, client, pairing } = await testingOrganization();
    const shopper = await newAgent(id, { definition: simpleAgent('You shop.', { tools: [orderTool] }) });
    const body = { name: 'Talk', ...pairing, adversary_workflow_id: shopper, config: {}, ...wrong };
    for (const [path, more] of [
      ['/simtest/test-sessions', {}],
      ['/simtest/load-tests', { test_count: 2 }],
    ] as const) {
      const answer = await client.post(path, { ...body, ...more });
      expect(answer.status, JSON.stringify(answer.body)).toBe(422);
      expect(answer.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))).toEqual([field]);
    }
    expect((await client.get('/simtest/test-sessions')).body.total).toBe(0);
  });

  test('refuses an agent that is not there or is of another organization', async () => {
    const testing = await testingOrganization();
    const other = await testingOrganization();
    for (const wrong of [
      { actor_workflow_id: 999_999_999 },
      { actor_workflow_id: other.actor },
      { adversary_workflow_id: other.adversary },
    ]) {
      const answer = await testing.client.post('/simtest/test-sessions', { name: 'Talk', ...testing.pairing, config: {}, ...wrong });
      expect([answer.status, answer.body]).toEqual([404, { detail: 'Voice agent not found' }]);
    }
  });

  test('is done once under one Idempotency-Key', async () => {
    const { client, pairing } = await testingOrganization();
    const body = { name: 'Talk', ...pairing, config: {} };
    const answers = [];
    for (let tries = 0; tries < 2; tries += 1)
      answers.push(await client.post('/simtest/test-sessions', body, { 'Idempotency-Key': 'once' }));
    expect(answers[1]!.body).toEqual(answers[0]!.body);
    expect((await client.get('/simtest/test-sessions')).body.total).toBe(1);
  });
});

describe('start', () => {
  test('has the two talk, and in the end the session tells what came of it', async () => {
    scripted();
    const testing = await testingOrganization();
    const { client } = testing;
    const checks = [
      { name: 'is him', type: 'contains', value: 'i am him' },
      { name: 'never swears', type: 'not_contains', value: 'damn' },
    ];
    const { id } = await newTestSession(testing, { max_turns: 4, checks });
    const started = await client.post(`/simtest/test-sessions/${id}/start`);
    expect([started.status, started.body]).toEqual([200, { message: 'Test session started', test_session_id: id }]);
    const record = await sessionIn(client, id, 'completed');
    expect(record).toMatchObject({
      error: null,
      started_at: timestamp,
      completed_at: timestamp,
      results: {
        outcome: 'passed',
        stop_reason: 'max_turns',
        turns: 4,
        checks: [
          { name: 'is him', passed: true },
          { name: 'never swears', passed: true },
        ],
      },
    });
    const { conversation } = (await client.get(`/simtest/test-sessions/${id}/conversation`)).body;
    expect(conversation).toEqual({
      test_session_id: id,
      transcript: [
        { speaker: 'adversary', text: 'Hello there.', at: timestamp },
        { speaker: 'actor', text: 'I am him, number 0.', at: timestamp },
        { speaker: 'adversary', text: 'I am her, number 1.', at: timestamp },
        { speaker: 'actor', text: 'I am him, number 1.', at: timestamp },
      ],
      recording_urls: { actor: null, adversary: null, combined: null },
      duration_seconds: expect.any(Number),
      started_at: timestamp,
      ended_at: timestamp,
    });
    const { test_sessions } = (await client.get('/simtest/test-sessions?status=completed')).body;
    expect(test_sessions).toEqual([record]);
  });

  test('is refused unless the session is pending, with the status it is in', async () => {
    scripted();
    const testing = await testingOrganization();
    const { client } = testing;
    const { id } = await newTestSession(testing, { max_turns: 2 });
    const answers = await Promise.all([1, 2, 3].map(() => client.post(`/simtest/test-sessions/${id}/start`)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    await sessionIn(client, id, 'completed');
    const late = await client.post(`/simtest/test-sessions/${id}/start`);
    expect([late.status, late.body.detail]).toEqual([409, expect.stringMatching(/completed.*pending/)]);
  });

  test('is refused for an archived agent, and works once it is restored', async () => {
    scripted();
    const testing = await testingOrganization();
    const { client, adversary } = testing;
    const { id } = await newTestSession(testing, { max_turns: 2 });
    await client.put(`/workflow/${adversary}/status`, { status: 'archived' });
    const refused = await client.post(`/simtest/test-sessions/${id}/start`);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining(`${adversary}`)]);
    expect((await client.get(`/simtest/test-sessions/${id}`)).body.status).toBe('pending');
    await client.put(`/workflow/${adversary}/status`, { status: 'active' });
    expect((await client.post(`/simtest/test-sessions/${id}/start`)).status).toBe(200);
    await sessionIn(client, id, 'completed');
  });

  test("of a session of a load test is its load test's affair", async () => {
    scripted();
    const testing = await testingOrganization();
    const load = await startedLoadTest(testing, { test_count: 2, concurrency: 1, config: endless });
    const waiting = load.test_session_ids[1];
    const refused = await testing.client.post(`/simtest/test-sessions/${waiting}/start`);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining(`load test ${load.load_test_group_id}`)]);
    await testing.client.post(`/simtest/load-tests/${load.load_test_group_id}/stop`);
    await statisticsIn(testing.client, load.load_test_group_id, 'stopped');
  });

  test('that broke off after its row was written is made good by the minute tick', async () => {
    scripted();
    const testing = await testingOrganization();
    const { id } = await newTestSession(testing, { max_turns: 2 });
    const long = Date.now() - 600_000;
    await env.DB.prepare("UPDATE test_session SET status = 'running', started_at = ?1, wake_at = ?1 WHERE id = ?2").bind(long, id).run();
    expect((await findOverdueSessions(shard(env, 0), Date.now() - 120_000, 500)).map((one) => one.id)).toContain(id);
    expect((await testing.client.get(`/simtest/test-sessions/${id}`)).body.status).toBe('running');
    await tickAt(Date.now());
    await sessionIn(testing.client, id, 'completed');
  });
});

describe('stop', () => {
  test('answers the session as stopped, with what was said judged', async () => {
    scripted();
    const testing = await testingOrganization();
    const { client } = testing;
    const checks = [{ name: 'greets', type: 'contains', value: 'hello', speaker: 'adversary' }];
    const { id } = await newTestSession(testing, { ...endless, checks });
    await client.post(`/simtest/test-sessions/${id}/start`);
    await vi.waitFor(async () => {
      const { conversation } = (await client.get(`/simtest/test-sessions/${id}/conversation`)).body;
      expect(conversation).toMatchObject({ transcript: [{ text: 'Hello there.' }], ended_at: null });
    });
    const stopped = await client.post(`/simtest/test-sessions/${id}/stop`);
    expect(stopped.status, JSON.stringify(stopped.body)).toBe(200);
    expect(stopped.body).toMatchObject({
      id,
      status: 'stopped',
      completed_at: timestamp,
      results: { stop_reason: 'stopped', outcome: 'passed', turns: 1, checks: [{ name: 'greets', passed: true }] },
    });
    expect((await client.get(`/simtest/test-sessions/${id}`)).body).toEqual(stopped.body);
    expect((await client.get('/simtest/test-sessions?status=stopped')).body.test_sessions).toEqual([stopped.body]);
  });

  test('is refused unless the session is running', async () => {
    scripted();
    const testing = await testingOrganization();
    const { client } = testing;
    const { id } = await newTestSession(testing, endless);
    const pending = await client.post(`/simtest/test-sessions/${id}/stop`);
    expect([pending.status, pending.body.detail]).toEqual([409, expect.stringMatching(/pending.*running/)]);
    await client.post(`/simtest/test-sessions/${id}/start`);
    expect((await client.post(`/simtest/test-sessions/${id}/stop`)).status).toBe(200);
    const again = await client.post(`/simtest/test-sessions/${id}/stop`);
    expect([again.status, again.body.detail]).toEqual([409, expect.stringMatching(/stopped.*running/)]);
  });

  test('ends a session whose start broke off', async () => {
    scripted();
    const testing = await testingOrganization();
    const { id } = await newTestSession(testing, endless);
    await env.DB.prepare("UPDATE test_session SET status = 'running', started_at = ?1, wake_at = ?1 WHERE id = ?2")
      .bind(Date.now(), id)
      .run();
    expect((await testing.client.post(`/simtest/test-sessions/${id}/stop`)).body.status).toBe('stopped');
  });
});

describe('lists', () => {
  test('are newest first, in pages, by status, load test and name', async () => {
    scripted();
    const testing = await testingOrganization();
    const { client } = testing;
    const ids = [];
    for (const name of ['Refund', 'Greeting', 'refund again']) ids.push((await newTestSession(testing, {}, { name })).id);
    const load = await startedLoadTest(testing);
    await statisticsIn(client, load.load_test_group_id, 'completed');
    const list = async (query: string) => {
      const { body } = await client.get(`/simtest/test-sessions?${query}`);
      return { ids: body.test_sessions.map(({ id }: { id: number }) => id), total: body.total, next: body.next_cursor };
    };
    const all = [...load.test_session_ids.toReversed(), ...ids.toReversed()];
    expect(await list('')).toEqual({ ids: all, total: 6, next: null });
    const first = await list('limit=4');
    expect(first).toMatchObject({ ids: all.slice(0, 4), total: 6 });
    expect(await list(`limit=4&cursor=${first.next}`)).toEqual({ ids: all.slice(4), total: 6, next: null });
    expect((await list('limit=2&offset=5')).ids).toEqual(all.slice(5));
    expect((await list('status=pending')).ids).toEqual(ids.toReversed());
    expect((await list(`load_test_group_id=${load.load_test_group_id}`)).ids).toEqual(load.test_session_ids.toReversed());
    expect((await list(`load_test_group_id=${load.load_test_group_id}&status=pending`)).total).toBe(0);
    expect((await list('search=REFUND')).ids).toEqual([ids[2], ids[0]]);
  });

  test.each(['status=over', 'load_test_group_id=x', 'limit=0', 'cursor=made-up'])('refuse ?%s', async (query) => {
    const { client } = await newOrganization();
    const answer = await client.get(`/simtest/test-sessions?${query}`);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc).toEqual(['query', query.split('=')[0]]);
  });

  test('of active tests have the running sessions of this organization alone', async () => {
    scripted();
    const [testing, other] = [await testingOrganization(), await testingOrganization()];
    const { client } = testing;
    expect((await client.get('/simtest/active-tests')).body).toEqual({ count: 0, sessions: [] });
    const ids: number[] = [];
    for (const owner of [testing, testing, other]) {
      const { id } = await newTestSession(owner, endless);
      await owner.client.post(`/simtest/test-sessions/${id}/start`);
      ids.push(id);
    }
    await newTestSession(testing);
    const { count, sessions } = (await client.get('/simtest/active-tests')).body;
    expect([count, sessions.map(({ id, status }: { id: number; status: string }) => [id, status])]).toEqual([
      2,
      [
        [ids[1], 'running'],
        [ids[0], 'running'],
      ],
    ]);
    for (const id of ids.slice(0, 2)) await client.post(`/simtest/test-sessions/${id}/stop`);
    expect((await client.get('/simtest/active-tests')).body.count).toBe(0);
    await other.client.post(`/simtest/test-sessions/${ids[2]}/stop`);
  });
});

describe('strangers', () => {
  const paths = [
    ['get', ''],
    ['post', '/start'],
    ['post', '/stop'],
    ['get', '/conversation'],
  ] as const;

  test('another organization finds no session, and changes none', async () => {
    const testing = await testingOrganization();
    const other = await testingOrganization();
    const { id } = await newTestSession(testing);
    for (const [method, path] of paths) {
      const answer = await other.client[method](`/simtest/test-sessions/${id}${path}`);
      expect([path, answer.status, answer.body]).toEqual([path, 404, { detail: 'Test session not found' }]);
      expect((await other.client[method](`/simtest/test-sessions/0${path}`)).status).toBe(422);
    }
    expect((await other.client.get('/simtest/test-sessions')).body.total).toBe(0);
    expect((await testing.client.get(`/simtest/test-sessions/${id}`)).body.status).toBe('pending');
  });

  test('nobody gets in without a key, and a key that reads changes nothing', async () => {
    const testing = await testingOrganization();
    const { id } = await newTestSession(testing);
    const anonymous = new Client(undefined);
    const body = { name: 'Talk', ...testing.pairing, config: {} };
    const all = paths.map(([method, path]) => [method, `/simtest/test-sessions/${id}${path}`] as const);
    for (const [method, path] of [...all, ['get', '/simtest/test-sessions'], ['get', '/simtest/active-tests']] as const)
      expect([path, (await anonymous[method](path)).status]).toEqual([path, 401]);
    expect((await anonymous.post('/simtest/test-sessions', body)).status).toBe(401);
    const reader = await testingOrganization({ scopes: ['read'] });
    expect((await reader.client.get('/simtest/test-sessions')).status).toBe(200);
    expect((await reader.client.get('/simtest/active-tests')).status).toBe(200);
    expect((await reader.client.post('/simtest/test-sessions', { ...body, ...reader.pairing })).status).toBe(403);
    expect((await reader.client.post(`/simtest/test-sessions/${id}/start`)).status).toBe(403);
  });
});
