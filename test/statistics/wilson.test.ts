import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toShare } from '../../src/statistics/wilson.ts';

test('a share has the interval of Wilson, as in published tables', () => {
  expect(toShare(5, 10)).toEqual({ rate: 0.5, low: 0.2366, high: 0.7634 });
  expect(toShare(0, 10)).toEqual({ rate: 0, low: 0, high: 0.2775 });
  expect(toShare(10, 10)).toEqual({ rate: 1, low: 0.7225, high: 1 });
  expect(toShare(81, 263)).toEqual({ rate: 0.308, low: 0.2553, high: 0.3662 });
});

test('nothing has no share', () => {
  expect(toShare(0, 0)).toBeNull();
});

test('the interval has the share in it, lies within 0 and 1, and is narrower for more runs', () => {
  const counts = fc.integer({ min: 1, max: 10_000 }).chain((total) => fc.tuple(fc.integer({ min: 0, max: total }), fc.constant(total)));
  fc.assert(
    fc.property(counts, ([part, total]) => {
      const { rate, low, high } = toShare(part, total)!;
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(low).toBeLessThanOrEqual(rate);
      expect(high).toBeGreaterThanOrEqual(rate);
      const more = toShare(part * 4, total * 4)!;
      expect(more.high - more.low).toBeLessThanOrEqual(high - low);
    }),
  );
});
