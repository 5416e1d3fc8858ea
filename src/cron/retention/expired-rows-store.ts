import type { Database } from '../../database/client.ts';
import { roundRobinQuery } from '../../database/round-robin-query.ts';

const pageRows = 2000;

interface ExpiredRows {
  table: string;
  /** What names a row. */
  key: string;
  /** Whose order is that of age; an index of the table begins with it. */
  order: string;
  /** Which rows, called `spent`, go; `?1` is the moment before which `order` is. */
  isExpired: string;
}

/** Deletes a page of the rows that are over, of organizations in turns. True: there may be more. */
export async function deleteExpiredRows(
  database: Database,
  { table, key, order, isExpired: isOver }: ExpiredRows,
  before: number,
): Promise<boolean> {
  const page = roundRobinQuery(`${key}, organization_id`, `${table} spent WHERE ${order} < ?1 AND ${isOver}`, order).replace(/\?$/, '?2');
  const removed = await database.all(
    database.prepare(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM (${page})) RETURNING 1`, before, pageRows),
    'idempotent',
  );
  return removed.length === pageRows;
}

/** The same of what is no organization's. */
export async function deleteExpiredGlobalRows(
  database: Database,
  { table, key, order, isExpired: isOver }: ExpiredRows,
  before: number | string,
): Promise<boolean> {
  const removed = await database.all(
    database.prepare(
      `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} spent WHERE ${order} < ?1 AND ${isOver} ORDER BY ${order} LIMIT ?2) RETURNING 1`,
      before,
      pageRows,
    ),
    'idempotent',
  );
  return removed.length === pageRows;
}
