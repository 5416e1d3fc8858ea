import type { Database } from '../../../database/client.ts';
import { isNotFailedSql } from '../../../outbox/failed-messages.ts';

/** Runs that were held while their workflow was paused, longest held first. */
export async function findPausedRuns(database: Database, organizationId: number, workflowId: number, limit: number): Promise<number[]> {
  const rows = await database.all<{ id: number }>(
    database.prepare(
      `SELECT id FROM automation_run INDEXED BY automation_run_hold WHERE workflow_id = ? AND hold = 'paused' AND organization_id = ?
         AND ${isNotFailedSql("'run_release:' || automation_run.id")} ORDER BY id LIMIT ?`,
      workflowId,
      organizationId,
      limit,
    ),
  );
  return rows.map((row) => row.id);
}

/** For runs that have no object, so that nobody else would clear their holds. */
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
 * Marks a page of live runs that began before their workflow's settings asked for the mark: found by exit events, or the only one
 * of its key, of several the oldest. Answers how many were marked.
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
