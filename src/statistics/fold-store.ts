import type { Database } from '../database/client.ts';
import { isNotInTransitSql } from '../database/transit.ts';
import type { CounterTable } from './counter-tables.ts';

/** An owner of counters with its oldest quarter of an hour and its oldest day; null: it has none, or is on its way between shards. */
export interface CounterOwner {
  owner: number;
  organization_id: number;
  oldest_quarter: number | null;
  oldest_day: number | null;
}

const cursorName = (table: CounterTable) => `${table.name}_folded`;

interface OwnersPage {
  owners: CounterOwner[];
  /** The owner after which they come. */
  cursor: number;
}

/** The next owners after the cursor, found by skipping along the primary key, with the oldest of their rows. */
export async function findOwners(database: Database, table: CounterTable, limit: number): Promise<OwnersPage> {
  const { name, owner } = table;
  const first = (isDay: 0 | 1) =>
    `(SELECT min(s.period) FROM ${name} s WHERE s.${owner} = o.id AND s.is_day = ${isDay} AND ${isNotInTransitSql('s.organization_id')})`;
  const organization = owner === 'organization_id' ? 'o.id' : `(SELECT s.organization_id FROM ${name} s WHERE s.${owner} = o.id LIMIT 1)`;
  const rows = await database.all(
    database.prepare<(CounterOwner | { owner: null }) & { cursor: number }>(
      `WITH RECURSIVE begin (cursor) AS (SELECT coalesce((SELECT value FROM progress WHERE name = ?1), 0)),
       o (id) AS (
         SELECT (SELECT min(${owner}) FROM ${name} WHERE ${owner} > begin.cursor) FROM begin
         UNION ALL SELECT (SELECT min(${owner}) FROM ${name} WHERE ${owner} > o.id) FROM o WHERE o.id IS NOT NULL LIMIT ${limit})
       SELECT begin.cursor, o.id AS owner, ${organization} AS organization_id, ${first(0)} AS oldest_quarter, ${first(1)} AS oldest_day
       FROM begin CROSS JOIN o`,
      cursorName(table),
    ),
  );
  return { owners: rows.filter((row): row is CounterOwner & { cursor: number } => row.owner !== null), cursor: rows[0]!.cursor };
}

/** Sets the owner after which the next page begins; 0: the first. */
export const moveCursor = (database: Database, table: CounterTable, owner: number): Promise<unknown> =>
  database.all(
    database.prepare(
      'INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      cursorName(table),
      owner,
    ),
    'progress.name',
  );

/**
 * Adds the quarters of an hour from `start` to `end` (epoch ms) to the row of `day`, and deletes them, in one transaction. A repeat finds none. Rows
 * of an organization that is on its way between shards are left alone.
 */
export async function foldDay(
  database: Database,
  table: CounterTable,
  { owner, organization_id: organizationId }: Pick<CounterOwner, 'owner' | 'organization_id'>,
  { day, start, end }: { day: number; start: number; end: number },
): Promise<void> {
  const { name, dimensions, counters } = table;
  const key = [table.owner, 'is_day', 'period', ...dimensions].join(', ');
  const quarters = `${table.owner} = ?1 AND is_day = 0 AND period >= ?2 AND period < ?3 AND ${isNotInTransitSql('?4')}`;
  const columns = [...new Set(['organization_id', table.owner])];
  await database.batch(
    [
      database.prepare(
        `INSERT INTO ${name} (${columns.join(', ')}, is_day, period, ${[...dimensions, ...counters].join(', ')})
         SELECT ${columns.map((column) => (column === 'organization_id' ? '?4' : '?1')).join(', ')}, 1, ?5, ${dimensions.join(', ')},
           ${counters.map((counter) => `sum(${counter})`).join(', ')}
         FROM ${name} WHERE ${quarters} GROUP BY ${dimensions.join(', ')}
         ON CONFLICT (${key}) DO UPDATE SET ${counters.map((counter) => `${counter} = ${counter} + excluded.${counter}`).join(', ')}`,
        owner,
        start,
        end,
        organizationId,
        day,
      ),
      database.prepare(`DELETE FROM ${name} WHERE ${quarters}`, owner, start, end, organizationId),
    ],
    'idempotent',
  );
}

const rowsPerPage = 2000;

/** Deletes a page of days before `before` (midnight UTC of a date). Returns whether there may be more. */
export async function deleteOldDays(
  database: Database,
  table: CounterTable,
  { owner, organization_id: organizationId }: Pick<CounterOwner, 'owner' | 'organization_id'>,
  before: number,
): Promise<boolean> {
  const key = [table.owner, 'is_day', 'period', ...table.dimensions].join(', ');
  const gone = await database.all(
    database.prepare(
      `DELETE FROM ${table.name} WHERE (${key}) IN (
         SELECT ${key} FROM ${table.name} WHERE ${table.owner} = ?1 AND is_day = 1 AND period < ?2 AND ${isNotInTransitSql('?3')}
         LIMIT ${rowsPerPage}) RETURNING 1`,
      owner,
      before,
      organizationId,
    ),
    'idempotent',
  );
  return gone.length === rowsPerPage;
}
