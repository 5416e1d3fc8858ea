// @module-tag soak
import { describe, expect, test } from 'vitest';
import { end, inside, newLoadTest, rowOf, sessionStatuses } from '../simtest/load-tests.ts';
import type { Loaded } from '../simtest/load-tests.ts';
import { crashAtCall, type CrashPoint } from '../support/crashing-object.ts';

type Watchable = Parameters<typeof crashAtCall>[0];

/** Repeats a call to an object when the connection breaks, as its callers do. */
async function again<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

const stepMs = 70_000;

/** Makes the object, in its current instance, do its due work, over a minute later each time. */
function nudger(load: Loaded) {
  let aheadMs = 0;
  return () => {
    aheadMs += stepMs;
    return inside(load, async (object) => {
      object.clock = () => Date.now() + aheadMs;
      await object.alarm();
    }).catch(() => undefined);
  };
}

/** Dies at its n-th call to D1 or to a session. */
async function dyingLoadTest(n: number, moment: CrashPoint) {
  const load = await newLoadTest({ count: 4, concurrency: 2 });
  const watch = await crashAtCall(load.stub() as unknown as Watchable, n, moment);
  load.sessions.watched = (call) => watch.watched(call);
  const nudge = nudger(load);
  await again(() => load.stub().begin(load.organizationId, load.id));
  return { load, watch, nudge };
}

const rounds = Array.from({ length: 12 }, (_, index) => index);

/** Begun, each session ending while others run, until the row has the statistics. */
async function wholeLoadTest(n: number, moment: CrashPoint) {
  const { load, watch, nudge } = await dyingLoadTest(n, moment);
  for (const _ of rounds) {
    await nudge();
    const [first] = load.sessions.running;
    if (first !== undefined) await again(() => end(load, first));
  }
  expect(await rowOf(load)).toMatchObject({ status: 'completed', wake_at: null, statistics: { total: 4, completed: 4, passed: 4 } });
  expect(await again(() => load.stub().statistics())).toBeNull();
  expect(await sessionStatuses(load)).toEqual(['completed', 'completed', 'completed', 'completed']);
  expect(load.sessions.maxRunning).toBe(2);
  expect(new Set(load.sessions.begun.keys())).toEqual(new Set(load.sessionIds));
  return watch;
}

/** Begun, and stopped when one has ended. */
async function stoppedLoadTest(n: number, moment: CrashPoint) {
  const { load, watch, nudge } = await dyingLoadTest(n, moment);
  load.sessions.whenStopped = async (id) => void (await again(() => end(load, id, { status: 'stopped' })).catch(() => undefined));
  for (let tries = 0; load.sessions.running.size < 2 && tries < 5; tries += 1) await nudge();
  const [first] = load.sessions.running;
  await again(() => end(load, first!));
  const begun = load.sessions.begun.size;
  await again(() => load.stub().stop('act'));
  expect((await rowOf(load))['status']).toBe('stopped');
  for (const _ of rounds) await nudge();
  const row = await rowOf(load);
  expect(row).toMatchObject({ status: 'stopped', wake_at: null, statistics: { total: 4, completed: 1, stopped: 3 } });
  expect(await sessionStatuses(load)).toEqual(load.sessionIds.map((id) => (id === first ? 'completed' : 'stopped')));
  expect(load.sessions.begun.size).toBeLessThanOrEqual(Math.max(begun, 3));
  return watch;
}

/** Dies at each of the first `deaths` calls, before and after it; the last one is beyond what the work needs, so that none is left out. */
function atEachCall(promise: string, deaths: number, work: (n: number, moment: CrashPoint) => Promise<{ died: boolean }>): void {
  for (let n = 1; n <= deaths; n += 1)
    test(`an object that dies at its call ${n} to the outside ${promise}`, async () => {
      const ends = await Promise.all((['before', 'after'] as const).map((moment) => work(n, moment)));
      if (n === deaths) expect(ends.map(({ died }) => died)).toEqual([false, false]);
    });
}

describe('a load test', () => {
  atEachCall('begins every session, counts each once, and never has more running than may', 14, wholeLoadTest);
});

describe('a load test that is stopped', () => {
  atEachCall('has all sessions ended, each once', 12, stoppedLoadTest);
});
