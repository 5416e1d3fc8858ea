import { isNotLeavingSql } from '../database/transit.ts';
import { eq } from 'drizzle-orm';
import { isNotFailedSql } from '../outbox/failed-messages.ts';
import type { Database } from '../database/client.ts';
import { roundRobinQuery } from '../database/round-robin-query.ts';
import { progress } from '../database/schema/operations.ts';

/** Accepted rows that are their own outbox. */
export type AcceptedTable = 'event' | 'webhook_delivery';
const kindByTable = { event: 'event', webhook_delivery: 'delivery' } satisfies Record<AcceptedTable, string>;

async function readCursor(database: Database, name: string): Promise<number> {
  const query = database.orm.select({ value: progress.value }).from(progress).where(eq(progress.name, name));
  return (await database.run(() => query))[0]?.value ?? 0;
}

const setCursorSql = 'INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)';

/**
 * Moves a cursor over the rows of `table` after `from` that are old enough, up to the first unhandled row. A row with a time in the future
 * counts by its id, so none is skipped unseen. Failed rows are retried on their own and are skipped.
 */
async function moveCursor(
  database: Database,
  sweep: { table: AcceptedTable; cursor: string; from: number; before: number; windowRows: number },
): Promise<{ to: number; firstOpen: number | null }> {
  const { table, cursor, from, before, windowRows } = sweep;
  const row = await database.first(
    database.prepare<{ top: number | null; first_open: number | null }>(
      `WITH seen AS (SELECT id, created_at, handled_at FROM ${table} WHERE id > ? ORDER BY id LIMIT ?),
         top AS (SELECT max(id) AS id FROM seen WHERE created_at < ?)
       SELECT (SELECT id FROM top) AS top, (SELECT min(id) FROM seen WHERE handled_at IS NULL AND id <= (SELECT id FROM top) AND ${isNotFailedSql(`'${kindByTable[table]}:' || seen.id`)}) AS first_open`,
      from,
      windowRows,
      before,
    ),
  );
  const firstOpen = row?.first_open ?? null;
  const to = firstOpen === null ? (row?.top ?? from) : firstOpen - 1;
  if (to > from) await database.all(database.prepare(setCursorSql, cursor, to), 'progress.name');
  return { to, firstOpen };
}

/** Unhandled rows after the cursor that were stored before `before`, in turns by organization, found along the primary key. */
export async function findUnhandledAfter(
  database: Database,
  table: AcceptedTable,
  cursor: number,
  before: number,
  limit: number,
): Promise<{ id: number; organization_id: number }[]> {
  return database.all(
    database.prepare<{ id: number; organization_id: number }>(
      roundRobinQuery(
        'id, organization_id',
        `${table} WHERE id > ? AND handled_at IS NULL AND created_at < ? AND ${isNotFailedSql(`'${kindByTable[table]}:' || ${table}.id`)}`,
        'id',
      ),
      cursor,
      before,
      limit,
    ),
  );
}

/** Adds the events since the last count to their organizations' counters, and stores the id up to which events are counted. */
export async function countEvents(database: Database, now: number): Promise<void> {
  const from = await readCursor(database, 'events_counted');
  const newest = await database.first(database.prepare<{ id: number | null }>('SELECT max(id) AS id FROM event'));
  if (newest?.id == null || newest.id <= from) return;
  const to = Math.min(newest.id, from + 200_000);
  const isUncounted = "coalesce((SELECT value FROM progress WHERE name = 'events_counted'), 0) = ?";
  await database.batch(
    [
      database.prepare(
        `INSERT INTO organization_usage (organization_id, events_count)
       SELECT organization_id, count(*) FROM event WHERE id > ?1 AND id <= ?2 AND ${isUncounted.replace('?', '?1')} AND ${isNotLeavingSql('organization_id')} GROUP BY organization_id
       ON CONFLICT (organization_id) DO UPDATE SET events_count = events_count + excluded.events_count`,
        from,
        to,
      ),
      // A tick whose time is ahead of the clock would hide the events that follow.
      database.prepare(setCursorSql, 'events_counted_at', to === newest.id ? Math.min(now, Date.now()) : 0),
      database.prepare(setCursorSql, 'events_counted', to),
    ],
    'progress.name',
  );
}

/** Rows read in one step, and steps in one tick: a backlog of 200,000 rows a minute is caught up with. */
const windowRows = 20_000;
const maxSteps = 10;

const tablesByKind = {
  event: { table: 'event', cursor: 'events_handled' },
  delivery: { table: 'webhook_delivery', cursor: 'deliveries_handled' },
} as const;

/**
 * Accepted records that are older than `before` and unhandled, at most `limit`. All records up to a cursor are known to be handled. The
 * cursor moves along the primary key, so each row is read about once, and no index is needed.
 */
export async function findUnhandled(
  database: Database,
  kind: keyof typeof tablesByKind,
  before: number,
  limit: number,
): Promise<{ id: number; organization_id: number }[]> {
  const { table, cursor } = tablesByKind[kind];
  let from = await readCursor(database, cursor);
  for (let step = 0; step < maxSteps; step++) {
    const moved = await moveCursor(database, { table, cursor, from, before, windowRows });
    const isBlocked = moved.firstOpen !== null;
    if (isBlocked || moved.to === from) return findUnhandledAfter(database, table, moved.to, before, limit);
    from = moved.to;
  }
  return findUnhandledAfter(database, table, from, before, limit);
}
