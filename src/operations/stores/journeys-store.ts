import type { Database, Statement } from '../../database/client.ts';
import type { Source } from './source.ts';

export const heldJourneys: Source = {
  columns: {
    at: 'coalesce(r.updated_at, r.created_at)',
    state: "iif(r.status = 'paused', 'paused', 'held')",
    name: 'r.name',
    why: `iif(r.status = 'paused', 'The journey is paused, and ' || r.active_runs_count || ' of its runs live: their next side effect waits',
      r.held_runs_count || ' of its runs wait for their turn: settings.max_active_runs allows ' || (r.settings ->> 'max_active_runs') || ' at once')`,
    workflow_id: 'r.id',
  },
  from: `automation_workflow r INDEXED BY automation_workflow_organization WHERE r.organization_id = ?1 AND r.status IN ('active', 'paused')
    AND (r.held_runs_count > 0 OR (r.status = 'paused' AND r.active_runs_count > 0))`,
  order: 'id',
};

/** The state of a journey with its held runs. */
export const journeyHoldStatement = (
  database: Database,
  organizationId: number,
  id: number,
): Statement<{ status: string; held_runs_count: number }> =>
  database.prepare<{ status: string; held_runs_count: number }>(
    'SELECT status, held_runs_count FROM automation_workflow WHERE id = ? AND organization_id = ?',
    id,
    organizationId,
  );
