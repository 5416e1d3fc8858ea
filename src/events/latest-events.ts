import type { Context } from '../context.ts';
import type { event } from '../database/schema/index.ts';
import type { StoredRow } from '../database/stored-row.ts';

export type LatestEvent = Pick<StoredRow<typeof event>, 'id' | 'event_type' | 'contact_id' | 'data' | 'note' | 'created_at' | 'handled_at'>;

/** The newest events of a contact that are searched. */
const maxScannedEvents = 1000;

/** The contact's newest event of each of `types`, newest first, among its newest 1,000 events. `data` may be a pointer into R2. */
export async function findLatestEvents({ database, organization }: Context, contactId: number, types: string[]): Promise<LatestEvent[]> {
  if (!types.length) return [];
  return database.all(
    database.prepare<LatestEvent>(
      `WITH newest AS (
         SELECT id, event_type, created_at FROM event INDEXED BY event_contact WHERE contact_id = ? AND organization_id = ?
         ORDER BY created_at DESC, id DESC LIMIT ${maxScannedEvents}
       ), top AS (
         SELECT id, row_number() OVER (PARTITION BY event_type ORDER BY created_at DESC, id DESC) AS place FROM newest
         WHERE event_type IN (SELECT value FROM json_each(?))
       )
       SELECT e.id, e.event_type, e.contact_id, e.data, e.note, e.created_at, e.handled_at FROM top CROSS JOIN event e
       WHERE top.place = 1 AND e.id = top.id ORDER BY e.created_at DESC, e.id DESC`,
      contactId,
      organization.id,
      JSON.stringify(types),
    ),
  );
}
