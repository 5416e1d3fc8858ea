import type { Database } from '../database/client.ts';

export interface ErasableEvent {
  id: number;
  /** JSON text, or a pointer into R2. */
  data: string;
}

const deletedContactCondition = `contact_id = ?1 AND organization_id = ?2
  AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL)`;

/** A page of a deleted contact's events. */
export const findErasableEvents = (
  database: Database,
  organizationId: number,
  contactId: number,
  limit: number,
): Promise<ErasableEvent[]> =>
  database.all(
    database.prepare(
      `SELECT id, data FROM event INDEXED BY event_contact WHERE ${deletedContactCondition} LIMIT ?3`,
      contactId,
      organizationId,
      limit,
    ),
  );

/** Leaves of events that they came, of which type and when. What nobody has handled yet starts nothing any more. */
export async function eraseEventRows(database: Database, organizationId: number, ids: number[], now: number): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE event SET contact_id = NULL, phone = NULL, data = '{}', note = iif(handled_at IS NULL OR note IS NOT NULL, 'The contact was deleted', NULL),
         handled_at = ifnull(handled_at, ?3)
       WHERE id IN (SELECT value FROM json_each(?1)) AND +organization_id = ?2`,
      JSON.stringify(ids),
      organizationId,
      now,
    ),
    'idempotent',
  );
}
