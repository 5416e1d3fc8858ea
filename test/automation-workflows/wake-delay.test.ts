import { expect, test } from 'vitest';
import { wakeDelay } from '../../src/automation-workflows/runs/waits/wake-delay.ts';

const hour = 3_600_000;

test('ten thousand runs that wait for one moment wake evenly in the 20 seconds after it', () => {
  const perSecond = Array<number>(20).fill(0);
  for (let run = 5_000_000; run < 5_010_000; run++) perSecond[Math.floor(wakeDelay(run, hour) / 1000)]!++;
  for (const runs of perSecond) expect(runs).toBeGreaterThan(490);
  expect(perSecond.reduce((sum, runs) => sum + runs)).toBe(10_000);
});

test('a run always wakes with the same delay, and without one after a short wait', () => {
  for (const run of [1, 17, 2 ** 40 + 3]) {
    expect(wakeDelay(run, hour)).toBe(wakeDelay(run, 9 * hour));
    expect(wakeDelay(run, 10 * 60_000 - 1)).toBe(0);
  }
});
