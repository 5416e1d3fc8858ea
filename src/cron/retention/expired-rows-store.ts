import { isNotInTransitSql } from '../../database/transit.ts';
import type { Database } from '../../database/client.ts';
import { roundRobinQuery } from '../../database/round-robin-query.ts';

const pageRows = 2000;

interface ExpiredRows {
  table: string;
  /** The columns of the primary key. */
  key: string;
  /** The column that orders rows by age. An index of the table begins with this column. */
  order: string;
  /** The condition on the rows, called `spent`, that are deleted. `?1` is the moment before which `order` lies. */
  isExpired: string;
}

/** Deletes a page of expired rows, with organizations in turns. Returns true when there may be more. */
export async function deleteExpiredRows(
  database: Database,
  { table, key, order, isExpired: isOver }: ExpiredRows,
  before: number,
): Promise<boolean> {
  const page = roundRobinQuery(
    `${key}, organization_id`,
    `${table} spent WHERE ${order} < ?1 AND ${isOver} AND ${isNotInTransitSql('spent.organization_id')}`,
    order,
  ).replace(/\?$/, '?2');
  const removed = await database.all(
    database.prepare(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM (${page})) RETURNING 1`, before, pageRows),
    'idempotent',
  );
  return removed.length === pageRows;
}

/** As `deleteExpiredRows`, for a table without organizations. */
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

const eventTypesPerPage = 1000;

/**
 * Deletes event types without a stored event, among the types not checked since `before`; the other types are checked again as late as new
 * ones. Returns true when there may be more.
 */
export async function deleteUnseenEventTypes(database: Database, before: number, now: number): Promise<boolean> {
  const page = `SELECT organization_id, event_type FROM event_type WHERE created_at < ?1 AND ${isNotInTransitSql('organization_id')} ORDER BY created_at LIMIT ${eventTypesPerPage}`;
  const isKept = `EXISTS (SELECT 1 FROM event e WHERE e.organization_id = event_type.organization_id AND e.event_type = event_type.event_type)`;
  const [gone, kept] = await database.batch(
    [
      database.prepare(`DELETE FROM event_type WHERE (organization_id, event_type) IN (${page}) AND NOT ${isKept} RETURNING 1`, before),
      database.prepare(
        `UPDATE event_type SET created_at = ?2 WHERE (organization_id, event_type) IN (${page}) AND ${isKept} RETURNING 1`,
        before,
        now,
      ),
    ],
    'idempotent',
  );
  return gone!.length + kept!.length >= eventTypesPerPage;
}
