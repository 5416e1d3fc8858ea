import { measureUnits, type Account } from '../account/account.ts';
import { prepareGround } from '../account/ground.ts';
import { operations } from '../account/operations.ts';
import { prepareUnits } from '../account/units.ts';
import type { Bench } from '../bench.ts';
import { measureCampaigns } from './campaigns.ts';
import { fill } from './fill.ts';

export const scales = [1, 10, 100] as const;

/** The account at each scale of data, in one service that grows. */
export type Growth = Record<(typeof scales)[number], Account>;

export async function measureGrowth(progress: Bench['progress'], chosen: string[]): Promise<Growth> {
  const bench = await prepareGround(progress);
  try {
    const units = await prepareUnits(bench);
    const isChosen = (name: string) => chosen.length === 0 || chosen.includes(name);
    const hasUnits = chosen.length === 0 || units.some(({ name }) => chosen.some((part) => name.includes(part)));
    // What is copied to fill the database, the units make, also those that are not chosen.
    if (hasUnits) await measureUnits(bench, units, { progress: () => undefined, chosen: [] });
    const growth = {} as Growth;
    let filled = 0;
    for (const scale of scales) {
      if (hasUnits) await fill(bench, filled, scale);
      filled = scale;
      // Each sees a page of what is new, and the last ones nothing more.
      for (let ticks = 0; ticks < settlingTicks; ticks++) await units.find(({ name }) => name.includes('tick'))!.work();
      progress(`Counting at ${scale} times the data`);
      growth[scale] = hasUnits ? await measureUnits(bench, units, { progress, chosen }) : {};
      if (isChosen('campaigns')) Object.assign(growth[scale], await measureCampaigns(bench, scale));
    }
    return growth;
  } finally {
    await bench.rig.stop();
  }
}

const settlingTicks = 25;

/** A count may rise by this share and this much between the scales: an index is a level deeper, a page of results is full. */
const flat = { share: 0.5, rows: 60 };

/** Units whose counts follow the data by their nature, and how. */
const statedOrders: Record<string, string> = {
  'A search in a knowledge base of 400 chunks': 'it ranks every chunk that has a word of the question, and the copies have common ones',
};

/** The operations of each unit whose count at the largest scale is not flat: `unit: operation 12 / 14 / 900`. `stated`: with the reason. */
export function findRisingCounts(growth: Growth): { rising: string[]; stated: string[] } {
  const found: { rising: string[]; stated: string[] } = { rising: [], stated: [] };
  for (const [unit, { counts }] of Object.entries(growth[1]))
    for (const operation of operations) {
      const values = scales.map((scale) => growth[scale][unit]!.counts[operation]);
      if (values[2]! <= counts[operation] * (1 + flat.share) + flat.rows) continue;
      const line = `${unit}: ${operation} ${values.join(' / ')}`;
      if (statedOrders[unit] === undefined) found.rising.push(line);
      else found.stated.push(`${line}, since ${statedOrders[unit]}`);
    }
  return found;
}
