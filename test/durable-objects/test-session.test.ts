import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { defaultPhrases } from '../../src/voice-agents/conversation/phrases.ts';
import { handbook, knowledgeService } from '../knowledge-base/knowledge-service.ts';
import { HeldAnswer } from '../support/calls.ts';
import { newOrganization } from '../support/organization.ts';
import {
  endedRow,
  fakeLoadTest,
  inside,
  isJudge,
  keptTalk,
  linesOf,
  newSession,
  orderTool,
  played,
  refusal,
  scripted,
  sessionRow,
  sessionStub,
  simpleAgent,
  type NewSession,
} from '../simtest/sessions.ts';

afterEach(() => vi.restoreAllMocks());

/** An agent that says goodbye when its prompt tells it to. */
const leavingAgent = (prompt: string, data: object = {}) => ({
  nodes: [
    { id: 'start', type: 'startCall', data: { prompt, ...data } },
    { id: 'bye', type: 'endCall', data: { name: 'Goodbye', prompt: `${prompt} Say goodbye.` } },
  ],
  edges: [{ id: 'e', source: 'start', target: 'bye', data: { label: 'leave', condition: 'it is time', transition_speech: 'One moment.' } }],
});

/** The error of a refused call; null when it was not refused. */
const refusedBy = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

const until = (look: () => unknown) => vi.waitFor(look, { timeout: 10_000, interval: 5 });

/** Waits until that many turns were said. */
const hasSaid = (session: NewSession, turns: number) =>
  until(async () => expect((await session.stub().transcript())!.turns.length).toBeGreaterThanOrEqual(turns));

describe('two agents', () => {
  test('speak in turn until the last turn, and what they said is kept', async () => {
    scripted();
    const { row, results, lines, talk } = await played({ config: { max_turns: 4 } });
    expect(lines).toEqual([
      'adversary: Hello there.',
      'actor: I am him, number 0.',
      'adversary: I am her, number 1.',
      'actor: I am him, number 1.',
    ]);
    expect(row).toMatchObject({ status: 'completed', error: null, wake_at: null, completed_at: expect.any(Number) });
    expect(results).toEqual({
      outcome: 'passed',
      stop_reason: 'max_turns',
      turns: 4,
      max_turns: 4,
      duration_seconds: (talk!.endedAt! - talk!.startedAt) / 1000,
      latency_ms: { p50: expect.any(Number), p95: expect.any(Number), max: expect.any(Number) },
      tokens: { prompt: expect.any(Number), completion: expect.any(Number) },
      checks: [],
      actor: { disposition: expect.any(String), nodes_visited: ['start'], extracted_variables: {} },
      adversary: { disposition: expect.any(String), nodes_visited: ['start'], extracted_variables: {} },
    });
    expect(talk!.turns.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect(talk!.startedAt).toBe(row['started_at']);
  });

  test('begin with the side that the config names', async () => {
    scripted();
    const { lines } = await played({ config: { max_turns: 3, first_speaker: 'actor' } });
    expect(lines).toEqual(['actor: I am him, number 0.', 'adversary: I am her, number 0.', 'actor: I am him, number 1.']);
  });

  test('get only the words of the other side', async () => {
    const { asked } = scripted();
    await played({ config: { max_turns: 3 } });
    const last = asked.findLast(({ stream }) => stream)!;
    expect(last['messages']).toEqual([
      { role: 'system', content: 'You are the adversary.' },
      { role: 'assistant', content: 'Hello there.' },
      { role: 'user', content: 'I am him, number 0.' },
    ]);
  });

  test('can be the same agent, with a context for each side', async () => {
    scripted();
    const { row, lines, results } = await played({
      isAlone: true,
      actor: { definition: simpleAgent('You are the actor.', { greeting: 'Hello {{ name }}.' }) },
      config: { max_turns: 3, actor_context: { name: 'Ada' }, adversary_context: { name: 'Grace' } },
    });
    expect(lines).toEqual(['adversary: Hello Grace.', 'actor: I am him, number 0.', 'adversary: I am him, number 1.']);
    expect(row['status']).toBe('completed');
    expect(results['stop_reason']).toBe('max_turns');
  });

  test('wait between two turns as long as the config says', async () => {
    scripted();
    const { talk } = await played({ config: { max_turns: 3, turn_delay_ms: 500 } });
    const [one, two, three] = talk!.turns.map(({ at }) => at);
    expect(two! - one!).toBeGreaterThanOrEqual(500);
    expect(three! - two!).toBeGreaterThanOrEqual(500);
    expect(Math.max(...talk!.turns.map(({ latencyMs }) => latencyMs))).toBeLessThan(500);
  });
});

test('there is no pause after the last turn', async () => {
  scripted();
  const { results } = await played({ config: { max_turns: 1, turn_delay_ms: 60_000 } });
  expect(results).toMatchObject({ stop_reason: 'max_turns', turns: 1 });
  expect(results.duration_seconds).toBeLessThan(5);
});

describe('a side that speaks twice', () => {
  test('has one turn, which the other side answers as a whole', async () => {
    const { asked } = scripted({ actor: (_body, turn) => (turn === 0 ? { text: 'Well.', calls: [['leave']] } : 'Goodbye then.') });
    const { lines, results } = await played({ actor: { definition: leavingAgent('You are the actor.') } });
    expect(lines).toEqual(['adversary: Hello there.', 'actor: Well. One moment. Goodbye then.']);
    expect(results).toMatchObject({ stop_reason: 'actor_ended', turns: 2, actor: { nodes_visited: ['start', 'bye'] } });
    expect(asked.filter(({ stream }) => stream)).toHaveLength(2);
  });
});

describe('a talk ends', () => {
  test('when the actor hangs up, and its goodbye is not answered', async () => {
    scripted({ actor: () => ({ text: 'Bye!', calls: [['end_call']] }) });
    const { lines, results, row } = await played();
    expect(lines).toEqual(['adversary: Hello there.', 'actor: Bye!']);
    expect(results).toMatchObject({ stop_reason: 'actor_ended', outcome: 'passed' });
    expect(row['status']).toBe('completed');
  });

  test('when the adversary hangs up', async () => {
    scripted({ adversary: () => ({ text: 'Enough.', calls: [['end_call']] }) });
    const { lines, results } = await played();
    expect(lines.at(-1)).toBe('adversary: Enough.');
    expect(results).toMatchObject({ stop_reason: 'adversary_ended', turns: 3 });
  });

  test('for the first of two reasons', async () => {
    scripted({ actor: () => ({ text: 'Bye!', calls: [['end_call']] }) });
    expect((await played({ config: { max_turns: 2 } })).results['stop_reason']).toBe('actor_ended');
  });

  test('when one side says nothing twice in a row', async () => {
    scripted({ actor: () => '' });
    const { lines, results, row } = await played();
    const filled = `actor: ${defaultPhrases.please_repeat}`;
    expect(lines).toEqual(['adversary: Hello there.', filled, 'adversary: I am her, number 1.', filled]);
    expect(results).toMatchObject({ stop_reason: 'silence', outcome: 'passed', turns: 4 });
    expect(row['status']).toBe('completed');
  });

  test('not when a side speaks again in between', async () => {
    let asked = 0;
    // The model is asked a second time after each empty answer.
    scripted({ actor: () => ([1, 2, 4, 5].includes(++asked) ? '' : 'I am here.') });
    expect((await played({ config: { max_turns: 6 } })).results['stop_reason']).toBe('max_turns');
  });

  test('when both sides say nothing', async () => {
    scripted({ actor: () => '', adversary: () => '' });
    const { results } = await played({ adversary: { definition: simpleAgent('You are the adversary.') } });
    expect(results).toMatchObject({ stop_reason: 'silence', turns: 3 });
  });

  test('when its time is up, with the current turn cut off', async () => {
    const held = new HeldAnswer();
    scripted({ actor: () => held.response() });
    const session = await newSession({ config: { max_duration_seconds: 1 } });
    await session.start();
    held.say('I was about to');
    const row = await endedRow(session);
    expect(linesOf(await keptTalk(session))).toEqual(['adversary: Hello there.', 'actor: I was about to']);
    expect(row).toMatchObject({ status: 'completed', error: null });
    expect(row['results']).toMatchObject({ stop_reason: 'max_duration', outcome: 'passed' });
    expect(row['results']['duration_seconds']).toBeCloseTo(1, 0);
    expect(held.isAborted).toBe(true);
  });

  test('when its time is up during a pause', async () => {
    scripted();
    const { results } = await played({ config: { max_duration_seconds: 1, turn_delay_ms: 60_000 } });
    expect(results).toMatchObject({ stop_reason: 'max_duration', turns: 1, duration_seconds: expect.closeTo(1, 0) });
  });

  test('in an error when the language model fails twice, and the session shows the error', async () => {
    const { asked } = scripted({ actor: () => refusal(400) });
    const { row, results, lines } = await played({ config: { checks: [{ name: 'Judged', type: 'judge', criteria: 'It went well' }] } });
    expect(row).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^The language model of the actor failed: .* status 400/),
    });
    expect(results).toMatchObject({ outcome: 'error', stop_reason: 'error' });
    expect(results['checks']).toEqual([
      { name: 'Judged', required: true, passed: null, detail: 'it is not known: the talk ended in an error' },
    ]);
    expect(lines).toEqual(['adversary: Hello there.', `actor: ${defaultPhrases.apology}`]);
    expect(asked.filter(({ stream }) => !stream)).toEqual([]);
  });

  test('in no error when the language model fails once', async () => {
    let asked = 0;
    scripted({ actor: () => (asked++ === 0 ? refusal(500) : 'Here I am.') });
    const { results, lines } = await played({ config: { max_turns: 2 } });
    expect(results).toMatchObject({ outcome: 'passed', stop_reason: 'max_turns' });
    expect(lines.at(-1)).toBe('actor: Here I am.');
  });
});

describe('tools in a test', () => {
  const withTool = (name: 'actor' | 'adversary') => simpleAgent(`You are the ${name}.`, { tools: [orderTool], greeting: 'Hello there.' });
  const callsOnce = (parameters: object = { number: 7 }) => {
    return (body: Record<string, any>) => {
      const last = body['messages'].at(-1);
      return last.role === 'tool' ? `I heard ${last.content}` : { calls: [[orderTool.name, parameters] as [string, object]] };
    };
  };

  test('return their mocked response', async () => {
    scripted({ actor: callsOnce() });
    const { lines } = await played({
      actor: { definition: withTool('actor') },
      config: { max_turns: 2, tool_mocks: [{ name: orderTool.name, response: { status: 'shipped' } }] },
    });
    expect(lines.at(-1)).toBe('actor: I heard {"status":"shipped"}');
  });

  test('fail as they are mocked, also those of the adversary', async () => {
    scripted({ adversary: callsOnce() });
    const { lines } = await played({
      adversary: { definition: withTool('adversary') },
      config: { max_turns: 3, tool_mocks: [{ name: orderTool.name, error: 'no such order' }] },
    });
    expect(lines.at(-1)).toBe('adversary: I heard {"error":"no such order"}');
  });

  test('are never called without a mock', async () => {
    scripted({ actor: callsOnce() });
    const { lines, results } = await played({
      actor: { definition: withTool('actor') },
      config: { max_turns: 2, checks: [{ name: 'Looked', type: 'tool_called', tool: orderTool.name, arguments: { number: 7 } }] },
    });
    expect(lines.at(-1)).toBe('actor: I heard {"status":"not called in a test"}');
    expect(results['checks']).toEqual([{ name: 'Looked', required: true, passed: true, detail: 'called with {"number":7}' }]);
  });

  test('that the agent does not have get such an answer, and the talk goes on', async () => {
    scripted({
      actor: (body) => {
        const last = body['messages'].at(-1);
        return last.role === 'tool' ? `I heard ${JSON.parse(last.content).error}` : { calls: [['invented']] };
      },
    });
    const { row, results, lines } = await played({ config: { max_turns: 4 } });
    expect(lines[1]).toMatch(/^actor: I heard There is no tool "invented" here/);
    expect(row['status']).toBe('completed');
    expect(results).toMatchObject({ outcome: 'passed', stop_reason: 'max_turns', turns: 4 });
  });

  test('look things up in the documents of the organization, unless that is mocked', async () => {
    const script = (body: Record<string, any>) => {
      const last = body['messages'].at(-1);
      const calls: [string, object][] = [['search_knowledge_base', { query: 'How long is the warranty on the K-200 kettle?' }]];
      return last.role === 'tool' ? `I read ${last.content}` : { calls };
    };
    scripted({ actor: script });
    const service = await knowledgeService();
    await service.process({ content: handbook() });
    const options = {
      organizationId: service.id,
      actor: { definition: simpleAgent('You are the actor.', { knowledge_base: true }) },
      config: { max_turns: 2, checks: [{ name: 'Looked', type: 'tool_called', tool: 'search_knowledge_base' }] },
    };
    const live = await played(options);
    expect(live.lines.at(-1)).toContain('The Model K-200 kettle carries a three year warranty.');
    expect(live.results).toMatchObject({ outcome: 'passed', checks: [{ passed: true }] });
    const tool_mocks = [{ name: 'search_knowledge_base', response: 'nothing' }];
    expect((await played({ ...options, config: { ...options.config, tool_mocks } })).lines.at(-1)).toBe('actor: I read nothing');
  });

  test('with a slow mock do not delay the end of the time', async () => {
    scripted({ actor: callsOnce() });
    const { results } = await played({
      actor: { definition: withTool('actor') },
      config: { max_duration_seconds: 1, tool_mocks: [{ name: orderTool.name, response: 1, delay_ms: 30_000 }] },
    });
    expect(results).toMatchObject({ stop_reason: 'max_duration', turns: 1, duration_seconds: expect.closeTo(1, 0) });
  });
});

describe('the definition of a session', () => {
  test('is fixed when it starts', async () => {
    const held = new HeldAnswer();
    scripted({ actor: (_body, turn) => (turn === 0 ? held.response() : 'Later.') });
    const session = await newSession({ config: { max_turns: 4 } });
    await session.start();
    await env.DB.prepare(`UPDATE voice_agent_definition SET definition = '{}' WHERE agent_id IN (?, ?)`)
      .bind(session.actorId, session.adversaryId)
      .run();
    await env.DB.prepare(`UPDATE voice_agent SET status = 'archived' WHERE id = ?`).bind(session.adversaryId).run();
    held.say('At last.');
    held.finish();
    expect((await endedRow(session))['results']).toMatchObject({ stop_reason: 'max_turns', outcome: 'passed' });
  });

  test('has the variables of the test before those of the agents, and the persona behind each prompt of the adversary', async () => {
    const { asked } = scripted();
    await played({
      actor: {
        definition: simpleAgent('You are the actor of {{ company }} for {{ name }}.'),
        templateContext: { company: 'Acme', name: 'x' },
      },
      config: { max_turns: 3, actor_context: { name: 'Ada' }, adversary_context: { mood: 'angry' }, persona: 'You are {{ mood }}.' },
    });
    const systems = asked.filter(({ stream }) => stream).map(({ messages }) => messages[0].content);
    expect(systems).toEqual(['You are the actor of Acme for Ada.', 'You are the adversary.\n\nYou are angry.']);
  });

  test('has the model and the phrases of each agent', async () => {
    const { asked } = scripted({ actor: () => '' });
    const { lines } = await played({
      actor: { configurations: { model: 'gpt-x', phrases: { please_repeat: 'Come again?' } } },
      config: { max_turns: 3 },
    });
    expect(lines[1]).toBe('actor: Come again?');
    expect(asked.filter(({ stream }) => stream).map(({ model }) => model)).toEqual(['gpt-x', 'gpt-x', 'gpt-6-luna']);
  });

  test('sends its seed with each question to the model, and none when it has none', async () => {
    const seeded = scripted();
    const config = { max_turns: 3, checks: [{ name: 'Fine', type: 'judge', criteria: 'It went well' }] };
    await played({ config: { ...config, seed: 42 } });
    expect(seeded.asked.map(({ seed }) => seed)).toEqual([42, 42, 42, 42, 42]);
    vi.restoreAllMocks();
    const other = scripted();
    await played({ config });
    expect(other.asked.map(({ seed }) => seed)).toEqual(Array(5).fill(undefined));
  });

  test('may contain an actor that is not saved', async () => {
    const { asked } = scripted();
    const definition = simpleAgent('You are the actor, changed by {{ who }}.');
    await played({
      config: { max_turns: 2, actor_context: { who: 'Ada' } },
      candidate: {
        definition,
        workflow_configurations: { model: 'gpt-y' },
        template_context_variables: { who: 'nobody' },
        call_disposition_codes: { sold: 'They buy' },
      },
    });
    const [turn, conclusion] = asked;
    expect(turn).toMatchObject({ model: 'gpt-y', messages: [{ content: 'You are the actor, changed by Ada.' }, expect.anything()] });
    expect(JSON.stringify(conclusion)).toContain('They buy');
  });
});

describe('checks', () => {
  const all = [
    { name: 'Left', type: 'reached_node', node: 'Goodbye' },
    { name: 'Sold', type: 'disposition', value: ['sold', 'interested'] },
    { name: 'Polite', type: 'contains', value: 'goodbye THEN', required: false },
    { name: 'Rude', type: 'not_contains', value: 'hello', speaker: 'any' },
    { name: 'Short', type: 'max_turns', value: 2 },
    { name: 'Asked', type: 'tool_called', tool: 'end_call' },
    { name: 'Fair', type: 'judge', criteria: 'Both were fair' },
  ];
  const leaves = (_body: unknown, turn: number) => (turn === 0 ? { calls: [['leave'] as [string]] } : 'Goodbye then.');
  const concluded = { disposition: 'sold', summary: 's', sentiment: 'neutral', tags: [], do_not_call_quote: null };

  test('are listed in their order, and a required check that does not hold fails the session', async () => {
    const { asked } = scripted({
      actor: leaves,
      complete: (body) => (isJudge(body) ? { verdict: 'yes', reason: 'They were.' } : concluded),
    });
    const { row, results } = await played({
      actor: { definition: leavingAgent('You are the actor.'), dispositionCodes: { sold: 'They buy' } },
      config: { checks: all },
    });
    expect(results['checks']).toEqual([
      { name: 'Left', required: true, passed: true, detail: 'reached; came through: start, Goodbye' },
      { name: 'Sold', required: true, passed: true, detail: 'the disposition was "sold"' },
      { name: 'Polite', required: false, passed: true, detail: 'said in turn 2' },
      { name: 'Rude', required: true, passed: false, detail: 'said in turn 1' },
      { name: 'Short', required: true, passed: true, detail: 'there were 2 turns' },
      { name: 'Asked', required: true, passed: false, detail: 'not called; called: none' },
      { name: 'Fair', required: true, passed: true, detail: 'They were.' },
    ]);
    expect(row).toMatchObject({ status: 'completed', error: null });
    expect(results['outcome']).toBe('failed');
    const question = asked.find(isJudge)!;
    expect(question['messages'][0].content).toContain('The statement: Both were fair');
    expect(question['messages'][1].content).toBe('Turn 1, adversary: Hello there.\nTurn 2, actor: One moment. Goodbye then.');
  });

  test.for([
    ['a judge who cannot tell', () => ({ verdict: 'unknown', reason: 'Nobody knows.' }), 'Nobody knows.'],
    ['a judge who fails', () => refusal(400), /^it could not be judged: .* status 400/],
  ] as const)('%s makes the check neither pass nor fail', async ([, verdict, detail]) => {
    scripted({ complete: (body) => (isJudge(body) ? verdict() : undefined) });
    const config = { max_turns: 2, checks: [{ name: 'Fair', type: 'judge', criteria: 'Both were fair' }] };
    const { row, results } = await played({ config });
    expect(results['checks']).toEqual([
      { name: 'Fair', required: true, passed: null, detail: detail instanceof RegExp ? expect.stringMatching(detail) : detail },
    ]);
    expect(row['status']).toBe('completed');
    expect(results['outcome']).toBe('passed');
  });

  test('a negative judgement fails the session, unless the check is not required', async () => {
    scripted({ complete: (body) => (isJudge(body) ? { verdict: 'no', reason: 'No.' } : undefined) });
    const check = { name: 'Fair', type: 'judge', criteria: 'Both were fair' };
    expect((await played({ config: { max_turns: 2, checks: [check] } })).results['outcome']).toBe('failed');
    const advice = await played({ config: { max_turns: 2, checks: [{ ...check, required: false }] } });
    expect(advice.results).toMatchObject({ outcome: 'passed', checks: [{ passed: false, required: false }] });
  });

  test('the conclusion is asked for again when the model fails temporarily', { tags: 'soak' }, async () => {
    let tries = 0;
    scripted({ complete: () => (tries++ < 3 ? refusal(500) : concluded) });
    const { results } = await played({
      actor: { dispositionCodes: { sold: 'They buy' } },
      config: { max_turns: 2, checks: [{ name: 'Sold', type: 'disposition', value: 'sold' }] },
    });
    expect(results['checks']).toMatchObject([{ passed: true }]);
  });

  test('the conclusion is unknown when the model fails permanently, and that does not fail the session', async () => {
    scripted({ complete: () => refusal(400) });
    const checks = [
      { name: 'Sold', type: 'disposition', value: 'sold' },
      { name: 'Day', type: 'extracted', variable: 'day', comparator: 'exists' },
    ];
    const { results, row } = await played({ config: { max_turns: 2, checks } });
    expect(results['checks']).toMatchObject([
      { passed: null, detail: expect.stringMatching(/^the disposition is not known: .* status 400/) },
      { passed: null, detail: expect.stringMatching(/^day is not known: .* status 400/) },
    ]);
    expect(results['outcome']).toBe('passed');
    expect(row['status']).toBe('completed');
  });

  test('extracted variables are compared', async () => {
    const extraction_variables = [
      { name: 'day', type: 'string', prompt: 'the day' },
      { name: 'people', type: 'number' },
    ];
    scripted({ complete: () => ({ ...concluded, disposition: 'unclear', extracted_variables: { day: 'Tuesday', people: 4 } }) });
    const { results } = await played({
      actor: { definition: simpleAgent('You are the actor.', { extraction_enabled: true, extraction_variables }) },
      config: {
        max_turns: 2,
        checks: [
          { name: 'Day', type: 'extracted', variable: 'day', value: 'tuesday' },
          { name: 'People', type: 'extracted', variable: 'people', comparator: '>', value: 4 },
        ],
      },
    });
    expect(results['checks']).toMatchObject([
      { passed: true, detail: 'day was "Tuesday"' },
      { passed: false, detail: 'people was 4' },
    ]);
    expect(results['actor']['extracted_variables']).toEqual({ day: 'Tuesday', people: 4 });
  });
});

describe('a stop', () => {
  const checks = [
    { name: 'Greeted', type: 'contains', value: 'hello', speaker: 'adversary' },
    { name: 'Silent', type: 'not_contains', value: 'hello', speaker: 'any', required: false },
    { name: 'Sold', type: 'disposition', value: 'sold' },
    { name: 'Fair', type: 'judge', criteria: 'Both were fair' },
  ];

  test('ends the talk at once, with the results that need no model', async () => {
    const held = new HeldAnswer();
    const { asked } = scripted({ actor: () => held.response() });
    const session = await newSession({ config: { checks } });
    await session.start();
    await hasSaid(session, 1);
    await until(() => expect(asked).toHaveLength(1));
    const live = await session.stub().stop('act');
    expect(live).toMatchObject({
      status: 'stopped',
      error: null,
      completedAt: expect.any(Number),
      results: {
        outcome: 'passed',
        stop_reason: 'stopped',
        turns: 1,
        checks: [
          { passed: true, detail: 'said in turn 1' },
          { passed: false, required: false },
          { passed: null, detail: 'the disposition is not known: the session was stopped before' },
          { passed: null, detail: 'it is not known: the session was stopped before' },
        ],
      },
    });
    expect((await sessionRow(session.id))['status']).toBe('stopped');
    expect(await endedRow(session)).toMatchObject({ status: 'stopped', error: null, results: live.results });
    expect(linesOf(await keptTalk(session))).toEqual(['adversary: Hello there.']);
    expect(held.isAborted).toBe(true);
  });

  test('during judging ends the judging, and keeps the results so far', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let judged = 0;
    scripted({
      complete: async (body) => {
        if (!isJudge(body)) return undefined;
        if (judged++ === 0) return { verdict: 'no', reason: 'No.' };
        await promise;
        return { verdict: 'yes', reason: 'Late.' };
      },
    });
    const second = { name: 'Kind', type: 'judge', criteria: 'Both were kind' };
    const session = await newSession({ config: { max_turns: 2, checks: [...checks, second] } });
    await session.start();
    await until(() => expect(judged).toBe(2));
    const live = await session.stub().stop('act');
    expect(live).toMatchObject({
      status: 'stopped',
      results: {
        outcome: 'failed',
        stop_reason: 'stopped',
        turns: 2,
        checks: [{ passed: true }, { passed: false }, { passed: false }, { passed: false, detail: 'No.' }, { passed: null }],
        actor: { disposition: expect.any(String) },
      },
    });
    const row = await endedRow(session);
    resolve();
    expect(row['results']).toEqual(live.results);
  });

  test('is answered the same when it is repeated, and another stop is refused', async () => {
    scripted();
    const load = fakeLoadTest({ refuses: 1 });
    const session = await newSession({ config: { turn_delay_ms: 60_000 }, loadTest: { id: load.id, index: 0 } });
    await session.start();
    await hasSaid(session, 1);
    const live = await session.stub().stop('act');
    // The load test has not heard of it, so that the object is still there.
    expect(await session.stub().stop('act')).toEqual(live);
    expect(await refusedBy(session.stub().stop('another'))).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/is stopped; only a running one/),
    });
  });

  test('of a session without an object is refused', async () => {
    const session = await newSession();
    expect(await refusedBy(session.stub().stop('act'))).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/is not running/),
    });
    expect((await sessionRow(session.id))['status']).toBe('pending');
  });
});

describe('a start', () => {
  test('writes "running" into the row before it returns', async () => {
    scripted();
    const session = await newSession();
    const live = await session.start();
    expect(live).toEqual({ status: 'running', results: null, error: null, startedAt: expect.any(Number), completedAt: null });
    expect(await sessionRow(session.id)).toMatchObject({ status: 'running', started_at: live.startedAt, wake_at: live.startedAt });
  });

  test('is answered the same when it is repeated, and another start is refused', async () => {
    scripted();
    const session = await newSession({ config: { turn_delay_ms: 60_000 } });
    const live = await session.start('act');
    expect(await session.start('act')).toEqual(live);
    expect(await refusedBy(session.start('another'))).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/is running; only a pending one/),
    });
    await session.stub().stop('stop');
    await endedRow(session);
    expect(await refusedBy(session.start('act'))).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/is stopped; only a pending one/),
    });
  });

  test('of a session that does not exist is refused, as is one of another organization', async () => {
    const session = await newSession();
    const other = await newOrganization();
    const message = 'Test session not found';
    expect(await refusedBy(sessionStub(session.organizationId, 987_654_321).start(session.organizationId, 987_654_321, 'a'))).toMatchObject(
      {
        code: 'not_found',
        message,
      },
    );
    expect(await refusedBy(sessionStub(other.id, session.id).start(other.id, session.id, 'a'))).toMatchObject({
      code: 'not_found',
      message,
    });
    expect((await sessionRow(session.id))['status']).toBe('pending');
  });

  test.for(['actor', 'adversary'] as const)('is refused while the %s is archived, and possible afterwards', async (side) => {
    scripted();
    const session = await newSession({
      [side]: { status: 'archived', definition: simpleAgent(`You are the ${side}.`) },
      config: { max_turns: 2 },
    });
    const id = session[`${side}Id`];
    expect(await refusedBy(session.start())).toMatchObject({
      code: 'conflict',
      message: `agent_archived: Voice agent ${id} ("Talker") is archived and talks to nobody; PUT /workflow/${id}/status with "active" restores it`,
    });
    expect(await sessionRow(session.id)).toMatchObject({ status: 'pending', started_at: null });
    await env.DB.prepare(`UPDATE voice_agent SET status = 'active' WHERE id = ?`).bind(id).run();
    await session.start();
    expect((await endedRow(session))['status']).toBe('completed');
  });

  test('that failed before its object existed is completed by a poke', async () => {
    scripted();
    const session = await newSession({ config: { max_turns: 2 } });
    await session.stub().wakeStalled(session.organizationId, session.id);
    expect(await session.stub().snapshot()).toBeNull();
    await env.DB.prepare(`UPDATE test_session SET status = 'running', started_at = 1000 WHERE id = ?`).bind(session.id).run();
    await session.stub().wakeStalled(session.organizationId, session.id);
    expect(await endedRow(session)).toMatchObject({ status: 'completed', started_at: 1000 });
  });
});

describe('a reader', () => {
  test('sees what was said so far, and nothing once the object is gone', async () => {
    const held = new HeldAnswer();
    scripted({ actor: () => held.response() });
    const session = await newSession({ config: { max_turns: 2 } });
    expect(await session.stub().transcript()).toBeNull();
    const { startedAt } = await session.start();
    await hasSaid(session, 1);
    held.say('Half a');
    expect(await session.stub().transcript()).toEqual({
      turns: [{ number: 1, speaker: 'adversary', text: 'Hello there.', at: expect.any(Number), latencyMs: expect.any(Number) }],
      startedAt,
      endedAt: null,
    });
    expect(await session.stub().snapshot()).toMatchObject({ status: 'running', results: null });
    held.finish();
    await endedRow(session);
    expect(await session.stub().transcript()).toBeNull();
    expect(await keptTalk(session)).toMatchObject({ turns: [{}, { text: 'Half a' }], startedAt, endedAt: expect.any(Number) });
  });

  test('can wait for the end, which is in the row by then', async () => {
    const held = new HeldAnswer();
    scripted({ actor: () => held.response() });
    const session = await newSession({ config: { max_turns: 2 } });
    expect(await session.stub().waitForEnd(10)).toBeNull();
    await session.start();
    expect(await session.stub().waitForEnd(20)).toBeNull();
    const end = session.stub().waitForEnd(10_000);
    held.say('There.');
    held.finish();
    expect(await end).toMatchObject({ status: 'completed', results: { turns: 2 } });
    expect((await sessionRow(session.id))['status']).toBe('completed');
  });

  test('finds the conversation in R2 as soon as the row is over', async () => {
    scripted();
    const session = await newSession({ config: { max_turns: 2 } });
    const seen: boolean[] = [];
    await inside(session, (object) => {
      const real = object.env;
      const batch = async (statements: D1PreparedStatement[]) => {
        seen.push((await keptTalk(session)) !== null);
        return real.DB.batch(statements);
      };
      const DB = { prepare: real.DB.prepare.bind(real.DB), batch };
      object.env = new Proxy(real, { get: (target, name) => (name === 'DB' ? DB : Reflect.get(target, name)) });
    });
    await session.start();
    await endedRow(session);
    expect(seen).toEqual([false, true]);
  });
});

describe('a session of a load test', () => {
  const inLoadTest = async (options: Parameters<typeof newSession>[0] = {}, refuses = 0) => {
    const load = fakeLoadTest({ refuses });
    const session = await newSession({ config: { max_turns: 2 }, ...options, loadTest: { id: load.id, index: 3 } });
    const begin = (act = crypto.randomUUID()) => session.stub().startInLoadTest(session.organizationId, session.id, act);
    return { load, session, begin };
  };

  test('tells how it ended', async () => {
    scripted();
    const { load, session, begin } = await inLoadTest();
    expect(await begin()).toEqual({ status: 'running' });
    const { results } = await endedRow(session);
    expect(load.reports).toEqual([
      {
        sessionId: session.id,
        testIndex: 3,
        status: 'completed',
        outcome: 'passed',
        error: null,
        durationMs: Math.round(results.duration_seconds * 1000),
        latenciesMs: [expect.any(Number), expect.any(Number)],
      },
    ]);
    expect(await begin()).toEqual({ status: 'completed' });
  });

  test('uses the config of the load test when it has none of its own', async () => {
    scripted();
    const { load, session, begin } = await inLoadTest();
    await env.DB.prepare(
      `INSERT INTO load_test (id, organization_id, name, status, actor_agent_id, adversary_agent_id, test_count, concurrency, ramp_seconds, config, created_at)
       VALUES (?, ?, 'Many', 'running', 1, 1, 1, 1, 0, '{"max_turns":3}', 1)`,
    )
      .bind(load.id, session.organizationId)
      .run();
    await env.DB.prepare('UPDATE test_session SET config = NULL WHERE id = ?').bind(session.id).run();
    await begin();
    expect((await endedRow(session))['results']).toMatchObject({ turns: 3, max_turns: 3 });
  });

  test('repeats its report until it is accepted, and only then deletes itself', { tags: 'soak' }, async () => {
    scripted();
    const { load, session, begin } = await inLoadTest({}, 2);
    await begin();
    await until(async () => expect((await sessionRow(session.id))['status']).toBe('completed'));
    expect(await session.stub().snapshot()).toMatchObject({ status: 'completed', results: { outcome: 'passed' } });
    await endedRow(session);
    expect(load.reports).toHaveLength(1);
    expect(load.tries).toBe(3);
  });

  test('whose agent is archived fails before the first word', async () => {
    scripted();
    const { load, session, begin } = await inLoadTest({
      adversary: { status: 'archived', definition: simpleAgent('You are the adversary.') },
    });
    expect(await begin()).toEqual({ status: 'failed' });
    const error = expect.stringMatching(/^agent_archived: Voice agent \d+ .* is archived/);
    expect(await endedRow(session)).toMatchObject({
      status: 'failed',
      error,
      started_at: expect.any(Number),
      completed_at: expect.any(Number),
      results: { outcome: 'error', stop_reason: 'error', turns: 0, latency_ms: { p50: null, p95: null, max: null } },
    });
    expect(load.reports).toMatchObject([{ status: 'failed', outcome: 'error', error, latenciesMs: [] }]);
  });

  test('begins once, however often it is begun', async () => {
    const { asked } = scripted();
    const { session, begin } = await inLoadTest();
    await Promise.all([begin('a'), begin('a'), begin('b')]);
    await endedRow(session);
    expect(asked.filter(({ stream }) => stream)).toHaveLength(1);
  });
});

test('a session that fails at every try is given up with an error', async () => {
  scripted();
  const checks = [{ name: 'Greeted', type: 'contains', value: 'hello' }];
  const session = await newSession({ config: { turn_delay_ms: 60_000, max_duration_seconds: 3_600, checks } });
  await session.start();
  await hasSaid(session, 1);
  await inside(
    session,
    (_object, { storage }) => void storage.sql.exec(`UPDATE session SET actor = json_set(actor, '$.definition', 'none')`),
  );
  await evictDurableObject(session.stub() as unknown as DurableObjectStub);
  for (let tries = 1; tries <= 5; tries++) {
    expect((await sessionRow(session.id))['status']).toBe('running');
    await inside(session, (object) => {
      object.clock = () => Date.now() + tries * 100_000;
      return object.alarm();
    });
  }
  expect(await endedRow(session)).toMatchObject({
    status: 'failed',
    error: 'The service failed in this session; start another one',
    results: {
      outcome: 'error',
      stop_reason: 'error',
      turns: 1,
      checks: [{ passed: null, detail: 'it is not known: the session ended in an error' }],
    },
  });
});
