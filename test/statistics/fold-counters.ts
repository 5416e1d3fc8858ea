import { env } from 'cloudflare:workers';
import { Database } from '../../src/database/client.ts';
import { counterTables, type CounterTableName } from '../../src/statistics/counter-tables.ts';
import { foldPage } from '../../src/statistics/fold.ts';
import { ownRows } from '../support/own-rows.ts';

/** One page of the walk over the owners of counters. */
export const foldOnce = (table: CounterTableName, now = Date.now()): Promise<boolean> =>
  foldPage({ bindings: env, database: new Database(ownRows, true), now, keptDays: 1000 }, table);

/** Has the walk begin with the first owner of the organization: other tests have left many before it. */
export async function walkFrom(name: CounterTableName, organizationId: number): Promise<void> {
  const { owner } = counterTables().find((table) => table.name === name)!;
  await ownRows
    .prepare(
      `INSERT OR REPLACE INTO progress (name, value) SELECT ?, coalesce(min(${owner}), 1) - 1 FROM ${name} WHERE organization_id = ?`,
    )
    .bind(`${name}_folded`, organizationId)
    .run();
}

/** Folds all that an organization has of these counters. */
export async function foldCounters(table: CounterTableName, organizationId: number, now = Date.now()): Promise<void> {
  await walkFrom(table, organizationId);
  while (await foldOnce(table, now));
}
