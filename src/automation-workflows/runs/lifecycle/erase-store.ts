import type { Database } from '../../../database/client.ts';

export interface ErasableRun {
  id: number;
  /** JSON text, or a pointer into R2; null: its source keeps it. */
  initial_context: string | null;
  completed_at: number;
}

const deletedContactFilter = `contact_id = ?1 AND organization_id = ?2
  AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL)`;

/** A page of a deleted contact's ended runs, and whether it has a run that lives. */
export async function findErasableRuns(
  database: Database,
  organizationId: number,
  contactId: number,
  limit: number,
): Promise<{ ended: ErasableRun[]; hasLive: boolean }> {
  const runs = `FROM automation_run INDEXED BY automation_run_contact WHERE ${deletedContactFilter}`;
  const [ended, live] = await database.batch([
    database.prepare(
      `SELECT id, initial_context, completed_at ${runs} AND completed_at IS NOT NULL LIMIT ?3`,
      contactId,
      organizationId,
      limit,
    ),
    database.prepare(`SELECT 1 ${runs} AND completed_at IS NULL LIMIT 1`, contactId, organizationId),
  ]);
  return { ended: ended! as unknown as ErasableRun[], hasLive: live!.length > 0 };
}

/** Leaves of ended runs what tells nothing of the person: of which journey they were, how far they came and when. */
export async function eraseRunRows(database: Database, organizationId: number, ids: number[]): Promise<void> {
  const json = JSON.stringify(ids);
  await database.batch(
    [
      database.prepare(
        `DELETE FROM workflow_entry WHERE (workflow_id, entry_key) IN (
           SELECT e.workflow_id, e.entry_key FROM json_each(?1) j CROSS JOIN automation_run r CROSS JOIN workflow_entry e
           WHERE r.id = j.value AND r.organization_id = ?2 AND e.workflow_id = r.workflow_id AND e.entry_key = r.entry_key AND e.run_id = r.id
         )`,
        json,
        organizationId,
      ),
      database.prepare(
        `UPDATE automation_run SET contact_id = NULL, entry_key = NULL, initial_context = iif(source = 'run', '{}', NULL),
           context_changes = NULL, error = iif(json_valid(error), json_set(error, '$.message', 'Erased with the contact'), NULL)
         WHERE id IN (SELECT value FROM json_each(?1)) AND +organization_id = ?2 AND completed_at IS NOT NULL`,
        json,
        organizationId,
      ),
    ],
    'idempotent',
  );
}
