// @module-tag soak
import { evictDurableObject } from 'cloudflare:test';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { HeldAnswer } from '../support/calls.ts';
import { crashAtCall, evictWhenReached, type CrashPoint, type CrashWatch } from '../support/crashing-object.ts';
import {
  endedRow,
  fakeLoadTest,
  inside,
  isJudge,
  keptTalk,
  linesOf,
  newSession,
  orderTool,
  scripted,
  simpleAgent,
  type Script,
} from '../simtest/sessions.ts';

afterAll(() => vi.restoreAllMocks());

type Watchable = Parameters<typeof crashAtCall>[0];

/** Repeats a call to an object when the connection breaks, as its callers do. */
async function again<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

const lines = [
  'adversary: Hello there, @.',
  'actor: Order seven is on its way.',
  'adversary: I am her, number 1.',
  'actor: I am him, number 2.',
  'adversary: I am her, number 2.',
];

/** What the model answers in one session; the same question gets the same answer. */
class Model {
  /** How often each question was answered. */
  readonly answered = new Map<string, number>();
  watched: <T>(call: () => Promise<T>) => Promise<T> = (call) => call();

  answer(body: Record<string, any>, script: () => Script): Promise<Script> {
    return this.watched(async () => {
      const question = JSON.stringify(body['messages']);
      this.answered.set(question, (this.answered.get(question) ?? 0) + 1);
      return script();
    });
  }
}

const models = new Map<string, Model>();
const modelOf = (body: object): Model => models.get(/key-\w+/.exec(JSON.stringify(body))![0])!;

function actorSays(messages: Record<string, any>[], turn: number): Script {
  if (messages.at(-1)!['role'] === 'tool') return 'Order seven is on its way.';
  return turn === 0 ? { calls: [[orderTool.name, { number: 7 }]] } : `I am him, number ${turn}.`;
}

/** A whole session of a load test: a tool is called, both talks are concluded, one statement is judged, the load test is told. */
async function wholeSession(n: number, moment: CrashPoint): Promise<CrashWatch> {
  const key = `key-${n}${moment}`;
  const model = new Model();
  models.set(key, model);
  const load = fakeLoadTest();
  const session = await newSession({
    actor: { definition: simpleAgent(`You are the actor, ${key}.`, { tools: [orderTool] }) },
    adversary: { definition: simpleAgent(`You are the adversary, ${key}.`, { greeting: `Hello there, ${key}.` }) },
    config: {
      max_turns: 5,
      checks: [
        { name: 'Looked', type: 'tool_called', tool: orderTool.name },
        { name: 'Fair', type: 'judge', criteria: 'Both were fair' },
      ],
    },
    loadTest: { id: load.id, index: 4 },
  });
  const watch = await crashAtCall(session.stub() as unknown as Watchable, n, moment);
  model.watched = (call) => watch.watched(call);
  load.watched = (call) => watch.watched(call);
  const evicted = moment === 'during' ? evictWhenReached(watch, session.stub() as unknown as Watchable) : undefined;
  await again(() => session.stub().startInLoadTest(session.organizationId, session.id, 'act'));
  await evicted;
  const row = await endedRow(session);
  expect(linesOf(await keptTalk(session))).toEqual(lines.map((line) => line.replace('@', key)));
  expect(row).toMatchObject({ status: 'completed', error: null });
  expect(row['results']).toMatchObject({
    outcome: 'passed',
    stop_reason: 'max_turns',
    turns: 5,
    checks: [{ passed: true }, { passed: true }],
    actor: { disposition: 'resolved' },
    adversary: { disposition: 'resolved' },
  });
  // Only the work under way is repeated. Both talks are concluded at the same time, so that may be two requests.
  const times = [...model.answered.values()];
  expect(Math.max(...times)).toBeLessThanOrEqual(2);
  expect(times.filter((count) => count > 1).length).toBeLessThanOrEqual(2);
  expect(load.reports.length).toBeGreaterThanOrEqual(1);
  for (const report of load.reports)
    expect(report).toMatchObject({ sessionId: session.id, testIndex: 4, status: 'completed', outcome: 'passed', error: null });
  return watch;
}

/** More than a whole session needs, so that no call is left out. */
const deaths = 14;
const moments = ['before', 'after', 'during'] as const;
const numbers = Array.from({ length: deaths }, (_, index) => index + 1);

describe('a session whose object dies', () => {
  const sessions = new Map<number, Promise<CrashWatch[]>>();

  beforeAll(() => {
    scripted({
      actor: (body, turn) => modelOf(body).answer(body, () => actorSays(body['messages'], turn)),
      adversary: (body, turn) => modelOf(body).answer(body, () => `I am her, number ${turn}.`),
      complete: (body) =>
        modelOf(body).answer(
          body,
          () =>
            (isJudge(body)
              ? { verdict: 'yes', reason: 'They were.' }
              : { disposition: 'resolved', summary: 's', sentiment: 'neutral', tags: [], do_not_call_quote: null }) as unknown as Script,
        ),
    });
    // All at once, since the platform takes its time to fire an alarm again.
    for (const n of numbers) {
      const all = Promise.all(moments.map((moment) => wholeSession(n, moment)));
      all.catch(() => {});
      sessions.set(n, all);
    }
  });
  afterAll(() => vi.restoreAllMocks());

  test.for(numbers)('at its call %i to the outside goes on where it was', async (n) => {
    const died = (await sessions.get(n)!).map((watch) => watch.died);
    if (n === 1) expect(died).toEqual([true, true, true]);
    if (n === deaths) expect(died).toEqual([false, false, false]);
  });
});

describe('a session whose object dies alone', () => {
  afterEach(() => vi.restoreAllMocks());

  test('between two turns goes on with the next one', async () => {
    scripted();
    const session = await newSession({ config: { max_turns: 3, turn_delay_ms: 200 } });
    await session.start();
    await vi.waitFor(async () => expect((await session.stub().transcript())!.turns).toHaveLength(1));
    await evictDurableObject(session.stub() as unknown as DurableObjectStub);
    expect((await session.stub().transcript())!.turns).toHaveLength(1);
    expect((await endedRow(session))['results']).toMatchObject({ stop_reason: 'max_turns', turns: 3 });
    expect(linesOf(await keptTalk(session))).toEqual([
      'adversary: Hello there.',
      'actor: I am him, number 0.',
      'adversary: I am her, number 1.',
    ]);
  });

  test("in a turn does not count the time of the crash as the agent's latency", async () => {
    let asked = 0;
    const held = new HeldAnswer();
    scripted({ actor: () => (++asked > 1 ? 'Here I am.' : held.response()) });
    const session = await newSession({ config: { max_turns: 2 } });
    await session.start();
    await vi.waitFor(() => expect(asked).toBe(1));
    const { startedAt } = (await session.stub().transcript())!;
    await inside(session, (_object, state) => state.abort('it dies here')).catch(() => undefined);
    await vi.waitFor(() => expect(Date.now() - startedAt).toBeGreaterThan(2000), { timeout: 5000 });
    const row = await endedRow(session);
    expect(row['results']).toMatchObject({ turns: 2, stop_reason: 'max_turns' });
    expect(row['results']['latency_ms']['max']).toBeLessThan(2000);
  });
});

test('in a stop completes the stop when it is repeated', async () => {
  scripted();
  const stopped = async (n: number, moment: CrashPoint) => {
    const session = await newSession({ config: { turn_delay_ms: 60_000 } });
    await session.start();
    await vi.waitFor(async () => expect((await session.stub().transcript())!.turns).toHaveLength(1));
    const watch = await crashAtCall(session.stub() as unknown as Watchable, n, moment);
    const answer = await again(() => session.stub().stop('act')).catch((error: { code?: string }) => error.code);
    // The object may be gone when the stop is repeated; then the row has the result.
    expect(answer === 'conflict' || (answer as { status: string }).status === 'stopped').toBe(true);
    expect(await endedRow(session)).toMatchObject({ status: 'stopped', results: { stop_reason: 'stopped', turns: 1 } });
    expect(linesOf(await keptTalk(session))).toEqual(['adversary: Hello there.']);
    return watch.died;
  };
  for (const moment of ['before', 'after'] as const)
    expect(await Promise.all([1, 2, 3].map((n) => stopped(n, moment)))).toEqual([true, true, false]);
});
