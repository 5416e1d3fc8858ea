import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { HeldAnswer } from '../support/calls.ts';
import { tickAt } from '../support/background.ts';
import { newOrganization, type Client, type NewOrganization } from '../support/organization.ts';
import { explainQueryPlans, recordedClient } from '../support/recorded-database.ts';
import { orderTool, refusal, scripted, simpleAgent } from './sessions.ts';
import { sessionIn } from './simtest-service.ts';

afterEach(() => vi.restoreAllMocks());

const short = { max_turns: 2 };
/** Goes on until it is stopped. */
const endless = { max_turns: 100, turn_delay_ms: 60_000 };
const says = (value: string, config: object = short) => ({
  ...config,
  checks: [{ name: `says ${value}`, type: 'contains', value, speaker: 'actor' }],
});

const adversaryDefinition = simpleAgent('You are the adversary.', { greeting: 'Hello there.' });
/** What an actor says is what its prompt says behind the colon. */
const actorSaying = (words: string, data: object = {}) => simpleAgent(`You are the actor. Say: ${words}`, data);
const sayWhatThePromptSays = () => scripted({ actor: (body) => String(body['messages'][0].content).split('Say: ')[1]! });

async function newAgentOf(client: Client, name: string, definition: unknown, more: object = {}): Promise<any> {
  const { status, body } = await client.post('/workflow/create/definition', { name, workflow_definition: definition, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** An agent that says "hello", with tests of these configs against one adversary. */
async function testedAgent(configs: object[], options: NewOrganization & { definition?: unknown; more?: object } = {}) {
  const organization = await newOrganization(options);
  const { client } = organization;
  const adversary = await newAgentOf(client, 'Customer', adversaryDefinition);
  const required_tests = configs.map((config) => ({ adversary_workflow_id: adversary.id, config }));
  const definition = options.definition ?? actorSaying('hello');
  const agent = await newAgentOf(client, 'Sales', definition, { ...options.more, workflow_configurations: { required_tests } });
  const path = `/workflow/${agent.id}`;
  return { ...organization, agent, path, adversary, required_tests };
}

/** The same service, which waits so long. */
const waiting = (key: string, seconds: number): Client =>
  recordedClient(key, { bindings: { VERIFY_WAIT_SECONDS: String(seconds) } as unknown as Partial<Env> }).client;

const sessionsOf = async (client: Client): Promise<any[]> => (await client.get('/simtest/test-sessions')).body.test_sessions;
const locs = ({ body }: { body: any }) => body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'));
const definitionsOf = async (agentId: number) =>
  (await env.DB.prepare('SELECT id, definition FROM voice_agent_definition WHERE agent_id = ? ORDER BY id').bind(agentId).all()).results;

describe('verify', () => {
  test('runs the required tests as sessions, and passes when all of them pass', async () => {
    sayWhatThePromptSays();
    const { client, agent, adversary, path } = await testedAgent([says('hello'), short]);
    const { status, body } = await client.post(`${path}/verify`, {});
    expect(status, JSON.stringify(body)).toBe(200);
    const [second, first] = await sessionsOf(client);
    const passed = { adversary_workflow_id: adversary.id, status: 'completed', outcome: 'passed', error: null };
    const check = { name: 'says hello', passed: true, required: true, detail: expect.any(String) };
    expect(body).toEqual({
      workflow_id: agent.id,
      definition_id: agent.current_definition_id,
      passed: true,
      tests: [
        { index: 0, test_session_id: first.id, ...passed, checks: [check] },
        { index: 1, test_session_id: second.id, ...passed, checks: [] },
      ],
    });
    expect([first, second].map(({ name, test_index }) => [name, test_index])).toEqual([
      ['Verify Sales #1', 0],
      ['Verify Sales #2', 1],
    ]);
    expect(first).toMatchObject({
      actor_workflow_id: agent.id,
      config: { max_turns: 2, first_speaker: 'adversary' },
      load_test_group_id: null,
    });
    const { conversation } = (await client.get(`/simtest/test-sessions/${first.id}/conversation`)).body;
    expect(conversation.transcript.map(({ text }: { text: string }) => text)).toEqual(['Hello there.', 'hello']);
  });

  test('tells which checks failed', async () => {
    sayWhatThePromptSays();
    const { client, path } = await testedAgent([says('hello'), says('goodbye')]);
    const { body } = await client.post(`${path}/verify`);
    expect(body).toMatchObject({ passed: false, tests: [{ outcome: 'passed' }, { status: 'completed', outcome: 'failed', error: null }] });
    expect(body.tests[1].checks).toEqual([{ name: 'says goodbye', passed: false, required: true, detail: expect.any(String) }]);
  });

  test('runs all at once', async () => {
    const held = [new HeldAnswer(), new HeldAnswer(), new HeldAnswer()];
    let asked = 0;
    scripted({ actor: () => held[asked++]!.response() });
    const { client, path } = await testedAgent([short, short, short]);
    const answer = client.post(`${path}/verify`);
    await vi.waitFor(() => expect(asked).toBe(3), { timeout: 10_000, interval: 5 });
    for (const one of held) one.finish();
    expect((await answer).body.tests).toHaveLength(3);
  });

  test('answers what is known when the time is out, and the sessions go on', async () => {
    sayWhatThePromptSays();
    const { client, key, path } = await testedAgent([short, endless]);
    const { status, body } = await waiting(key, 1).post(`${path}/verify`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      passed: null,
      tests: [{ outcome: 'passed' }, { status: 'running', outcome: null, error: null, checks: [], test_session_id: expect.any(Number) }],
    });
    const stopped = await client.post(`/simtest/test-sessions/${body.tests[1].test_session_id}/stop`);
    expect(stopped.body.status).toBe('stopped');
  });

  test('needs no more time to say no, once one test has failed', async () => {
    sayWhatThePromptSays();
    const { client, key, path } = await testedAgent([says('goodbye'), endless]);
    const { body } = await waiting(key, 1).post(`${path}/verify`);
    expect(body).toMatchObject({ passed: false, tests: [{ outcome: 'failed' }, { status: 'running' }] });
    await client.post(`/simtest/test-sessions/${body.tests[1].test_session_id}/stop`);
  });

  test('is not passed by a session that somebody stops', async () => {
    sayWhatThePromptSays();
    const { client, path } = await testedAgent([endless]);
    const answer = client.post(`${path}/verify`);
    const [session] = await vi.waitFor(
      async () => {
        const found = await sessionsOf(client);
        expect(found).toHaveLength(1);
        return found;
      },
      { timeout: 10_000, interval: 10 },
    );
    await client.post(`/simtest/test-sessions/${session.id}/stop`);
    expect((await answer).body).toMatchObject({ passed: false, tests: [{ status: 'stopped' }] });
  });

  test('tells that the language model failed, and that nobody knows', async () => {
    scripted({ actor: () => refusal(400) });
    const { client, path } = await testedAgent([says('hello')]);
    const { body } = await client.post(`${path}/verify`);
    expect(body).toMatchObject({
      passed: false,
      tests: [
        { status: 'failed', outcome: 'error', error: expect.stringMatching(/^The language model of the actor failed: .* status 400/) },
      ],
    });
  });

  test('fails a test whose adversary is archived, with the reason, and runs the others', async () => {
    sayWhatThePromptSays();
    const { client, agent, adversary, path, required_tests } = await testedAgent([short]);
    const second = await newAgentOf(client, 'Angry', adversaryDefinition);
    const both = [{ adversary_workflow_id: second.id, config: short }, ...required_tests];
    await client.put(path, { workflow_configurations: { required_tests: both } });
    await client.put(`/workflow/${second.id}/status`, { status: 'archived' });
    const { body } = await client.post(`${path}/verify`);
    expect(body).toMatchObject({
      workflow_id: agent.id,
      passed: false,
      tests: [
        { index: 0, test_session_id: null, adversary_workflow_id: second.id, status: 'failed', outcome: 'error', checks: [] },
        { index: 1, adversary_workflow_id: adversary.id, outcome: 'passed' },
      ],
    });
    expect(body.tests[0].error).toBe(
      `agent_archived: Voice agent ${second.id} ("Angry") is archived and talks to nobody; PUT /workflow/${second.id}/status with "active" restores it`,
    );
    expect(await sessionsOf(client)).toHaveLength(1);
  });

  test('fails a test that does not fit its agents any more, naming what', async () => {
    sayWhatThePromptSays();
    const config = { ...short, checks: [{ name: 'Came', type: 'reached_node', node: 'start', speaker: 'adversary' }] };
    const { client, adversary, path } = await testedAgent([config]);
    const renamed = { ...adversaryDefinition, nodes: [{ ...adversaryDefinition.nodes[0], id: 'begin' }] };
    expect((await client.put(`/workflow/${adversary.id}`, { workflow_definition: renamed })).status).toBe(200);
    const { body } = await client.post(`${path}/verify`);
    expect(body).toMatchObject({ passed: false, tests: [{ test_session_id: null, outcome: 'error' }] });
    expect(body.tests[0].error).toContain('config.checks.0.node: The adversary has no node "start"');
  });

  test('needs required tests and an agent that is not archived', async () => {
    const { client } = await newOrganization();
    const agent = await newAgentOf(client, 'Sales', actorSaying('hello'));
    const none = await client.post(`/workflow/${agent.id}/verify`);
    expect([none.status, none.body.detail]).toEqual([409, expect.stringContaining('required_tests')]);
    const { client: other, path } = await testedAgent([short]);
    await other.put(`${path}/status`, { status: 'archived' });
    const archived = await other.post(`${path}/verify`);
    expect([archived.status, archived.body.detail]).toEqual([409, expect.stringContaining('is archived')]);
    expect(await sessionsOf(other)).toEqual([]);
  });

  test('is for whom the agent belongs to, with a key that may write', async () => {
    const { path, client, key } = await testedAgent([short]);
    const stranger = (await newOrganization()).client;
    expect(await stranger.post(`${path}/verify`)).toMatchObject({ status: 404, body: { detail: 'Voice agent not found' } });
    const { api_key: reading } = (await client.post('/user/api-keys', { name: 'r', scopes: ['read'] })).body;
    expect((await recordedClient(reading).client.post(`${path}/verify`)).status).toBe(403);
    expect((await recordedClient(`${key}x`).client.post(`${path}/verify`)).status).toBe(401);
    expect((await client.post('/workflow/nought/verify')).status).toBe(422);
    expect(await sessionsOf(client)).toEqual([]);
  });

  test('sent again with its Idempotency-Key runs nothing again', async () => {
    sayWhatThePromptSays();
    const { client, path } = await testedAgent([short]);
    const headers = { 'Idempotency-Key': 'one' };
    const first = await client.post(`${path}/verify`, {}, headers);
    const second = await client.post(`${path}/verify`, {}, headers);
    expect([second.body, second.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expect(await sessionsOf(client)).toHaveLength(1);
  });

  test('that dies before a session has begun leaves it to the minute tick, and nothing is stuck', async () => {
    sayWhatThePromptSays();
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const { client, path } = await testedAgent([short]);
    const lost = vi.spyOn(env.TEST_SESSION, 'getByName').mockImplementation(() => {
      throw new Error('the isolate died');
    });
    const { body } = await client.post(`${path}/verify`);
    lost.mockRestore();
    expect(body).toMatchObject({ passed: null, tests: [{ status: 'running' }] });
    await tickAt(Date.now() + 600_000);
    const record = await sessionIn(client, body.tests[0].test_session_id, 'completed');
    expect(record.results.outcome).toBe('passed');
  });

  test('goes on waiting for a session whose object dies', { tags: 'soak' }, async () => {
    const held = new HeldAnswer();
    let asked = 0;
    scripted({ actor: () => (asked++ === 0 ? held.response() : 'hello') });
    const { id: organizationId, client, path } = await testedAgent([says('hello')]);
    const answer = client.post(`${path}/verify`);
    await vi.waitFor(() => expect(asked).toBe(1), { timeout: 10_000, interval: 5 });
    const [{ id }] = await sessionsOf(client);
    const object = env.TEST_SESSION.getByName(`${organizationId}/${id}`);
    await runInDurableObject(object, (_instance, state) => state.abort('it dies here')).catch(() => undefined);
    expect((await answer).body).toMatchObject({ passed: true, tests: [{ test_session_id: id, outcome: 'passed' }] });
  });

  test('asks D1 a fixed number of times, and scans no table', async () => {
    sayWhatThePromptSays();
    const { key, path } = await testedAgent([short, short, short]);
    const { client, recording } = recordedClient(key);
    expect((await client.post(`${path}/verify`)).body.passed).toBe(true);
    // The key, the agent, the adversaries, the new sessions, and their ends.
    expect(recording.calls).toBeLessThanOrEqual(5);
    for (const { sql, plan } of await explainQueryPlans(recording))
      expect([sql, plan.filter((step) => /^SCAN (a|d|s|voice_agent\w*|test_session)\b/.test(step))]).toEqual([sql, []]);
  });
});

describe('a required test is saved', () => {
  const refusedWith = async (client: Client, required_tests: unknown, definition: unknown = actorSaying('hello')) => {
    const answer = await client.post('/workflow/create/definition', {
      name: 'Sales',
      workflow_definition: definition,
      workflow_configurations: { required_tests },
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(422);
    return locs(answer).map((loc: string) => loc.replace('body.workflow_configurations.required_tests.', ''));
  };

  test('only with an adversary of the organization and a config of a test session, each fault named at its place', async () => {
    const { client } = await newOrganization();
    const stranger = (await newOrganization()).client;
    const { id } = await newAgentOf(client, 'Customer', adversaryDefinition);
    const { id: foreign } = await newAgentOf(stranger, 'Customer', adversaryDefinition);
    const of = (config: object) => [{ adversary_workflow_id: id, config }];
    expect(await refusedWith(client, [{ adversary_workflow_id: foreign }])).toEqual(['0.adversary_workflow_id']);
    expect(await refusedWith(client, [...of({}), { adversary_workflow_id: 999_999_999, config: { max_turns: 0 } }])).toEqual([
      '1.adversary_workflow_id',
      '1.config.max_turns',
    ]);
    expect(await refusedWith(client, of({ max_turns: 0 }))).toEqual(['0.config.max_turns']);
    expect(await refusedWith(client, of({ persona: '{{ broken' }))).toEqual(['0.config.persona']);
    expect(await refusedWith(client, of({ checks: [{ name: 'x', type: 'reached_node', node: 'nowhere' }] }))).toEqual([
      '0.config.checks.0.node',
    ]);
    expect(await refusedWith(client, of({ checks: [{ name: 'x', type: 'tool_called', tool: 'find_order' }] }))).toEqual([
      '0.config.checks.0.tool',
    ]);
    expect(await refusedWith(client, of({ tool_mocks: [{ name: 'find_order', response: 1 }] }))).toEqual(['0.config.tool_mocks.0.name']);
    expect((await client.get('/workflow')).body.total).toBe(1);
  });

  test('as it was given', async () => {
    const { client, path, required_tests } = await testedAgent([says('hello'), {}]);
    expect((await client.get(path)).body.workflow_configurations.required_tests).toEqual(required_tests);
  });

  test('also with an adversary that is archived, or the agent itself', async () => {
    const { client, agent, adversary, path } = await testedAgent([short]);
    await client.put(`/workflow/${adversary.id}/status`, { status: 'archived' });
    const tests = [adversary.id, agent.id].map((adversary_workflow_id) => ({ adversary_workflow_id, config: {} }));
    expect((await client.put(path, { workflow_configurations: { required_tests: tests } })).status).toBe(200);
  });

  test('and a definition that it does not fit any more is refused until both are changed', async () => {
    const config = { ...short, checks: [{ name: 'Came', type: 'reached_node', node: 'start' }] };
    const { client, path, adversary } = await testedAgent([config]);
    const renamed = { ...actorSaying('hello'), nodes: [{ ...actorSaying('hello').nodes[0], id: 'begin' }] };
    const refused = await client.put(path, { workflow_definition: renamed });
    expect([refused.status, locs(refused)]).toEqual([422, ['body.workflow_configurations.required_tests.0.config.checks.0.node']]);
    const mended = [{ adversary_workflow_id: adversary.id, config: { ...short, checks: [{ ...config.checks[0], node: 'begin' }] } }];
    const changed = await client.put(path, { workflow_definition: renamed, workflow_configurations: { required_tests: mended } });
    expect(changed.status).toBe(200);
  });

  test('and what the adversary has lost since keeps nobody from changing the agent', async () => {
    const config = { ...short, checks: [{ name: 'Came', type: 'reached_node', node: 'start', speaker: 'adversary' }] };
    const { client, path, adversary, required_tests } = await testedAgent([config]);
    const renamed = { ...adversaryDefinition, nodes: [{ ...adversaryDefinition.nodes[0], id: 'begin' }] };
    await client.put(`/workflow/${adversary.id}`, { workflow_definition: renamed });
    const changed = await client.put(path, { workflow_definition: actorSaying('bonjour'), workflow_configurations: { required_tests } });
    expect(changed.status).toBe(200);
    const refused = await client.put(path, { workflow_configurations: { required_tests: [...required_tests, ...required_tests] } });
    expect(refused.status).toBe(422);
  });
});

describe('a change with require_verified', () => {
  test('is made when the agent, as it is then, passes', async () => {
    sayWhatThePromptSays();
    const { client, agent, path } = await testedAgent([says('hello Ada of Acme')]);
    const change = {
      name: 'Sales 2',
      workflow_definition: actorSaying('hello {{ who }} of {{ company }}'),
      template_context_variables: { who: 'Ada', company: 'Acme' },
      call_disposition_codes: { sold: 'They buy' },
    };
    const { status, body } = await client.put(path, { ...change, require_verified: true });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject(change);
    expect(body.current_definition_id).toBeGreaterThan(agent.current_definition_id);
    expect((await client.get(path)).body).toEqual(body);
    const [session] = await sessionsOf(client);
    expect(session).toMatchObject({ name: 'Verify Sales 2 #1', status: 'completed', results: { outcome: 'passed' } });
    const row = await env.DB.prepare('SELECT candidate FROM test_session WHERE id = ?').bind(session.id).first();
    expect(row).toEqual({ candidate: null });
  });

  test('is refused when it does not, with the failed tests and checks, and nothing is written', async () => {
    sayWhatThePromptSays();
    const { client, agent, path } = await testedAgent([says('hello'), short, says('welcome')]);
    const change = { name: 'Sales 2', workflow_definition: actorSaying('go away'), require_verified: true };
    const { status, body } = await client.put(path, change);
    const [third, , first] = await sessionsOf(client);
    expect(status).toBe(409);
    expect(body.detail).toMatch(/^Nothing was changed: 2 of 3 required tests did not pass\./);
    expect(body.detail).toMatch(
      new RegExp(`required_tests\\.0 \\(test session ${first.id} against voice agent \\d+\\) failed: "says hello": `),
    );
    expect(body.detail).toMatch(
      new RegExp(`required_tests\\.2 \\(test session ${third.id} against voice agent \\d+\\) failed: "says welcome": `),
    );
    expect(body.detail).not.toContain('required_tests.1');
    expect((await client.get(path)).body).toEqual(agent);
    expect(await definitionsOf(agent.id)).toHaveLength(1);
  });

  test('is verified by the tests that it brings along', async () => {
    sayWhatThePromptSays();
    const { client, adversary, path } = await testedAgent([says('goodbye')]);
    const required_tests = [{ adversary_workflow_id: adversary.id, config: says('bonjour') }];
    const change = { workflow_definition: actorSaying('bonjour'), workflow_configurations: { required_tests }, require_verified: true };
    expect((await client.put(path, change)).status).toBe(200);
    expect((await client.get(path)).body.workflow_configurations.required_tests).toEqual(required_tests);
  });

  test('is refused with the reason while the language model is down', async () => {
    scripted({ actor: () => refusal(400) });
    const { client, agent, path } = await testedAgent([short]);
    const { status, body } = await client.put(path, { workflow_definition: actorSaying('bonjour'), require_verified: true });
    expect(status).toBe(409);
    expect(body.detail).toMatch(/ended in an error: The language model of the actor failed: .* status 400/);
    expect((await client.get(path)).body).toEqual(agent);
  });

  test('is refused when the tests have not ended in time, and not written when they pass later', async () => {
    const held = new HeldAnswer();
    scripted({ actor: () => held.response() });
    const { client, key, agent, path } = await testedAgent([short]);
    const change = { workflow_definition: actorSaying('bonjour'), require_verified: true };
    const { status, body } = await waiting(key, 1).put(path, change);
    expect(status).toBe(409);
    expect(body.detail).toContain('had not ended after 1 s, and goes on');
    held.say('Here.');
    held.finish();
    const [{ id }] = await sessionsOf(client);
    await sessionIn(client, id, 'completed');
    expect((await client.get(path)).body).toEqual(agent);
  });

  test('is not written over what another request has changed meanwhile', async () => {
    const held = new HeldAnswer();
    scripted({ actor: () => held.response() });
    const { client, agent, path } = await testedAgent([short]);
    const answer = client.put(path, { workflow_definition: actorSaying('bonjour'), require_verified: true });
    await vi.waitFor(async () => expect(await sessionsOf(client)).toHaveLength(1), { timeout: 10_000, interval: 10 });
    const other = await client.put(path, { name: 'Renamed' });
    held.say('Here.');
    held.finish();
    const { status, body } = await answer;
    expect([status, body.detail]).toEqual([409, expect.stringContaining('changed by another request meanwhile')]);
    expect((await client.get(path)).body).toEqual(other.body);
    expect(other.body.current_definition_id).toBe(agent.current_definition_id);
    expect(await definitionsOf(agent.id)).toHaveLength(1);
  });

  test('that changes nothing is verified all the same', async () => {
    sayWhatThePromptSays();
    const { client, agent, path } = await testedAgent([says('hello')]);
    const same = await client.put(path, { workflow_definition: agent.workflow_definition, require_verified: true });
    expect([same.status, same.body]).toEqual([200, agent]);
    vi.restoreAllMocks();
    scripted({ actor: () => 'Go away.' });
    expect((await client.put(path, { require_verified: true })).status).toBe(409);
  });

  test('has its faults reported before anything is run', async () => {
    const { client, path } = await testedAgent([short]);
    const broken = await client.put(path, { workflow_definition: { nodes: [], edges: [] }, require_verified: true });
    expect(broken.status).toBe(422);
    const untested = await client.put(path, { workflow_configurations: { required_tests: [] }, require_verified: true });
    expect([untested.status, locs(untested)]).toEqual([422, ['body.require_verified']]);
    const wrong = await client.put(path, { require_verified: 'yes' });
    expect([wrong.status, locs(wrong)]).toEqual([422, ['body.require_verified']]);
    await client.put(`${path}/status`, { status: 'archived' });
    const archived = await client.put(path, { name: 'x', require_verified: true });
    expect([archived.status, archived.body.detail]).toEqual([409, expect.stringContaining('is archived')]);
    expect(await sessionsOf(client)).toEqual([]);
  });

  test('without it, or false, is made unverified', async () => {
    const { client, path } = await testedAgent([says('goodbye')]);
    for (const more of [{}, { require_verified: false }, { require_verified: null }])
      expect((await client.put(path, { workflow_definition: actorSaying('hi'), ...more })).status).toBe(200);
    expect(await sessionsOf(client)).toEqual([]);
  });

  test('of another organization finds no agent, and runs nothing', async () => {
    const { client, path } = await testedAgent([short]);
    const stranger = (await newOrganization()).client;
    expect((await stranger.put(path, { name: 'Mine', require_verified: true })).status).toBe(404);
    expect(await sessionsOf(client)).toEqual([]);
  });

  test('sent again with its Idempotency-Key is answered as the first time', async () => {
    sayWhatThePromptSays();
    const { client, path } = await testedAgent([short]);
    const headers = { 'Idempotency-Key': 'one' };
    const change = { workflow_definition: actorSaying('bonjour'), require_verified: true };
    const first = await client.put(path, change, headers);
    const second = await client.put(path, change, headers);
    expect([first.status, second.body]).toEqual([200, first.body]);
    expect(await sessionsOf(client)).toHaveLength(1);
  });

  test('keeps its secrets: a test never shows what the headers of a tool hold', async () => {
    const canary = 'Bearer canary-of-a-tool';
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((...said: unknown[]) => void lines.push(said.join(' ')));
    const tool = { ...orderTool, http: { ...orderTool.http, headers: { Authorization: canary } } };
    const held = new HeldAnswer();
    const { asked } = scripted({
      actor: (_body, turn) => (turn === 0 ? { calls: [[orderTool.name, { number: 7 }]] } : held.response()),
    });
    const called = { name: 'Looks it up', type: 'tool_called', tool: orderTool.name };
    const { client, agent, path } = await testedAgent(
      [{ ...short, checks: [called, { ...called, name: 'Never', arguments: { number: 8 } }] }],
      {
        definition: actorSaying('hello', { tools: [{ ...orderTool }] }),
      },
    );
    const change = { workflow_definition: actorSaying('hello', { tools: [tool] }), require_verified: true };
    const answer = client.put(path, change);
    await vi.waitFor(() => expect(asked.filter(({ stream }) => stream).length).toBe(2), { timeout: 10_000, interval: 5 });
    const stored = await env.DB.prepare('SELECT * FROM test_session WHERE actor_agent_id = ?').bind(agent.id).first();
    expect(stored!['candidate']).toMatch(/"Authorization":"sealed:v1:/);
    const live = (await sessionsOf(client))[0];
    held.say('Here.');
    held.finish();
    const refused = await answer;
    expect(refused.status).toBe(409);
    const shown = [
      stored,
      live,
      refused.body,
      await sessionIn(client, live.id, 'completed'),
      (await client.get(`/simtest/test-sessions/${live.id}/conversation`)).body,
      await definitionsOf(agent.id),
      asked,
      lines,
    ];
    for (const one of shown) expect(JSON.stringify(one)).not.toContain('canary');
  });
});
