import type { Database } from '../../database/client.ts';
import type { StoredArchive } from './archive-expiry-store.ts';

/** A page of the archives that name a deleted contact. */
export const findArchivesNamingContact = (
  database: Database,
  organizationId: number,
  contactId: number,
  limit: number,
): Promise<(StoredArchive & { created_at: number })[]> =>
  database.all(
    database.prepare(
      `SELECT a.id, a.organization_id, a.kind, a.name, a.created_at FROM archive_contact c CROSS JOIN archive a
       WHERE c.contact_id = ?1 AND a.id = c.archive_id AND a.organization_id = ?2
         AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL) LIMIT ?3`,
      contactId,
      organizationId,
      limit,
    ),
  );

export async function deleteArchiveContact(database: Database, contactId: number, archiveId: number): Promise<void> {
  await database.all(
    database.prepare('DELETE FROM archive_contact WHERE contact_id = ? AND archive_id = ?', contactId, archiveId),
    'idempotent',
  );
}
