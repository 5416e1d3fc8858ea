import { violatedUniqueColumns, type Database } from '../../../database/client.ts';

/** Why a failed run's row did not become live again, or that it did. */
export type ReviveResult = 'revived' | 'archived' | 'max_active_runs' | 'one_live_run_per_key' | 'ended';

/**
 * Makes the row of a failed run a live one again, on this version of its workflow, if the workflow's rules of admission let it.
 * `revision` is the one that the run's object will have: a second call finds the first one's work.
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
          `UPDATE automation_run SET state = 'running', workflow_version = ?1, outcome = NULL, error = NULL, completed_at = NULL, wake_at = ?2, revision = ?3,
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
        database.prepare(
          `SELECT r.state, r.revision, w.status FROM automation_run r CROSS JOIN automation_workflow w
         WHERE r.id = ? AND r.organization_id = ? AND w.id = r.workflow_id`,
          id,
          organizationId,
        ),
      ],
      'idempotent',
    );
    const row = rows![0] as { state: string; revision: number; status: string } | undefined;
    if (revived!.length || (row?.state === 'running' && row.revision === revision)) return 'revived';
    if (row?.state !== 'failed') return 'ended';
    return row.status === 'archived' ? 'archived' : 'max_active_runs';
  } catch (error) {
    if (violatedUniqueColumns(error)) return 'one_live_run_per_key';
    throw error;
  }
}
