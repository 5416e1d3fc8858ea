import type { Database } from '../database/client.ts';

export interface LatestEvent {
  id: number;
  event_type: string;
  contact_id: number;
  data: string;
  note: string | null;
  created_at: number;
  handled_at: number | null;
}

/** How many of a contact's events are looked through. */
export const maxScannedEvents = 1000;

/** The newest event of each type that is among the newest events of a contact. */
export async function findNewestOfTypes(
  database: Database,
  organizationId: number,
  contactId: number,
  types: string[],
): Promise<LatestEvent[]> {
  return database.all(
    database.prepare(
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
      organizationId,
      JSON.stringify(types),
    ),
  );
}
