import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allowedAt, nextStepAt } from '../../src/simtest/ramp.ts';

const ramps = fc.record({ concurrency: fc.integer({ min: 1, max: 100 }), rampSeconds: fc.integer({ min: 0, max: 3600 }) });

test('without a ramp all may run at once', () => {
  expect(allowedAt({ concurrency: 7, rampSeconds: 0 }, 0)).toBe(7);
  expect(nextStepAt({ concurrency: 7, rampSeconds: 0 }, 0)).toBeNull();
});

test('a ramp begins with one session, has half of them in the middle and all at its end', () => {
  const ramp = { concurrency: 11, rampSeconds: 10 };
  expect([0, 999, 1000, 5000, 9999, 10_000, 90_000].map((elapsed) => allowedAt(ramp, elapsed))).toEqual([1, 1, 2, 6, 10, 11, 11]);
});

test('no more than the concurrency may ever run, at least one always, and never fewer than before', () => {
  fc.assert(
    fc.property(ramps, fc.integer({ min: 0, max: 4_000_000 }), fc.integer({ min: 0, max: 100_000 }), (ramp, elapsed, later) => {
      const allowed = allowedAt(ramp, elapsed);
      expect(allowed).toBeGreaterThanOrEqual(1);
      expect(allowed).toBeLessThanOrEqual(ramp.concurrency);
      expect(allowedAt(ramp, elapsed + later)).toBeGreaterThanOrEqual(allowed);
    }),
  );
});

test('at the next step one more may run, a moment before it not yet; going from step to step ends with all', () => {
  fc.assert(
    fc.property(ramps, (ramp) => {
      let elapsed = 0;
      for (let step = nextStepAt(ramp, elapsed); step !== null; step = nextStepAt(ramp, elapsed)) {
        expect(step).toBeGreaterThan(elapsed);
        const before = allowedAt(ramp, elapsed);
        expect(allowedAt(ramp, step - 1)).toBe(before);
        expect(allowedAt(ramp, step)).toBeGreaterThan(before);
        elapsed = step;
      }
      expect(allowedAt(ramp, elapsed)).toBe(ramp.concurrency);
    }),
  );
});
