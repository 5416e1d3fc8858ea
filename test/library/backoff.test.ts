import { expect, test } from 'vitest';
import { backoffMs } from '../../src/library/backoff.ts';

test('a delay doubles with each failure, up to its bound', () => {
  const delays = [1, 2, 3, 4, 50].map((failures) => backoffMs({ baseMs: 1000, maxMs: 5000 }, failures, () => 0.9));
  expect(delays).toEqual([1000, 2000, 4000, 5000, 5000]);
});

test('jitter multiplies a delay by a number of its range, also beyond the bound', () => {
  const backoff = { baseMs: 1000, maxMs: 4000, jitter: [0.5, 1.5] } as const;
  expect([0, 0.5, 0.75].map((random) => backoffMs(backoff, 1, () => random))).toEqual([500, 1000, 1250]);
  expect(backoffMs(backoff, 9, () => 0.75)).toBe(5000);
});
