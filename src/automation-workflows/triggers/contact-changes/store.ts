import { isNotFailedSql } from '../../../outbox/failed-messages.ts';
import type { Database } from '../../../database/client.ts';

export interface ChangeRow {
  id: number;
  before: string | null;
  /** The contact before its next change, which is the contact after this change. */
  next_before: string | null;
  /** The contact as it is now; null when it is deleted. */
  current: string | null;
  depth: number;
  created_at: number;
}

export async function listChanges(database: Database, organizationId: number, limit: number): Promise<ChangeRow[]> {
  return database.all(
    database.prepare<ChangeRow>(
      `SELECT h.id, h.before, h.depth, h.created_at,
         (SELECT n.before FROM contact_change n WHERE n.contact_id = h.contact_id AND n.id > h.id ORDER BY n.id LIMIT 1) AS next_before,
         (SELECT json_object('id', c.id, 'organization_id', c.organization_id, 'external_id', c.external_id, 'phone', c.phone, 'email', c.email,
            'first_name', c.first_name, 'last_name', c.last_name, 'company', c.company, 'title', c.title, 'tags', json(c.tags),
            'custom_fields', json(c.custom_fields), 'created_at', c.created_at, 'updated_at', c.updated_at)
          FROM contact c WHERE c.id = h.contact_id AND c.deleted_at IS NULL) AS current
       FROM contact_change h WHERE h.organization_id = ? ORDER BY h.id LIMIT ?`,
      organizationId,
      limit,
    ),
  );
}

export async function deleteChanges(database: Database, organizationId: number, ids: number[]): Promise<void> {
  await database.all(
    database.prepare(
      'DELETE FROM contact_change WHERE id IN (SELECT value FROM json_each(?)) AND +organization_id = ?',
      JSON.stringify(ids),
      organizationId,
    ),
    'idempotent',
  );
}

/** Organizations whose oldest change is from before `before` (epoch ms). The table holds only unhandled changes. */
export async function findOrganizationsWithChanges(database: Database, before: number, limit: number): Promise<number[]> {
  const rows = await database.all(
    database.prepare<{ organization_id: number }>(
      // The recursion skips from one organization to the next along the index, so that the many changes of one hide no other's.
      `WITH RECURSIVE step (subject) AS (
         SELECT min(organization_id) FROM contact_change
         UNION ALL SELECT (SELECT min(organization_id) FROM contact_change WHERE organization_id > subject) FROM step WHERE subject IS NOT NULL
       )
       SELECT subject AS organization_id FROM step WHERE subject IS NOT NULL
         AND (SELECT created_at FROM contact_change WHERE organization_id = subject ORDER BY id LIMIT 1) < ?
         AND ${isNotFailedSql("'contact_changes:' || subject")} LIMIT ?`,
      before,
      limit,
    ),
  );
  return rows.map((row) => row.organization_id);
}

/** Deletes the oldest change of an organization. */
export async function discardFirstChange(database: Database, organizationId: number): Promise<void> {
  await database.all(
    database.prepare(
      'DELETE FROM contact_change WHERE id = (SELECT id FROM contact_change WHERE organization_id = ? ORDER BY id LIMIT 1)',
      organizationId,
    ),
  );
}
