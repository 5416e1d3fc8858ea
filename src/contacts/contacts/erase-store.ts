import type { Database } from '../../database/client.ts';
import type { FirstAttempt } from '../../database/write-receipts.ts';

const cleanupFromReceipt = async ({ changes, rowId }: FirstAttempt) => [[], [], [], [], changes ? [{ id: rowId }] : []];

/**
 * Replaces the contact by a tombstone without personal data, removes it from its lists and counters, and records a cleanup of the rows
 * that still name it. Answers the id of the cleanup; null when the contact does not exist.
 */
export async function tombstoneContact(database: Database, organizationId: number, id: number, now: number): Promise<number | null> {
  const isLive = 'EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NULL)';
  const statements = [
    database.prepare(
      `UPDATE contact_list SET contacts_count = contacts_count - 1
       WHERE id IN (SELECT list_id FROM contact_list_member WHERE contact_id = ?1) AND ${isLive}`,
      id,
      organizationId,
    ),
    database.prepare(`DELETE FROM contact_list_member WHERE contact_id = ?1 AND ${isLive}`, id, organizationId),
    database.prepare(`DELETE FROM contact_change WHERE contact_id = ?1 AND ${isLive}`, id, organizationId),
    database.prepare(
      `UPDATE organization_usage SET contacts_count = contacts_count - 1 WHERE organization_id = ?2 AND ${isLive}`,
      id,
      organizationId,
    ),
    database.prepare<{ id: number }>(
      `INSERT INTO cleanup (organization_id, kind, subject_id, created_at) SELECT ?2, 'contact_deleted', ?1, ?3 WHERE ${isLive} RETURNING id`,
      id,
      organizationId,
      now,
    ),
    database.prepare(
      `UPDATE contact SET external_id = NULL, phone = NULL, email = NULL, first_name = NULL, last_name = NULL, company = NULL, title = NULL,
         tags = '[]', custom_fields = '{}', updated_at = ?3, deleted_at = ?3, revision = revision + 1, depth = 0
       WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NULL`,
      id,
      organizationId,
      now,
    ),
  ] as const;
  const [, , , , recorded] = await database.batchOnce(statements, cleanupFromReceipt, 5);
  return recorded[0]?.id ?? null;
}
