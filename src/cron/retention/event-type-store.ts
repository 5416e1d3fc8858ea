import type { Database } from '../../database/client.ts';

const pageRows = 1000;

/**
 * Forgets types of which no event is kept, among those not looked at since `before`; the others are looked at again as late as if they were
 * new. True: there may be more.
 */
export async function deleteUnseenEventTypes(database: Database, before: number, now: number): Promise<boolean> {
  const page = `SELECT organization_id, event_type FROM event_type WHERE created_at < ?1 ORDER BY created_at LIMIT ${pageRows}`;
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
  return gone!.length + kept!.length >= pageRows;
}
