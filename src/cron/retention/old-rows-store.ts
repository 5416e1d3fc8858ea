import { isNotInTransitSql } from '../../database/transit.ts';
import type { Database } from '../../database/client.ts';
import { firstIdAfterRange, isNoAnchorSql } from '../../database/shard-anchors.ts';
import { roundRobinQuery } from '../../database/round-robin-query.ts';

/** A table that is read along its primary key: ids are assigned in the order of age. */
export interface RetainedTable {
  table: string;
  /** The condition on a row, called `old`, besides its age. */
  isDone: string;
  /** About how many characters a row has. */
  length: string;
}

export interface OldRow {
  id: number;
  organization_id: number;
}

/** Rows read in one step. Live rows among them are skipped. */
const windowRows = 5000;
const pageRows = 500;
/** The rows of a page are in memory together. */
const maxPageLength = 8 * 1024 * 1024;
const maxOrganizations = 40;

const cursorName = (table: string) => `${table}_retained`;

/**
 * A page of the oldest rows behind the cursor that are older than `before` and done, with organizations in turns. `isLast`: no old row is left
 * behind the page, and the next walk starts from the beginning. The cursor moves past a stretch once its done rows are deleted. The newest row
 * always stays, so that no id is assigned twice.
 */
export async function findOldRows(database: Database, walked: RetainedTable, before: number): Promise<{ rows: OldRow[]; isLast: boolean }> {
  const { table, isDone, length } = walked;
  const from = 'coalesce((SELECT value FROM progress WHERE name = ?1), 0)';
  const [first] = await database.all(
    database.prepare<{ id: number; created_at: number; newest: number }>(
      `SELECT id, created_at, (SELECT max(id) FROM ${table}) AS newest FROM ${table} WHERE id > ${from} ORDER BY id LIMIT 1`,
      cursorName(table),
    ),
  );
  if (!first || first.created_at >= before) {
    // Organizations that moved here have brought lower ids. Those of the shard itself begin anew with age.
    const nextRange = first ? firstIdAfterRange(first.id) : Infinity;
    const isLast = !first || first.newest < nextRange;
    await moveCursor(database, table, isLast ? 0 : nextRange - 1);
    return { rows: [], isLast };
  }
  const window = `SELECT * FROM ${table} WHERE id > ${from} ORDER BY id LIMIT ${windowRows}`;
  const columns = 'id, organization_id';
  const turns = roundRobinQuery(
    `${columns}, length`,
    `(SELECT ${columns}, ${length} AS length FROM (${window}) old WHERE created_at < ?2 AND id < (SELECT max(id) FROM ${table}) AND ${isNoAnchorSql('id')} AND ${isNotInTransitSql('organization_id')} AND ${isDone})`,
    'id',
  ).replace(/\?$/, '?3');
  const [candidates, seen] = await database.batch([
    database.prepare<OldRow & { length: number }>(turns, cursorName(table), before, pageRows),
    database.prepare<{ top: number; total: number }>(`SELECT max(id) AS top, count(*) AS total FROM (${window})`, cursorName(table)),
  ]);
  const rows = takePage(candidates);
  const { top, total } = seen[0]!;
  const isCleared = rows.length === candidates.length && rows.length < pageRows;
  const isLast = isCleared && total < windowRows;
  // The cursor stays until these rows are deleted, so that a repeat finds them again.
  if (isCleared && rows.length === 0) await moveCursor(database, table, isLast ? 0 : top);
  return { rows, isLast: isLast && rows.length === 0 };
}

/** As many rows as fit into a page, at least one. */
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
