import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allowedConcurrency, nextIncreaseAt } from '../../src/simtest/load-tests/ramp.ts';

const ramps = fc.record({ concurrency: fc.integer({ min: 1, max: 100 }), rampSeconds: fc.integer({ min: 0, max: 3600 }) });

test('without a ramp all may run at once', () => {
  expect(allowedConcurrency({ concurrency: 7, rampSeconds: 0 }, 0)).toBe(7);
  expect(nextIncreaseAt({ concurrency: 7, rampSeconds: 0 }, 0)).toBeNull();
});

test('a ramp begins with one session, has half of them in the middle and all at its end', () => {
  const ramp = { concurrency: 11, rampSeconds: 10 };
  expect([0, 999, 1000, 5000, 9999, 10_000, 90_000].map((elapsed) => allowedConcurrency(ramp, elapsed))).toEqual([1, 1, 2, 6, 10, 11, 11]);
});

test('no more than the concurrency may ever run, at least one always, and never fewer than before', () => {
  fc.assert(
    fc.property(ramps, fc.integer({ min: 0, max: 4_000_000 }), fc.integer({ min: 0, max: 100_000 }), (ramp, elapsed, later) => {
      const allowed = allowedConcurrency(ramp, elapsed);
      expect(allowed).toBeGreaterThanOrEqual(1);
      expect(allowed).toBeLessThanOrEqual(ramp.concurrency);
      expect(allowedConcurrency(ramp, elapsed + later)).toBeGreaterThanOrEqual(allowed);
    }),
  );
});

test('at the next step one more may run, a moment before it not yet; going from step to step ends with all', () => {
  fc.assert(
    fc.property(ramps, (ramp) => {
      let elapsed = 0;
      for (let step = nextIncreaseAt(ramp, elapsed); step !== null; step = nextIncreaseAt(ramp, elapsed)) {
        expect(step).toBeGreaterThan(elapsed);
        const before = allowedConcurrency(ramp, elapsed);
        expect(allowedConcurrency(ramp, step - 1)).toBe(before);
        expect(allowedConcurrency(ramp, step)).toBeGreaterThan(before);
        elapsed = step;
      }
      expect(allowedConcurrency(ramp, elapsed)).toBe(ramp.concurrency);
    }),
  );
});
