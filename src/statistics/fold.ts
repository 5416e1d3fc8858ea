import { organizationById } from '../accounts/organizations/background-context.ts';
import type { Database } from '../database/client.ts';
import { counterTables, type CounterTable, type CounterTableName } from './counter-tables.ts';
import { foldHorizon } from './fold-horizon.ts';
import { deleteOldDays, findOwners, foldDay, moveCursor, type CounterOwner } from './fold-store.ts';
import { dayMs, startOfDay, toDay } from './periods.ts';

const ownersPerPage = 20;

interface FoldRun {
  bindings: Env;
  database: Database;
  /** Epoch ms. */
  now: number;
  /** How long days are kept. */
  keptDays: number;
}

/**
 * Makes days of old quarters of an hour, in the time zone of their organization, and deletes days that have been kept long enough; for a page of owners.
 * Returns whether anything was done, so that there may be more. Repeatable: a repeat finds the quarters gone. An owner that fails holds up no other:
 * its error is thrown when the walk is behind the page.
 */
export async function foldPage(run: FoldRun, name: CounterTableName): Promise<boolean> {
  const table = counterTables().find((one) => one.name === name)!;
  const { owners, cursor } = await findOwners(run.database, table, ownersPerPage);
  const failures: unknown[] = [];
  let isChanged = false;
  for (const owner of owners) {
    try {
      if (await foldOwner(run, table, owner)) isChanged = true;
    } catch (error) {
      failures.push(error);
    }
  }
  // After an owner with work the cursor stays, so that the next page goes on with it.
  const next = isChanged ? cursor : owners.length === ownersPerPage ? owners.at(-1)!.owner : 0;
  if (next !== cursor) await moveCursor(run.database, table, next);
  if (failures.length > 0 && !isChanged) throw failures[0];
  return isChanged;
}

async function foldOwner({ bindings, database, now, keptDays }: FoldRun, table: CounterTable, owner: CounterOwner): Promise<boolean> {
  const horizon = foldHorizon(now);
  const oldestKept = Math.floor((now - keptDays * dayMs) / dayMs) * dayMs;
  const hasOldDays = owner.oldest_day !== null && owner.oldest_day < oldestKept;
  // A day has at most 25 hours.
  const hasOldQuarters = owner.oldest_quarter !== null && owner.oldest_quarter < horizon - dayMs - 3_600_000;
  if (!hasOldDays && !hasOldQuarters) return false;
  const organization = await organizationById(bindings, owner.organization_id);
  if (!organization) return false;
  if (hasOldDays) await deleteOldDays(database, table, owner, oldestKept);
  if (!hasOldQuarters) return true;
  const { timezone } = organization;
  const day = toDay(timezone, owner.oldest_quarter!);
  await foldDay(database, table, owner, { day, start: startOfDay(timezone, day), end: startOfDay(timezone, day + dayMs) });
  return true;
}
