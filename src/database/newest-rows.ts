import type { SqlFragment } from './sql-fragment.ts';

/** Rows of `table` that lie in one stretch of an index, or in several, the lanes. In each they are in the order of ids. */
export interface IndexedRows {
  table: string;
  index: string;
  /** A query for the lanes, whose columns `where` names. Null: the rows lie in one stretch. */
  lanes: SqlFragment | null;
  /** The condition on a row `r`, of the lane `lane`. */
  where: SqlFragment;
}

/**
 * A query for the `id` of a page of rows, the newest first. Of lanes, it reads a row each, then at most `limit + offset` rows of as many:
 * so the index by lane serves this list, too, and no second one is written for it.
 */
export function newestRows(
  { table, index, lanes, where }: IndexedRows,
  { limit, offset, after }: { limit: number; offset: number; after: number | undefined },
): SqlFragment {
  const rows = `SELECT r.id FROM ${table} r INDEXED BY ${index} WHERE ${where.sql} AND r.id < ? ORDER BY r.id DESC LIMIT`;
  const parameters = [...where.parameters, after ?? Number.MAX_SAFE_INTEGER];
  if (!lanes) return { sql: `${rows} ? OFFSET ?`, parameters: [...parameters, limit, offset] };
  return {
    sql: `SELECT found.value AS id FROM (
         SELECT *, (${rows} 1) AS newest FROM (${lanes.sql}) lane WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT ?
       ) lane CROSS JOIN json_each((SELECT json_group_array(top.id) FROM (${rows} ?) top)) found
       ORDER BY found.value DESC LIMIT ? OFFSET ?`,
    parameters: [...parameters, ...lanes.parameters, limit + offset, ...parameters, limit + offset, limit, offset],
  };
}

/** A query that counts the rows as `total`, up to `most`. */
export const countRows = ({ table, index, lanes, where }: IndexedRows, most: number): SqlFragment => ({
  sql: `SELECT count(*) AS total FROM (
         SELECT 1 FROM ${lanes ? `(${lanes.sql}) lane CROSS JOIN ` : ''}${table} r INDEXED BY ${index} WHERE ${where.sql} LIMIT ${most})`,
  parameters: [...(lanes?.parameters ?? []), ...where.parameters],
});

/** A lane for each value of a column. */
export const laneOfEach = (column: string, values: readonly string[]): { lanes: SqlFragment; condition: string } => ({
  lanes: { sql: 'SELECT value FROM json_each(?)', parameters: [JSON.stringify(values)] },
  condition: `r.${column} = lane.value`,
});
