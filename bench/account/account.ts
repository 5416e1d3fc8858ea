import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { recordedCalls, recordedUsage } from '../record.ts';
import { prepareGround } from './ground.ts';
import { mapCounts, toCounts, type Counts } from './operations.ts';
import { prepareUnits } from './units.ts';

/** A piece of work that is billed. */
export interface Unit {
  name: string;
  /** So many of them are what `work` does; 1 if absent. */
  count?: number;
  /** By which share the counts differ from time to time, since it depends on the time what is done together. Absent: not at all. */
  spread?: number;
  /** Resolves when the work is done as far as its requester sees it; what follows is waited for. */
  work(): Promise<unknown>;
}

interface UnitCounts {
  counts: Counts;
  spread: number;
}

/** What was counted of each unit, by its name. */
export type Account = Record<string, UnitCounts>;

const rounds = 2;
const quietMs = 200;
/** Recordings of calls arrive late, and objects delete themselves. */
const quietAfterCallsMs = 500;
const lookEveryMs = 50;

/** Counts what each unit of work uses, in a service of its own. `chosen`: parts of the names of units; empty: all. */
export async function measureAccount(progress: Bench['progress'], chosen: string[] = []): Promise<Account> {
  const bench = await prepareGround(progress);
  try {
    return await measureUnits(bench, await prepareUnits(bench), { progress, chosen });
  } finally {
    await bench.rig.stop();
  }
}

export async function measureUnits(
  bench: Bench,
  units: Unit[],
  { progress, chosen }: { progress: Bench['progress']; chosen: string[] },
): Promise<Account> {
  const account: Account = {};
  for (const unit of units) {
    if (chosen.length && !chosen.some((part) => unit.name.includes(part))) continue;
    account[unit.name] = { counts: await measureUnit(bench, unit), spread: unit.spread ?? 0 };
    progress(`Counted: ${unit.name}`);
  }
  return account;
}

/** The least of the rounds, after one that fills the caches: load of the machine only adds to them, by retries and by timers that come due. */
async function measureUnit(bench: Bench, unit: Unit): Promise<Counts> {
  await countsOf(bench, unit);
  const measured: Counts[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await countsOf(bench, unit));
  return mapCounts((operation) => Number((Math.min(...measured.map((counts) => counts[operation])) / (unit.count ?? 1)).toFixed(4)));
}

/** What the work and all that follows from it use, counted once. */
export async function countsOf(bench: Bench, { work, spread }: Pick<Unit, 'work' | 'spread'>): Promise<Counts> {
  // A read first, so that the API key is cached and its look-up does not count.
  await bench.clients.recording.call({ method: 'GET', path: '/api/v1/contacts?limit=1', headers: bench.headers });
  await countUntilQuiet(bench, quietMs);
  await work();
  return countUntilQuiet(bench, spread === undefined ? quietMs : quietAfterCallsMs);
}

/** Waits until nothing has been counted for so long; returns what was counted since the last time. */
async function countUntilQuiet(bench: Bench, milliseconds: number): Promise<Counts> {
  let sum = mapCounts(() => 0);
  for (let quietSince = Date.now(); Date.now() - quietSince < milliseconds; await sleep(lookEveryMs)) {
    const counts = toCounts(await recordedCalls(bench), await recordedUsage(bench));
    if (Object.values(counts).every((counted) => counted === 0)) continue;
    quietSince = Date.now();
    const before = sum;
    sum = mapCounts((operation) => before[operation] + counts[operation]);
  }
  return sum;
}
