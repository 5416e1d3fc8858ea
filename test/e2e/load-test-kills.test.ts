import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from './kill-evidence.ts';
import { KillLog } from './kill-log.ts';
import { KillableService } from './killable-service.ts';
import { LoadTestSampler } from './load-test-sampler.ts';
import { narration } from './narration.ts';
import { seededRandom } from './seeded-random.ts';
import { tickOften, until } from './service-watch.ts';
import { killSeed, shortTimeouts } from './soak-service.ts';
import { AgentTests } from './test-agents.ts';

const sessions = 1000;
const concurrency = 50;
const kills = 3;
const config = {
  first_speaker: 'actor',
  max_turns: 4,
  turn_delay_ms: 100,
  checks: [
    { name: 'asks for a day', type: 'reached_node', node: 'Booking' },
    { name: 'hears the day', type: 'contains', value: 'Tuesday', speaker: 'adversary' },
  ],
};

const seed = killSeed();
const random = seededRandom(seed);
const say = narration();
let service: KillableService;
let tests: AgentTests;

beforeAll(async () => {
  say(`KILL_SEED=${seed} kills after the same number of sessions again`);
  service = await KillableService.create(shortTimeouts);
  tests = new AgentTests(service);
  await tests.prepare();
});
afterAll(() => service?.remove());

const sessionsByStatus = (stateDirectory: string): Map<string, number> =>
  new Map(
    rowsOf(stateDirectory, 'SELECT status, count(*) AS count FROM test_session GROUP BY 1').map(({ status, count }) => [status, count]),
  );

/** The number of requests that the simulators have received so far. They number all requests. */
async function requestsSoFar(): Promise<number> {
  await fetch(`${service.simulators}/receiver/number`);
  const response = await fetch(`${service.simulators}/__sim/requests?provider=receiver`);
  const { requests } = (await response.json()) as { requests: { id: number }[] };
  return requests.at(-1)!.id;
}

/** What the agents say in one session without a kill, and how many model requests the session makes. */
async function referenceSession(): Promise<{ said: object[]; requests: number }> {
  const before = await requestsSoFar();
  const id = await tests.startSession(config);
  await until(service, 'the one session has ended', 30, async () => (await tests.session(id)).status !== 'running');
  const { results, error } = await tests.session(id);
  expect({ error, outcome: results.outcome, stop_reason: results.stop_reason, turns: results.turns }).toEqual({
    error: null,
    outcome: 'passed',
    stop_reason: 'max_turns',
    turns: config.max_turns,
  });
  return { said: await tests.transcript(id), requests: (await requestsSoFar()) - before - 1 };
}

async function killOften(sampler: LoadTestSampler, killing: KillLog): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    const after = Math.round(((kill + random()) / kills) * sessions * 0.8);
    const thenMs = random() * 500;
    await until(service, `${after} sessions have ended`, 200, async () => (sampler.last?.completed ?? 0) >= after);
    await sleep(thenMs);
    expect(sampler.last.pending, 'sessions left before a kill').toBeGreaterThan(0);
    sampler.isDown = true;
    await killing.killAndStart();
    sampler.isDown = false;
    expect(sampler.faults).toEqual([]);
  }
}

/** Every session's talk, a few at a time. */
async function everyTranscript(ids: number[]): Promise<Map<number, object[]>> {
  const said = new Map<number, object[]>();
  const waiting = ids.values();
  const reader = async () => {
    for (const id of waiting) said.set(id, await tests.transcript(id));
  };
  await Promise.all(Array.from({ length: 10 }, reader));
  return said;
}

const average = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const percentile = (values: number[], rank: number): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * rank) - 1]!;

test(
  'a load test killed with -9 at random moments ends every session once, with nothing said twice, and its sums are exact at any moment',
  { timeout: 600_000 },
  async () => {
    const stopTicking = tickOften(service);
    const killing = new KillLog(service, say, sessionsByStatus);
    const reference = await referenceSession();
    const before = await requestsSoFar();
    const startedAt = Date.now();
    const id = await tests.startLoadTest(sessions, concurrency, config);
    const sampler = new LoadTestSampler(service, id, { total: sessions, concurrency });
    await killOften(sampler, killing);
    await until(service, 'the load test has ended', 200, async () => sampler.last.status !== 'running');
    const tookMs = Date.now() - startedAt;
    await sampler.stop();
    await stopTicking();

    const repeated = (await requestsSoFar()) - before - 1 - sessions * reference.requests;
    const downMs = killing.downtimes.reduce((sum, { from, to }) => sum + to - from, 0);
    const { achieved_concurrency_average: reportedAverage, achieved_concurrency_max: reportedMax, ...statistics } = sampler.last;
    say(
      `${sessions} sessions in ${(tookMs / 1000).toFixed(1)} s, ${(downMs / 1000).toFixed(1)} s of them down, ${sampler.samples} samples`,
    );
    say(
      `by their rows ${average(sampler.running).toFixed(1)} of ${concurrency} ran at once while sessions were left; told: ${reportedAverage}, at most ${reportedMax}`,
    );
    say(
      `statistics came within ${percentile(sampler.answerMs, 0.5).toFixed(0)} ms (p50), ${percentile(sampler.answerMs, 0.95).toFixed(0)} ms (p95)`,
    );
    say(`${repeated} requests to the language model more than ${sessions} times ${reference.requests}`);

    expect(sampler.faults).toEqual([]);
    expect(statistics).toMatchObject({ status: 'completed', completed: sessions, passed: sessions, failed: 0, stopped: 0, pass_rate: 1 });
    expect(statistics.errors).toEqual([]);
    expect(reportedMax).toBe(concurrency);
    expect(await tests.read('/simtest/active-tests')).toEqual({ count: 0, sessions: [] });
    expect(rowsOf(service.stateDirectory, 'SELECT id FROM test_session WHERE wake_at IS NOT NULL')).toEqual([]);
    // A turn is two requests at the most, and a kill repeats the one that is under way.
    expect(repeated, 'requests that kills broke off').toBeGreaterThan(0);
    expect(repeated).toBeLessThanOrEqual(kills * concurrency * 2);
    const said = await everyTranscript(statistics.sessions.map((session: any) => session.id));
    const others = [...said].filter(([, turns]) => JSON.stringify(turns) !== JSON.stringify(reference.said));
    expect(others, 'sessions in which something else was said than where nobody disturbed').toEqual([]);
    say('every talk is as one that nobody disturbed');
  },
);
