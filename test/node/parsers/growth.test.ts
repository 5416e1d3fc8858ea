// @module-tag soak
import { expect, test } from 'vitest';
import { worstCases, type WorstCase } from './worst-cases.ts';

/** Linear work takes 4 times as long, and a little more while memory is cleared; what grows with the square takes 16 times as long. */
const maxGrowth = 8;
/** Below this, the time says more of the machine than of the parser. */
const minMs = 60;
const measurements = 3;

test.each(worstCases)('$name: the work grows no faster than the size', async (worstCase) => {
  await cpuMsOf(worstCase, 1);
  let growth = Infinity;
  for (let measurement = 0; measurement < measurements && growth > maxGrowth; measurement += 1) {
    const [once, twice, fourfold] = [await cpuMsOf(worstCase, 1), await cpuMsOf(worstCase, 2), await cpuMsOf(worstCase, 4)];
    growth = Math.max(fourfold, 2 * twice) / Math.max(once, minMs);
  }
  expect(growth).toBeLessThan(maxGrowth);
});

/** Processor time, which others on the machine do not take part in. */
async function cpuMsOf({ size, make }: WorstCase, times: number): Promise<number> {
  const read = await make(size * times);
  const before = process.cpuUsage();
  await read();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
