import type { Database } from '../database/client.ts';
import { moveCursor, readCursor, findUnhandledAfter } from './cursor-store.ts';

/** Rows read in one step, and steps in one tick: a backlog of 200,000 rows a minute is caught up with. */
const windowRows = 20_000;
const maxSteps = 10;

const tablesByKind = {
  event: { table: 'event', cursor: 'events_handled' },
  delivery: { table: 'webhook_delivery', cursor: 'deliveries_handled' },
} as const;

/**
 * Accepted records that are older than `before` and unhandled, at most `limit`. Everything up to a cursor is known to be
 * handled; it moves along the primary key, so each row is read about once in its life and no index has to be written for it.
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
