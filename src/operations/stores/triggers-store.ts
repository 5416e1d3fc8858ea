import type { Source } from './source.ts';

export const failingTriggers: Source = {
  columns: { at: 'r.updated_at', state: "'failing'", name: 'r.name', why: 'r.last_error', workflow_id: 'r.workflow_id' },
  from: "automation_trigger r INDEXED BY automation_trigger_failing WHERE r.organization_id = ?1 AND r.last_error IS NOT NULL AND r.state <> 'archived'",
  order: 'id',
};
