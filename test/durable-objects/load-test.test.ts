import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { shard } from '../../src/database/shards.ts';
import { projectLoadTest } from '../../src/simtest/load-tests/object-store.ts';
import {
  beforeCalls,
  end,
  goTo,
  inside,
  monday,
  newLoadTest,
  refusal,
  reportOf,
  rowOf,
  sessionStatuses,
  settle,
  standAt,
  standingLoadTest,
} from '../simtest/load-tests.ts';
import type { Loaded } from '../simtest/load-tests.ts';
import { tickAt } from '../support/background.ts';

const statisticsOf = async (load: Loaded) => (await load.stub().statistics())!.statistics;

const runningIds = (load: Loaded): number[] => [...load.sessions.running];

describe('the running sessions', () => {
  test('begin at once up to the concurrency, in the order of their indexes', async () => {
    const load = await standingLoadTest({ count: 5, concurrency: 2 });
    expect([...load.sessions.begun]).toEqual(load.sessionIds.slice(0, 2).map((id) => [id, 1]));
    expect(await statisticsOf(load)).toMatchObject({ status: 'running', total: 5, pending: 3, running: 2, achieved_concurrency_max: 2 });
  });

  test('are replaced one by one as they end, and never exceed the concurrency', async () => {
    const load = await standingLoadTest({ count: 5, concurrency: 2 });
    for (let ended = 1; ended <= 5; ended += 1) {
      await end(load, runningIds(load)[0]!);
      if (ended < 5) expect(await statisticsOf(load)).toMatchObject({ completed: ended, total: 5 });
      await settle(load);
      expect(runningIds(load)).toHaveLength(Math.min(2, 5 - ended));
    }
    expect(load.sessions.maxRunning).toBe(2);
    expect([...load.sessions.begun.values()]).toEqual([1, 1, 1, 1, 1]);
  });

  test('are all replaced when several end at once', async () => {
    const load = await standingLoadTest({ count: 9, concurrency: 3 });
    await Promise.all(runningIds(load).map((id) => end(load, id)));
    await settle(load);
    expect(runningIds(load)).toEqual(load.sessionIds.slice(3, 6));
  });

  test('begin one after the other during a ramp, without a request', async () => {
    const load = await standingLoadTest({ count: 10, concurrency: 5, rampSeconds: 40 });
    const at = async (seconds: number) => {
      await goTo(load, monday + seconds * 1000);
      return load.sessions.running.size;
    };
    expect([await at(0), await at(9.999), await at(10), await at(20), await at(30), await at(40), await at(50)]).toEqual([
      1, 1, 2, 3, 4, 5, 5,
    ]);
    expect(await statisticsOf(load)).toMatchObject({ achieved_concurrency_max: 5 });
  });

  test('are replaced during a ramp only as far as the ramp has come', async () => {
    const load = await standingLoadTest({ count: 10, concurrency: 3, rampSeconds: 20 });
    await end(load, runningIds(load)[0]!);
    await settle(load);
    expect(runningIds(load)).toEqual([load.sessionIds[1]]);
    await goTo(load, monday + 10_000);
    expect(runningIds(load)).toEqual(load.sessionIds.slice(1, 3));
  });
});

describe('a report', () => {
  test('that is repeated counts once, even with another result', async () => {
    const load = await standingLoadTest({ count: 5, concurrency: 2 });
    const [first] = runningIds(load);
    const report = await end(load, first!);
    await load.stub().sessionEnded(report);
    await load.stub().sessionEnded({ ...report, status: 'failed', outcome: 'error' });
    await settle(load);
    expect(await statisticsOf(load)).toMatchObject({ completed: 1, failed: 0, running: 2, pending: 2 });
    expect(runningIds(load)).toEqual(load.sessionIds.slice(1, 3));
  });

  test('of a session of another load test does not count', async () => {
    const load = await standingLoadTest({ count: 3, concurrency: 2 });
    await load.stub().sessionEnded(reportOf(load, load.sessionIds[0]!, { sessionId: 1 + load.sessionIds[2]! }));
    await load.stub().sessionEnded(reportOf(load, load.sessionIds[0]!, { testIndex: 7 }));
    expect(await statisticsOf(load)).toMatchObject({ running: 2, pending: 1, completed: 0 });
  });

  test("that comes before the answer to its session's start counts", async () => {
    const load = await newLoadTest({ count: 2, concurrency: 1 });
    await standAt(load, monday);
    load.sessions.watched = async (call) => {
      const answer = await call();
      for (const id of load.sessions.running) await end(load, id);
      return answer;
    };
    await load.stub().begin(load.organizationId, load.id);
    for (let later = 0; later < 3; later += 1) await goTo(load, monday + later);
    expect(await rowOf(load)).toMatchObject({ status: 'completed', statistics: { completed: 2, achieved_concurrency_max: 1 } });
  });

  test('is part of the statistics while the load test runs', async () => {
    const load = await standingLoadTest({ count: 4, concurrency: 4 });
    const [passed, failed, broken] = load.sessionIds;
    await end(load, passed!, { durationMs: 2000, latenciesMs: [100, 300] });
    await end(load, failed!, { outcome: 'failed', durationMs: 4000, latenciesMs: [200] });
    await end(load, broken!, { status: 'failed', outcome: 'error', error: 'quota exceeded', latenciesMs: [] });
    expect(await load.stub().statistics()).toMatchObject({
      statistics: {
        running: 1,
        completed: 2,
        failed: 1,
        passed: 1,
        pass_rate: 0.5,
        duration_seconds: { p50: 2, p95: 4 },
        turn_latency_ms: { p50: 200, p99: 300 },
        errors: [{ error: 'quota exceeded', count: 1 }],
      },
      statuses: ['completed', 'completed', 'failed', 'running'],
    });
  });
});

describe('the end of a load test', () => {
  test('comes with the last session: the row has the statistics, and the object is gone', async () => {
    const load = await standingLoadTest({ count: 3, concurrency: 2 });
    for (const id of load.sessionIds) {
      await goTo(load, monday + 10_000);
      await end(load, id);
      await settle(load);
    }
    const row = await rowOf(load);
    expect(row).toMatchObject({ status: 'completed', completed_at: monday + 10_000, wake_at: null });
    expect(row.statistics).toMatchObject({
      status: 'completed',
      total: 3,
      completed: 3,
      passed: 3,
      pass_rate: 1,
      achieved_concurrency_max: 2,
    });
    expect(await load.stub().statistics()).toBeNull();
    await inside(load, (_object, state) => expect(state.storage.sql.exec('SELECT name FROM sqlite_master').toArray()).toEqual([]));
  });

  test('is final: a late report, a poke or another begin changes nothing', async () => {
    const load = await standingLoadTest({ count: 1 });
    const report = await end(load, load.sessionIds[0]!);
    await settle(load);
    const row = await rowOf(load);
    await load.stub().sessionEnded(report);
    await load.stub().wakeStalled(load.organizationId, load.id);
    await load.stub().begin(load.organizationId, load.id);
    expect(await load.stub().statistics()).toBeNull();
    expect(await refusal(load.stub().stop('late'))).toMatchObject({ code: 'conflict' });
    expect(await rowOf(load)).toEqual(row);
  });
});

describe('a stop', () => {
  test('ends pending sessions, stops running ones, and is in the row before it returns', async () => {
    const load = await standingLoadTest({ count: 6, concurrency: 2 });
    await end(load, load.sessionIds[0]!);
    await settle(load);
    load.sessions.whenStopped = async (id) => void (await end(load, id, { status: 'stopped', outcome: 'failed' }));
    await load.stub().stop('act');
    expect(await rowOf(load)).toMatchObject({ status: 'stopped' });
    expect(new Set(load.sessions.stopped)).toEqual(new Set(load.sessionIds.slice(1, 3)));
    await settle(load);
    const { statistics } = await rowOf(load);
    expect(statistics).toMatchObject({ status: 'stopped', total: 6, completed: 1, stopped: 5, running: 0, pending: 0, pass_rate: 1 });
    expect(await sessionStatuses(load)).toEqual(['completed', 'stopped', 'stopped', 'stopped', 'stopped', 'stopped']);
    expect([...load.sessions.begun.keys()]).toEqual(load.sessionIds.slice(0, 3));
  });

  test('lets no session begin while stopped sessions end', async () => {
    const load = await standingLoadTest({ count: 6, concurrency: 2 });
    await load.stub().stop('act');
    expect(await statisticsOf(load)).toMatchObject({ status: 'stopped', pending: 0, running: 2, stopped: 4 });
    await end(load, load.sessionIds[0]!, { status: 'stopped' });
    await goTo(load, monday + 60_000);
    expect(load.sessions.begun.size).toBe(2);
    // Who has not told its end is stopped once more.
    expect(load.sessions.stopped.filter((id) => id === load.sessionIds[1]).length).toBeGreaterThan(1);
    await end(load, load.sessionIds[1]!, { status: 'completed', outcome: 'passed' });
    await settle(load);
    expect((await rowOf(load)).statistics).toMatchObject({ status: 'stopped', stopped: 5, completed: 1 });
  });

  test('can be repeated under the same key only', async () => {
    const load = await standingLoadTest({ count: 2, concurrency: 1 });
    await load.stub().stop('act');
    await load.stub().stop('act');
    expect(await refusal(load.stub().stop('another'))).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/stopped.*running/),
    });
  });

  test('reaches a session whose start failed half-way', async () => {
    const load = await standingLoadTest({ count: 1 });
    const [id] = load.sessionIds as [number];
    load.sessions.running.delete(id);
    load.sessions.lost.add(id);
    load.sessions.whenStopped = async () => void (await end(load, id, { status: 'stopped' }));
    await load.stub().stop('act');
    await settle(load);
    expect((await rowOf(load))['statistics']).toMatchObject({ stopped: 1 });
  });

  test('that comes together with the last end leaves the load test stopped and its results complete', async () => {
    const load = await standingLoadTest({ count: 2, concurrency: 1 });
    let isOver = false;
    await beforeCalls(load, async ([sql]) => {
      if (isOver || !sql!.includes('UPDATE test_session')) return;
      isOver = true;
      for (const id of load.sessionIds) await end(load, id);
      await settle(load);
    });
    await load.stub().stop('act');
    expect(await rowOf(load)).toMatchObject({ status: 'stopped', statistics: { completed: 2 } });
    expect(await load.stub().statistics()).toBeNull();
  });

  test('ends a session that may or may not have begun', async () => {
    const load = await newLoadTest({ count: 2, concurrency: 2 });
    await standAt(load, monday);
    load.sessions.isDown = true;
    await load.stub().begin(load.organizationId, load.id);
    await settle(load);
    load.sessions.isDown = false;
    // The first did begin, and its answer was lost; the second never did.
    await load.sessions.stubOf(load.sessionIds[0]!).startInLoadTest();
    load.sessions.whenStopped = async (id) => void (await end(load, id, { status: 'stopped' }));
    await load.stub().stop('act');
    await settle(load);
    expect((await rowOf(load)).statistics).toMatchObject({ stopped: 2, running: 0, pending: 0 });
  });
});

describe('after a loss', () => {
  test('a load test whose object was never made is begun by the minute tick', async () => {
    const load = await newLoadTest({ count: 3, concurrency: 2 });
    await tickAt(Date.now() + 600_000);
    await expect.poll(() => load.sessions.begun.size).toBe(2);
    for (const id of load.sessionIds.slice(0, 2)) await end(load, id);
    await expect.poll(() => load.sessions.begun.size).toBe(3);
    await end(load, load.sessionIds[2]!);
    await expect.poll(() => load.stub().statistics()).toBeNull();
  });

  test('a session that did not answer is started again, and keeps its slot meanwhile', async () => {
    const load = await newLoadTest({ count: 4, concurrency: 2 });
    await standAt(load, monday);
    load.sessions.isDown = true;
    await load.stub().begin(load.organizationId, load.id);
    await settle(load);
    expect(await statisticsOf(load)).toMatchObject({ running: 2, pending: 2 });
    load.sessions.isDown = false;
    await goTo(load, monday + 10_000);
    expect([...load.sessions.begun.keys()]).toEqual(load.sessionIds.slice(0, 2));
    expect(await statisticsOf(load)).toMatchObject({ running: 2, pending: 2 });
  });

  test('the load test goes on after an eviction', async () => {
    const load = await standingLoadTest({ count: 3, concurrency: 2 });
    await evictDurableObject(load.stub() as unknown as DurableObjectStub);
    await standAt(load, monday);
    await end(load, load.sessionIds[0]!);
    await settle(load);
    expect(await statisticsOf(load)).toMatchObject({ completed: 1, running: 2, pending: 0 });
    expect([...load.sessions.begun.values()]).toEqual([1, 1, 1]);
  });

  test('a session that is silent for too long is poked, and its row tells how it ended', async () => {
    const load = await standingLoadTest({ count: 3, concurrency: 2 });
    const [silent, slow] = load.sessionIds;
    await load.sessions.end(silent!, 'completed', 'passed');
    await goTo(load, monday + 60_000);
    expect(load.sessions.woken).toEqual([]);
    await goTo(load, monday + 600_000);
    expect(new Set(load.sessions.woken)).toEqual(new Set([silent, slow]));
    expect(await statisticsOf(load)).toMatchObject({ completed: 1, passed: 1, running: 2 });
    expect(runningIds(load)).toEqual([slow, load.sessionIds[2]]);
  });

  test('a session that cannot be started is given up, and the load test ends without it', async () => {
    const load = await newLoadTest({ count: 1 });
    await standAt(load, monday);
    load.sessions.isDown = true;
    await load.stub().begin(load.organizationId, load.id);
    await settle(load);
    await goTo(load, monday + 600_000);
    await settle(load);
    expect((await rowOf(load)).statistics).toMatchObject({ failed: 1, errors: [{ error: 'The session could not be started', count: 1 }] });
    expect(await sessionStatuses(load)).toEqual(['failed']);
  });

  test('an end that could not be written is written after a poke', async () => {
    const load = await standingLoadTest({ count: 1 });
    let isDown = true;
    await beforeCalls(load, async () => {
      if (isDown) throw new Error('D1 is down');
    });
    await end(load, load.sessionIds[0]!);
    await settle(load);
    expect((await rowOf(load))['status']).toBe('running');
    isDown = false;
    await load.stub().wakeStalled(load.organizationId, load.id);
    await settle(load);
    expect(await rowOf(load)).toMatchObject({ status: 'completed', wake_at: null });
    expect(await load.stub().statistics()).toBeNull();
  });

  test('its row has the time at which the tick checks it, a minute later after each minute', async () => {
    const load = await standingLoadTest({ count: 1 });
    const { wake_at: first } = await rowOf(load);
    expect(first).toBeGreaterThan(monday);
    await goTo(load, monday + 60_000);
    expect((await rowOf(load)).wake_at).toBe(first + 60_000);
  });
});

test('a late projection changes nothing in a row with a higher revision', async () => {
  const load = await standingLoadTest({ count: 1 });
  await end(load, load.sessionIds[0]!);
  await settle(load);
  const row = await rowOf(load);
  const late = { status: 'running' as const, statistics: null, completedAt: null, wakeAt: 1, revision: row['revision'] - 1 };
  await projectLoadTest(shard(env, 0), load.organizationId, load.id, late);
  expect(await rowOf(load)).toEqual(row);
});

test('repeated begins at once make one load test', async () => {
  const load = await newLoadTest({ count: 3, concurrency: 2 });
  await standAt(load, monday);
  await Promise.all([1, 2, 3].map(() => load.stub().begin(load.organizationId, load.id)));
  await settle(load);
  expect([...load.sessions.begun]).toEqual(load.sessionIds.slice(0, 2).map((id) => [id, 1]));
});

test("an object with the id of another organization's load test, or of none, does nothing", async () => {
  const load = await newLoadTest();
  for (const name of [`${load.organizationId}/999999999`, `${load.organizationId + 1_000_000}/${load.id}`]) {
    const [organization, id] = name.split('/').map(Number) as [number, number];
    const stranger = env.LOAD_TEST.getByName(name);
    await stranger.begin(organization, id);
    expect(await stranger.statistics()).toBeNull();
  }
  expect(load.sessions.begun.size).toBe(0);
});
