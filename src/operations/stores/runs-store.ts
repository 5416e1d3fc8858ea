import type { IndexedRows } from '../../database/newest-rows.ts';
import type { Source } from './source.ts';

/** Failed runs lie in one stretch of an index for each journey, so `failedRuns` finds their ids. */
export const failedRunColumns: Pick<Source, 'columns'> = {
  columns: {
    at: 'r.completed_at',
    state: "'failed'",
    name: '(SELECT w.name FROM automation_workflow w WHERE w.id = r.workflow_id)',
    why: "iif(json_valid(r.error), r.error ->> '$.message', r.error)",
    workflow_id: 'r.workflow_id',
  },
};

export const failedRuns = (organizationId: number): IndexedRows => ({
  table: 'automation_run',
  index: 'automation_run_workflow_state',
  lanes: { sql: 'SELECT id AS workflow_id FROM automation_workflow WHERE organization_id = ?', parameters: [organizationId] },
  where: {
    sql: "r.organization_id = ? AND r.is_test = 0 AND r.workflow_id = lane.workflow_id AND r.state = 'failed' AND r.state <> 'completed'",
    parameters: [organizationId],
  },
});
