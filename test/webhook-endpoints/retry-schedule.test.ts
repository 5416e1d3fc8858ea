import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxTries, nextAttemptAt } from '../../src/webhook-endpoints/sending/retry-schedule.ts';

const hour = 3_600_000;

test('a message has ten attempts in three days, as Standard Webhooks recommends', () => {
  let now = 0;
  const moments = [now];
  for (let tries = 1; ; tries++) {
    const next = nextAttemptAt(tries, now, 0);
    if (next === null) break;
    moments.push((now = next));
  }
  expect(moments).toHaveLength(maxTries);
  expect(moments.slice(0, 3)).toEqual([0, 5000, 305_000]);
  expect(now).toBeGreaterThan(72 * hour);
  expect(now).toBeLessThan(80 * hour);
});

test('delays grow, and no two messages have to come back at the same moment', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: maxTries - 2 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (tries, random) => {
      const [first, second] = [nextAttemptAt(tries, 0, random)!, nextAttemptAt(tries + 1, 0, 0)!];
      expect(first).toBeLessThan(second);
      expect(nextAttemptAt(tries, 0, 0)).toBeLessThanOrEqual(first);
    }),
  );
});
