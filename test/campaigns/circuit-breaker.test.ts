import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CircuitBreaker, maxCountedCalls } from '../../src/campaigns/dialing/circuit-breaker.ts';
import type { EndedCall } from '../../src/campaigns/dialing/circuit-breaker.ts';
import type { CircuitBreakerConfig } from '../../src/campaigns/configs/configs.ts';

const config: CircuitBreakerConfig = { enabled: true, failure_threshold: 0.5, window_seconds: 120, min_calls_in_window: 4 };
const call = (key: number, endedAt: number, isFailure: boolean): EndedCall => ({
  key: String(key),
  endedAt,
  isFailure,
  rowNumber: key,
  outcome: isFailure ? 'failed' : 'busy',
  reason: isFailure ? `failed: reason ${key}` : null,
});
const breakerOf = (...calls: EndedCall[]) => {
  const breaker = new CircuitBreaker();
  for (const ended of calls) breaker.count(ended);
  return breaker;
};

describe('the breaker trips', () => {
  test('when the share of failures among enough ended calls reaches the threshold, and names the last ones', () => {
    const breaker = breakerOf(call(1, 1000, true), call(2, 2000, false), call(3, 3000, false));
    expect(breaker.tripAt(3000, config)).toBeNull();
    breaker.count(call(4, 4000, true));
    expect(breaker.tripAt(4000, config)).toEqual({
      ended_calls: 4,
      failed_calls: 2,
      share: 0.5,
      last_failures: [
        { row_number: 4, outcome: 'failed', reason: 'failed: reason 4' },
        { row_number: 1, outcome: 'failed', reason: 'failed: reason 1' },
      ],
    });
    expect(breaker.tripAt(4000, { ...config, failure_threshold: 0.51 })).toBeNull();
    expect(breaker.tripAt(4000, { ...config, min_calls_in_window: 5 })).toBeNull();
    expect(breaker.tripAt(4000, { ...config, enabled: false })).toBeNull();
  });

  test('over a window of a whole day, to the millisecond', () => {
    const day = 86_400_000;
    const wide = { ...config, window_seconds: 86_400, min_calls_in_window: 2, failure_threshold: 1 };
    const breaker = breakerOf(call(1, 0, true), call(2, 1, true), call(3, day - 1, true));
    expect(breaker.tripAt(day, wide)).toMatchObject({ ended_calls: 2 });
    expect(breaker.tripAt(day + 1, wide)).toBeNull();
  });

  test('and names five failures at most', () => {
    const many = breakerOf(...Array.from({ length: 30 }, (_, index) => call(index, index, true)));
    expect(many.tripAt(30, config)?.last_failures.map(({ row_number }) => row_number)).toEqual([29, 28, 27, 26, 25]);
  });

  test('never on calls of which none failed, not even at threshold 0; there at the first failure', () => {
    const breaker = breakerOf(...[1, 2, 3, 4, 5].map((key) => call(key, key, false)));
    expect(breaker.tripAt(5, { ...config, failure_threshold: 0 })).toBeNull();
    breaker.count(call(6, 6, true));
    expect(breaker.tripAt(6, { ...config, failure_threshold: 0 })).toMatchObject({ ended_calls: 6, failed_calls: 1 });
  });

  test('exactly at thresholds that are no binary fractions', () => {
    for (let failed = 1; failed <= 100; failed += 1) {
      const breaker = breakerOf(...Array.from({ length: 100 }, (_, index) => call(index, 1, index < failed)));
      expect(breaker.tripAt(1, { ...config, failure_threshold: Number(`${failed / 100}`) }), String(failed)).not.toBeNull();
    }
  });
});

test('a call that ended exactly one window ago no longer counts', () => {
  const calls = [1, 2, 3, 4].map((key) => call(key, 1000, true));
  expect(breakerOf(...calls).tripAt(1000 + 119_999, config)).not.toBeNull();
  expect(breakerOf(...calls).tripAt(1000 + 120_000, config)).toBeNull();
});

test('a call counts once, however often it is reported', () => {
  const breaker = breakerOf(...[1, 1, 1, 1, 1, 2, 2].map((key) => call(key, 1000, true)));
  expect(breaker.tripAt(1000, config)).toBeNull();
});

test('calls that ended before a resume do not count, even when they are reported again; later calls do', () => {
  const calls = [1, 2, 3, 4].map((key) => call(key, 1000, true));
  const breaker = breakerOf(...calls);
  breaker.clear(2000);
  expect(breaker.tripAt(2000, config)).toBeNull();
  for (const reported of calls) breaker.count(reported);
  expect(breaker.tripAt(2000, config)).toBeNull();
  for (const key of [5, 6, 7, 8]) breaker.count(call(key, 2001, true));
  expect(breaker.tripAt(2001, config)).toMatchObject({ ended_calls: 4 });
});

test('it trips as a count over all calls does, with reports in any order, repeated, cleared and rebuilt', () => {
  const report = fc.record({ key: fc.nat(40), isFailure: fc.boolean(), late: fc.nat(50_000) });
  const action = fc.oneof(
    { weight: 8, arbitrary: report },
    {
      weight: 3,
      arbitrary: fc.record({
        enabled: fc.constant(true),
        failure_threshold: fc.constantFrom(0, 0.2, 0.5, 1),
        window_seconds: fc.constantFrom(30, 60, 3600),
        min_calls_in_window: fc.integer({ min: 1, max: 6 }),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom('clear' as const, 'again' as const) },
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(action, fc.nat(20_000)), { maxLength: 60 }), (steps) => {
      let now = 1_000_000;
      let clearedAt = -Infinity;
      let breaker = new CircuitBreaker();
      const past = new Map<string, EndedCall>();
      // Calls older than the smallest queried window are forgotten.
      let forgotten = -Infinity;
      for (const [step, pause] of steps) {
        now += pause;
        if (step === 'clear') {
          breaker.clear(now);
          clearedAt = now;
        } else if (step === 'again') {
          breaker = new CircuitBreaker(Math.max(clearedAt, forgotten));
          for (const known of past.values()) breaker.count(known);
        } else if ('key' in step) {
          const ended = past.get(String(step.key)) ?? call(step.key, now - step.late, step.isFailure);
          if (ended.endedAt <= forgotten) continue;
          past.set(ended.key, ended);
          breaker.count(ended);
        } else {
          forgotten = Math.max(forgotten, now - step.window_seconds * 1000);
          const recent = [...past.values()].filter(({ endedAt }) => endedAt > forgotten && endedAt > clearedAt);
          const failures = recent.filter(({ isFailure }) => isFailure).length;
          const isTripped = recent.length >= step.min_calls_in_window && failures > 0 && failures / recent.length >= step.failure_threshold;
          const trip = breaker.tripAt(now, step);
          expect(trip && [trip.ended_calls, trip.failed_calls]).toEqual(isTripped ? [recent.length, failures] : null);
        }
      }
    }),
    { numRuns: 400 },
  );
});

test('of more calls than fit in memory, the last ones count', () => {
  const breaker = new CircuitBreaker();
  for (let key = 0; key < maxCountedCalls + 10; key += 1) breaker.count(call(key, key, key < 10));
  expect(breaker.tripAt(maxCountedCalls, { ...config, failure_threshold: 0 })).toBeNull();
  breaker.count(call(-1, maxCountedCalls + 10, true));
  expect(breaker.tripAt(maxCountedCalls, { ...config, failure_threshold: 0 })).toMatchObject({
    ended_calls: maxCountedCalls,
    failed_calls: 1,
  });
});
