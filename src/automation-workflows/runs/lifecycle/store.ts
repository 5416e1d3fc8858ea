import type { automationRun } from '../../../database/schema/automation-workflows.ts';
import type { StoredRow } from '../../../database/stored-row.ts';
import { type Database, violatedUniqueColumns } from '../../../database/client.ts';
import { isNotFailedSql } from '../../../outbox/failed-messages.ts';

/** Runs that were held while their workflow was paused, oldest first. */
export async function findPausedRuns(database: Database, organizationId: number, workflowId: number, limit: number): Promise<number[]> {
  const rows = await database.all(
    database.prepare<{ id: number }>(
      `SELECT id FROM automation_run INDEXED BY automation_run_hold WHERE workflow_id = ? AND hold = 'paused' AND organization_id = ?
         AND ${isNotFailedSql("'run_release:' || automation_run.id")} ORDER BY id LIMIT ?`,
      workflowId,
      organizationId,
      limit,
    ),
  );
  return rows.map((row) => row.id);
}

/** Clears the holds of runs that have no object. */
export async function clearHolds(database: Database, organizationId: number, ids: number[]): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE automation_run SET hold = NULL WHERE id IN (SELECT value FROM json_each(?)) AND +organization_id = ? AND hold = 'paused'`,
      JSON.stringify(ids),
      organizationId,
    ),
    'idempotent',
  );
}

const isLiveSql = `r.state <> 'completed' AND r.state IN ('queued', 'pending', 'running', 'waiting')`;

/**
 * Marks a page of live runs that began before their workflow's settings required the mark. `is_exitable`: exit events find the run.
 * `is_sole`: the run holds its entry key; of several runs, the oldest. Answers how many were marked.
 */
export async function markRuns(
  database: Database,
  organizationId: number,
  workflowId: number,
  mark: 'is_exitable' | 'is_sole',
  limit: number,
): Promise<number> {
  const isTaken = `EXISTS (SELECT 1 FROM automation_run s INDEXED BY automation_run_sole WHERE s.workflow_id = r.workflow_id AND s.entry_key = r.entry_key AND s.is_sole = 1)`;
  const rows = await database.all(
    database.prepare(
      `UPDATE OR IGNORE automation_run SET ${mark} = 1 WHERE id IN (
         SELECT r.id FROM automation_run r INDEXED BY automation_run_workflow_state WHERE r.workflow_id = ? AND ${isLiveSql} AND r.${mark} = 0
           ${mark === 'is_sole' ? `AND r.is_test = 0 AND r.entry_key IS NOT NULL AND NOT ${isTaken}` : ''} ORDER BY r.id LIMIT ?
       ) AND +organization_id = ? RETURNING id`,
      workflowId,
      limit,
      organizationId,
    ),
    'read-back',
  );
  return rows.length;
}

/** Whether a failed run's row became live again, or why not. */
export type ReviveResult = 'revived' | 'archived' | 'max_active_runs' | 'one_live_run_per_key' | 'ended';

/**
 * Makes a failed run's row live again, on a version of its workflow, if the workflow's admission rules allow it. `revision` is the next
 * revision of the run's object. Repeatable with the same revision.
 */
export async function reviveRun(
  database: Database,
  organizationId: number,
  { id, version, now, revision }: { id: number; version: number; now: number; revision: number },
): Promise<ReviveResult> {
  try {
    const [revived, rows] = await database.batch(
      [
        database.prepare(
          `UPDATE automation_run SET state = 'running', workflow_version = ?1, outcome = NULL, error = NULL, history = NULL, completed_at = NULL, wake_at = ?2, revision = ?3,
           is_sole = (SELECT coalesce(w.settings ->> 'one_live_run_per_key', 0) AND automation_run.is_test = 0 AND automation_run.entry_key IS NOT NULL
             FROM automation_workflow w WHERE w.id = automation_run.workflow_id),
           is_exitable = (SELECT json_array_length(w.settings, '$.exit_on') > 0 FROM automation_workflow w WHERE w.id = automation_run.workflow_id)
         WHERE id = ?4 AND organization_id = ?5 AND state = 'failed' AND revision < ?3 AND EXISTS (
           SELECT 1 FROM automation_workflow w WHERE w.id = automation_run.workflow_id AND w.status <> 'archived' AND (automation_run.is_test = 1
             OR w.settings ->> 'max_active_runs' IS NULL OR w.active_runs_count - w.held_runs_count < w.settings ->> 'max_active_runs')
         ) RETURNING id`,
          version,
          now,
          revision,
          id,
          organizationId,
        ),
        database.prepare<{ state: string; revision: number; status: string }>(
          `SELECT r.state, r.revision, w.status FROM automation_run r CROSS JOIN automation_workflow w
         WHERE r.id = ? AND r.organization_id = ? AND w.id = r.workflow_id`,
          id,
          organizationId,
        ),
      ],
      'idempotent',
    );
    const row = rows[0];
    if (revived.length || (row?.state === 'running' && row.revision === revision)) return 'revived';
    if (row?.state !== 'failed') return 'ended';
    return row.status === 'archived' ? 'archived' : 'max_active_runs';
  } catch (error) {
    if (violatedUniqueColumns(error)) return 'one_live_run_per_key';
    throw error;
  }
}

export type ErasableRun = Pick<StoredRow<typeof automationRun>, 'id' | 'initial_context'> & { completed_at: number };

const deletedContactFilter = `contact_id = ?1 AND organization_id = ?2
  AND EXISTS (SELECT 1 FROM contact WHERE id = ?1 AND organization_id = ?2 AND deleted_at IS NOT NULL)`;

/** A page of a deleted contact's ended runs, and whether the contact has a live run. */
export async function findErasableRuns(
  database: Database,
  organizationId: number,
  contactId: number,
  limit: number,
): Promise<{ ended: ErasableRun[]; hasLive: boolean }> {
  const runs = `FROM automation_run INDEXED BY automation_run_contact WHERE ${deletedContactFilter}`;
  const [ended, live] = await database.batch([
    database.prepare<ErasableRun>(
      `SELECT id, initial_context, completed_at ${runs} AND completed_at IS NOT NULL LIMIT ?3`,
      contactId,
      organizationId,
      limit,
    ),
    database.prepare(`SELECT 1 ${runs} AND completed_at IS NULL LIMIT 1`, contactId, organizationId),
  ]);
  return { ended, hasLive: live.length > 0 };
}

/** Erases the personal data of ended runs' rows. The workflow, the state and the moments stay. */
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
           context_changes = NULL, history = NULL, error = iif(json_valid(error), json_set(error, '$.message', 'Erased with the contact'), NULL)
         WHERE id IN (SELECT value FROM json_each(?1)) AND +organization_id = ?2 AND completed_at IS NOT NULL`,
        json,
        organizationId,
      ),
    ],
    'idempotent',
  );
}
