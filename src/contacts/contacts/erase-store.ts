import type { Database } from '../../database/client.ts';
import type { FirstAttempt } from '../../database/write-receipts.ts';

const pageSize = 500;

const cleanupFromReceipt = async ({ changes, rowId }: FirstAttempt) => [[], [], [], [], changes ? [{ id: rowId }] : []];

/**
 * Leaves a tombstone without personal data, takes the contact off its lists and counters, and records what is left to be
 * erased. Answers the id of that record; null when there is no such contact.
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
    database.prepare(
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
  ];
  const results = await database.batchOnce(statements, cleanupFromReceipt, 5);
  return (results[4]![0]?.id as number | undefined) ?? null;
}

/** Removes one page of a deleted list's memberships; answers whether that was the last. */
export async function removeDeletedListMembers(database: Database, organizationId: number, listId: number): Promise<boolean> {
  const removed = await database.all(
    database.prepare(
      `DELETE FROM contact_list_member WHERE list_id = ?1
         AND contact_id IN (SELECT contact_id FROM contact_list_member WHERE list_id = ?1 LIMIT ${pageSize})
         AND EXISTS (SELECT 1 FROM contact_list WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL) RETURNING 1`,
      listId,
      organizationId,
    ),
    'idempotent',
  );
  return removed.length < pageSize;
}
