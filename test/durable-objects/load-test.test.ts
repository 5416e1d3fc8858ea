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

describe('how many run', () => {
  test('as many as may begin at once, in the order of their indexes', async () => {
    const load = await standingLoadTest({ count: 5, concurrency: 2 });
    expect([...load.sessions.begun]).toEqual(load.sessionIds.slice(0, 2).map((id) => [id, 1]));
    expect(await statisticsOf(load)).toMatchObject({ status: 'running', total: 5, pending: 3, running: 2, achieved_concurrency_max: 2 });
  });

  test('when one ends the next begins, and never are there more', async () => {
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

  test('several that end together are all followed', async () => {
    const load = await standingLoadTest({ count: 9, concurrency: 3 });
    await Promise.all(runningIds(load).map((id) => end(load, id)));
    await settle(load);
    expect(runningIds(load)).toEqual(load.sessionIds.slice(3, 6));
  });

  test('a ramp lets them begin one after the other, by itself', async () => {
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

  test('within a ramp an end makes room for one only as far as the ramp has come', async () => {
    const load = await standingLoadTest({ count: 10, concurrency: 3, rampSeconds: 20 });
    await end(load, runningIds(load)[0]!);
    await settle(load);
    expect(runningIds(load)).toEqual([load.sessionIds[1]]);
    await goTo(load, monday + 10_000);
    expect(runningIds(load)).toEqual(load.sessionIds.slice(1, 3));
  });
});

describe('reports', () => {
  test('one that comes again counts once, also with another word', async () => {
    const load = await standingLoadTest({ count: 5, concurrency: 2 });
    const [first] = runningIds(load);
    const report = await end(load, first!);
    await load.stub().sessionEnded(report);
    await load.stub().sessionEnded({ ...report, status: 'failed', outcome: 'error' });
    await settle(load);
    expect(await statisticsOf(load)).toMatchObject({ completed: 1, failed: 0, running: 2, pending: 2 });
    expect(runningIds(load)).toEqual(load.sessionIds.slice(1, 3));
  });

  test('one of a session that is not of this load test counts for nothing', async () => {
    const load = await standingLoadTest({ count: 3, concurrency: 2 });
    await load.stub().sessionEnded(reportOf(load, load.sessionIds[0]!, { sessionId: 1 + load.sessionIds[2]! }));
    await load.stub().sessionEnded(reportOf(load, load.sessionIds[0]!, { testIndex: 7 }));
    expect(await statisticsOf(load)).toMatchObject({ running: 2, pending: 1, completed: 0 });
  });

  test('one that comes before its session was known to have begun counts', async () => {
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

  test('what they tell is in the statistics while the load test runs', async () => {
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

describe('its end', () => {
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

  test('is final: neither a late report nor a poke nor another begin revives it', async () => {
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
  test('ends what has not begun, stops what runs, and is told by the row before it returns', async () => {
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

  test('lets nothing begin any more while stopped sessions end', async () => {
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

  test('is repeated by its act alone', async () => {
    const load = await standingLoadTest({ count: 2, concurrency: 1 });
    await load.stub().stop('act');
    await load.stub().stop('act');
    expect(await refusal(load.stub().stop('another'))).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/stopped.*running/),
    });
  });

  test('reaches a session whose start broke off', async () => {
    const load = await standingLoadTest({ count: 1 });
    const [id] = load.sessionIds as [number];
    load.sessions.running.delete(id);
    load.sessions.lost.add(id);
    load.sessions.whenStopped = async () => void (await end(load, id, { status: 'stopped' }));
    await load.stub().stop('act');
    await settle(load);
    expect((await rowOf(load))['statistics']).toMatchObject({ stopped: 1 });
  });

  test('that comes with the last end is none the worse for it', async () => {
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

  test('of a session that may or may not have begun ends it either way', async () => {
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

describe('what was lost', () => {
  test('a load test whose object was never made is begun by the minute tick', async () => {
    const load = await newLoadTest({ count: 3, concurrency: 2 });
    await tickAt(Date.now() + 600_000);
    await expect.poll(() => load.sessions.begun.size).toBe(2);
    for (const id of load.sessionIds.slice(0, 2)) await end(load, id);
    await expect.poll(() => load.sessions.begun.size).toBe(3);
    await end(load, load.sessionIds[2]!);
    await expect.poll(() => load.stub().statistics()).toBeNull();
  });

  test('a session that did not answer is told again, and holds its place meanwhile', async () => {
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

  test('the object lives on through an eviction', async () => {
    const load = await standingLoadTest({ count: 3, concurrency: 2 });
    await evictDurableObject(load.stub() as unknown as DurableObjectStub);
    await standAt(load, monday);
    await end(load, load.sessionIds[0]!);
    await settle(load);
    expect(await statisticsOf(load)).toMatchObject({ completed: 1, running: 2, pending: 0 });
    expect([...load.sessions.begun.values()]).toEqual([1, 1, 1]);
  });

  test('a session that is silent beyond its time is poked, and its row tells how it ended', async () => {
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

  test('a session that cannot be brought to begin is given up, and the load test ends without it', async () => {
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

  test('an end that could not be written is written when it is poked', async () => {
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

  test('its row says when it is to be looked after, each minute anew', async () => {
    const load = await standingLoadTest({ count: 1 });
    const { wake_at: first } = await rowOf(load);
    expect(first).toBeGreaterThan(monday);
    await goTo(load, monday + 60_000);
    expect((await rowOf(load)).wake_at).toBe(first + 60_000);
  });
});

test('a word of the object that comes late changes nothing in a row that has a later one', async () => {
  const load = await standingLoadTest({ count: 1 });
  await end(load, load.sessionIds[0]!);
  await settle(load);
  const row = await rowOf(load);
  const late = { status: 'running' as const, statistics: null, completedAt: null, wakeAt: 1, revision: row['revision'] - 1 };
  await projectLoadTest(shard(env, 0), load.organizationId, load.id, late);
  expect(await rowOf(load)).toEqual(row);
});

test('begin is repeatable: two at once make one load test', async () => {
  const load = await newLoadTest({ count: 3, concurrency: 2 });
  await standAt(load, monday);
  await Promise.all([1, 2, 3].map(() => load.stub().begin(load.organizationId, load.id)));
  await settle(load);
  expect([...load.sessions.begun]).toEqual(load.sessionIds.slice(0, 2).map((id) => [id, 1]));
});

test('there is no object of a load test of another organization, nor of one that is not there', async () => {
  const load = await newLoadTest();
  for (const name of [`${load.organizationId}/999999999`, `${load.organizationId + 1_000_000}/${load.id}`]) {
    const [organization, id] = name.split('/').map(Number) as [number, number];
    const stranger = env.LOAD_TEST.getByName(name);
    await stranger.begin(organization, id);
    expect(await stranger.statistics()).toBeNull();
  }
  expect(load.sessions.begun.size).toBe(0);
});
