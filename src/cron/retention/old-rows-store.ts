import type { Database } from '../../database/client.ts';
import { roundRobinQuery } from '../../database/round-robin-query.ts';

/** A table whose rows are walked along its primary key, since ids are given in the order of age. */
export interface RetainedTable {
  table: string;
  /** When a row, called `old`, is done with, besides being old. */
  isDone: string;
  /** About how many characters a row has. */
  length: string;
}

export interface OldRow {
  id: number;
  organization_id: number;
}

/** Rows looked at in one step; what still lives among them is stepped over. */
const windowRows = 5000;
const pageRows = 500;
/** The rows of a page are in memory together. */
const maxPageLength = 8 * 1024 * 1024;
const maxOrganizations = 40;

const cursorName = (table: string) => `${table}_retained`;

/**
 * A page of the rows that are older than `before` and done, of the oldest ones behind the cursor, in turns by organization. `isLast`: behind
 * them is nothing old; the walk begins anew. The cursor passes a stretch once all of it that is done has gone. The newest row always stays:
 * an id must never be given twice.
 */
export async function findOldRows(database: Database, walked: RetainedTable, before: number): Promise<{ rows: OldRow[]; isLast: boolean }> {
  const { table, isDone, length } = walked;
  const from = 'coalesce((SELECT value FROM progress WHERE name = ?1), 0)';
  const [first] = await database.all<{ created_at: number }>(
    database.prepare(`SELECT created_at FROM ${table} WHERE id > ${from} ORDER BY id LIMIT 1`, cursorName(table)),
  );
  if (!first || first.created_at >= before) {
    await moveCursor(database, table, 0);
    return { rows: [], isLast: true };
  }
  const window = `SELECT * FROM ${table} WHERE id > ${from} ORDER BY id LIMIT ${windowRows}`;
  const columns = 'id, organization_id';
  const turns = roundRobinQuery(
    `${columns}, length`,
    `(SELECT ${columns}, ${length} AS length FROM (${window}) old WHERE created_at < ?2 AND id < (SELECT max(id) FROM ${table}) AND ${isDone})`,
    'id',
  ).replace(/\?$/, '?3');
  const [candidates, seen] = await database.batch([
    database.prepare(turns, cursorName(table), before, pageRows),
    database.prepare(`SELECT max(id) AS top, count(*) AS total FROM (${window})`, cursorName(table)),
  ]);
  const rows = takePage(candidates as unknown as (OldRow & { length: number })[]);
  const { top, total } = seen![0] as { top: number; total: number };
  const isCleared = rows.length === candidates!.length && rows.length < pageRows;
  const isLast = isCleared && total < windowRows;
  // Only once these have gone; until then they are found again.
  if (isCleared && rows.length === 0) await moveCursor(database, table, isLast ? 0 : top);
  return { rows, isLast: isLast && rows.length === 0 };
}

/** As many as fit into a page, at least one. */
function takePage(candidates: (OldRow & { length: number })[]): OldRow[] {
  let left = maxPageLength;
  const organizations = new Set<number>();
  const count = candidates.findIndex(
    ({ length, organization_id }, index) =>
      ((left -= length) < 0 && index > 0) || organizations.add(organization_id).size > maxOrganizations,
  );
  return candidates.slice(0, count < 0 ? undefined : count).map(({ id, organization_id }) => ({ id, organization_id }));
}

const moveCursor = (database: Database, table: string, to: number): Promise<unknown> =>
  database.all(
    database.prepare(
      'INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value',
      cursorName(table),
      to,
    ),
    'progress.name',
  );
