import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sessionStatuses } from '../../src/simtest/contract.ts';
import { computeStatistics, pendingSessions, type CountedSession } from '../../src/simtest/load-tests/statistics.ts';

const [pending] = pendingSessions(1) as [CountedSession];
const session = (more: Partial<CountedSession>): CountedSession => ({ ...pending, ...more });
const completed = (more: Partial<CountedSession> = {}): CountedSession =>
  session({ status: 'completed', outcome: 'passed', startedAt: 0, endedAt: 1000, durationMs: 1000, ...more });
const running = { status: 'running' as const, maxRunning: 3 };

const sessions = fc.array(
  fc.record({
    status: fc.constantFrom(...sessionStatuses),
    outcome: fc.constantFrom('passed' as const, 'failed' as const, 'error' as const, null),
    error: fc.constantFrom('quota', 'refused', null),
    startedAt: fc.option(fc.integer({ min: 0, max: 1000 })),
    endedAt: fc.option(fc.integer({ min: 1000, max: 9000 })),
    durationMs: fc.option(fc.integer({ min: 0, max: 9000 })),
    latenciesMs: fc.array(fc.integer({ min: 0, max: 9000 }), { maxLength: 5 }),
  }),
  { maxLength: 40 },
);

describe('the counts', () => {
  test('add up to the total whatever the sessions are', () => {
    fc.assert(
      fc.property(sessions, (all) => {
        const counted = computeStatistics(running, all, 9000);
        const { pending: waiting, running: live, completed: done, failed, stopped, total } = counted;
        expect(waiting + live + done + failed + stopped).toBe(total);
        expect(total).toBe(all.length);
        expect(counted.passed).toBeLessThanOrEqual(done);
      }),
    );
  });

  test('of a load test that has not begun: all sessions are pending, and nothing else is known', () => {
    expect(computeStatistics({ status: 'running', maxRunning: 0 }, pendingSessions(5), 0)).toEqual({
      status: 'running',
      total: 5,
      pending: 5,
      running: 0,
      completed: 0,
      failed: 0,
      stopped: 0,
      passed: 0,
      pass_rate: null,
      duration_seconds: { p50: null, p95: null, p99: null },
      turn_latency_ms: { p50: null, p95: null, p99: null },
      achieved_concurrency_max: 0,
      achieved_concurrency_average: null,
      errors: [],
    });
  });
});

test('the pass rate is that of sessions which checks have judged: errors and stopped ones do not count', () => {
  const all = [
    completed(),
    completed(),
    completed({ outcome: 'failed' }),
    session({ status: 'failed', outcome: 'error' }),
    session({ status: 'stopped', outcome: 'passed' }),
    session({ status: 'stopped', outcome: 'failed' }),
  ];
  expect(computeStatistics(running, all, 0)).toMatchObject({ passed: 2, pass_rate: 2 / 3, failed: 1, stopped: 2 });
});

test('percentiles are measured values: durations of completed sessions in seconds, latencies of all turns', () => {
  const all = Array.from({ length: 100 }, (_, index) => completed({ durationMs: (index + 1) * 10, latenciesMs: [index + 1, 200 - index] }));
  all.push(session({ status: 'failed', outcome: 'error', durationMs: 60_000, latenciesMs: [9000] }));
  const { duration_seconds, turn_latency_ms } = computeStatistics(running, all, 0);
  expect(duration_seconds).toEqual({ p50: 0.5, p95: 0.95, p99: 0.99 });
  expect(turn_latency_ms).toEqual({ p50: 101, p95: 191, p99: 199 });
});

test('percentiles rise', () => {
  fc.assert(
    fc.property(sessions, (all) => {
      const { p50, p95, p99 } = computeStatistics(running, all, 0).turn_latency_ms;
      if (p50 === null) return;
      expect(p95).toBeGreaterThanOrEqual(p50);
      expect(p99).toBeGreaterThanOrEqual(p95!);
    }),
  );
});

test('the average concurrency is that from the first start to the last end, or until now', () => {
  const average = (all: Partial<CountedSession>[]) => computeStatistics(running, all.map(session), 4000).achieved_concurrency_average;
  expect(
    average([
      { startedAt: 0, endedAt: 2000 },
      { startedAt: 0, endedAt: 2000 },
    ]),
  ).toBe(2);
  expect(average([{ startedAt: 0, endedAt: 2000 }, { startedAt: 2000, endedAt: 4000 }, {}])).toBe(1);
  expect(average([{ startedAt: 0, endedAt: 1000 }, { startedAt: 0 }])).toBe(1.25);
});

test('errors are counted by their text, the most frequent first', () => {
  const failed = (error: string) => session({ status: 'failed', outcome: 'error', error });
  const all = [failed('quota'), failed('refused'), failed('refused'), completed()];
  expect(computeStatistics(running, all, 0).errors).toEqual([
    { error: 'refused', count: 2 },
    { error: 'quota', count: 1 },
  ]);
});
