import { evictDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allowedConcurrency } from '../../src/simtest/load-tests/ramp.ts';
import { end, goTo, monday, rowOf, sessionStatuses, settle, standAt, standingLoadTest } from '../simtest/load-tests.ts';
import type { Loaded } from '../simtest/load-tests.ts';
import type { SessionReport } from '../../src/simtest/contract.ts';

const ends: Pick<SessionReport, 'status' | 'outcome'>[] = [
  { status: 'completed', outcome: 'passed' },
  { status: 'completed', outcome: 'failed' },
  { status: 'failed', outcome: 'error' },
  { status: 'stopped', outcome: 'failed' },
];

/** An outside event of a load test. `which` selects one of the sessions that it can concern. */
const happening = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(), how: fc.constantFrom(...ends) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), which: fc.nat(), how: fc.constantFrom(...ends) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.integer({ min: 1, max: 8000 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('poke' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('evict' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rest' as const) }) },
);
const scenario = fc.record({
  count: fc.integer({ min: 1, max: 12 }),
  concurrency: fc.integer({ min: 1, max: 5 }),
  rampSeconds: fc.constantFrom(0, 0, 10, 30),
  happenings: fc.array(happening, { maxLength: 25 }),
});

type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

/** The load test, and beside it how each session ended first. */
interface World {
  load: Loaded;
  now: number;
  ended: Map<number, string>;
}

async function happen(world: World, one: Happening): Promise<void> {
  const { load, ended } = world;
  const pick = (ids: number[], which: number): number | undefined => ids[which % ids.length];
  switch (one.kind) {
    case 'end': {
      const id = pick([...load.sessions.running], one.which);
      if (id === undefined) return;
      ended.set(id, one.how.status);
      return void (await end(load, id, one.how));
    }
    case 'repeat': {
      const id = pick([...ended.keys()], one.which);
      if (id === undefined) return;
      return load
        .stub()
        .sessionEnded({ sessionId: id, testIndex: load.sessionIds.indexOf(id), ...one.how, error: null, durationMs: 1, latenciesMs: [] });
    }
    case 'wait':
      world.now += one.milliseconds;
      return goTo(load, world.now);
    case 'poke':
      return load.stub().wakeStalled(load.organizationId, load.id);
    case 'evict':
      await evictDurableObject(load.stub() as unknown as DurableObjectStub);
      return standAt(load, world.now);
    default:
      return settle(load);
  }
}

/** What holds at every moment. */
async function look({ load, now, ended }: World): Promise<void> {
  expect(load.sessions.running.size).toBeLessThanOrEqual(allowedConcurrency(load, now - monday));
  expect([...load.sessions.begun.values()].every((times) => times === 1)).toBe(true);
  const live = await load.stub().statistics();
  const counted = live?.statistics ?? (await rowOf(load))['statistics'];
  const { pending, running, completed, failed, stopped, total } = counted;
  expect(pending + running + completed + failed + stopped).toBe(total);
  const inStatus = (status: string) => [...ended.values()].filter((one) => one === status).length;
  expect({ completed, failed, stopped, running }).toEqual({
    completed: inStatus('completed'),
    failed: inStatus('failed'),
    stopped: inStatus('stopped'),
    running: load.sessions.running.size,
  });
  if (live) expect(live.statuses!.filter((status) => status === 'pending')).toHaveLength(pending);
}

test('whatever happens, no more sessions run than allowed, the counts are always exact, and every session ends once', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ happenings, ...options }) => {
      const world: World = { load: await standingLoadTest(options), now: monday, ended: new Map() };
      const { load, ended } = world;
      await look(world);
      for (const one of happenings) {
        await happen(world, one);
        await look(world);
      }
      // From now on each ends as soon as it has begun.
      for (let rounds = 0; ended.size < options.count; rounds += 1) {
        expect(rounds).toBeLessThan(100);
        for (const id of load.sessions.running)
          await happen(world, { kind: 'end', which: [...load.sessions.running].indexOf(id), how: ends[0]! });
        await look(world);
        await happen(world, { kind: 'wait', milliseconds: 2000 });
      }
      await settle(load);
      const row = await rowOf(load);
      expect(row).toMatchObject({ status: 'completed', wake_at: null, statistics: { total: options.count, pending: 0, running: 0 } });
      expect(row['statistics'].achieved_concurrency_max).toBe(load.sessions.maxRunning);
      expect(load.sessions.maxRunning).toBeLessThanOrEqual(options.concurrency);
      expect(await sessionStatuses(load)).toEqual(load.sessionIds.map((id) => ended.get(id)));
    }),
    { numRuns: 15 },
  );
}, 60_000);
