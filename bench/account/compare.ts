import type { Account } from './account.ts';
import { operations, type Counts } from './operations.ts';

const rewriteCommand = 'npm run costs -- --write';

/** Counts that were divided among many differ by so little without meaning. */
const roundingError = 0.0005;
/** Of units whose counts spread: a timer that comes due in one call of three. */
const leastSpread = 0.35;

export interface Differences {
  /** Each names the unit, the operation, its count before and now. */
  rises: string[];
  falls: string[];
}

/** Compares what was counted with the written counts. `isPart`: units that are written and were not counted are left out. */
export function compareAccounts(written: Record<string, Counts>, counted: Account, { isPart = false } = {}): Differences {
  const rises: string[] = [];
  const falls: string[] = [];
  for (const [unit, { counts, spread }] of Object.entries(counted)) {
    const before = written[unit];
    if (before === undefined) {
      rises.push(`${unit}: has no written counts. Write them: ${rewriteCommand}`);
      continue;
    }
    for (const operation of operations) {
      const tolerance = spread > 0 ? before[operation] * spread + leastSpread : roundingError;
      const change = counts[operation] - before[operation];
      const told = `${unit}: ${operation} was ${before[operation]} and is ${counts[operation]}`;
      if (change > tolerance) rises.push(`${told}. Bring it down, or write the new count and say why in the commit: ${rewriteCommand}`);
      if (change < -tolerance) falls.push(`${told}. Keep it there: ${rewriteCommand}`);
    }
  }
  const missing = isPart ? [] : Object.keys(written).filter((unit) => !(unit in counted));
  return { rises: [...rises, ...missing.map((unit) => `${unit}: is written but no longer counted. Remove it: ${rewriteCommand}`)], falls };
}
