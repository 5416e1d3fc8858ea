import type { Context } from '../context.ts';
import { deleteFiles } from '../database/delete-files.ts';
import { payloadKey } from '../database/payload.ts';
import type { event } from '../database/schema/index.ts';
import type { StoredRow } from '../database/stored-row.ts';

const pageSize = 200;

const deletedContactCondition = `contact_id = ?1 AND organization_id = ?2
  AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL)`;

/**
 * Erases phone and data of one page of a deleted contact's events, and their large payloads in R2. Type and time of the events stay; an
 * unhandled event starts no journey any more. Answers whether no events are left.
 */
export async function eraseEvents({ database, organization, bindings, clock }: Context, contactId: number): Promise<boolean> {
  const events = await database.all(
    database.prepare<Pick<StoredRow<typeof event>, 'id' | 'data'>>(
      `SELECT id, data FROM event INDEXED BY event_contact WHERE ${deletedContactCondition} LIMIT ?3`,
      contactId,
      organization.id,
      pageSize,
    ),
  );
  if (events.length === 0) return true;
  // Files go before rows: only the rows name the files.
  await deleteFiles(
    bindings.FILES,
    events.flatMap(({ data }) => payloadKey(data) ?? []),
  );
  await database.all(
    database.prepare(
      `UPDATE event SET contact_id = NULL, phone = NULL, data = '{}', handling = NULL, note = iif(handled_at IS NULL OR note IS NOT NULL, 'The contact was deleted', NULL),
         handled_at = ifnull(handled_at, ?3)
       WHERE id IN (SELECT value FROM json_each(?1)) AND +organization_id = ?2`,
      JSON.stringify(events.map(({ id }) => id)),
      organization.id,
      clock(),
    ),
    'idempotent',
  );
  return events.length < pageSize;
}
