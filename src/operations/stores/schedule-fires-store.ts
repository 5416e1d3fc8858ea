import type { Database, Statement } from '../../database/client.ts';
import { givenUpPrefix } from '../../outbox/failed-messages.ts';
import { isGivenUpSql, type Source } from './source.ts';

export const givenUpFires: Source = {
  columns: {
    key: "r.trigger_id || ':' || r.scheduled_at",
    id: 'r.trigger_id',
    at: 'r.created_at',
    state: "'given_up'",
    name: '(SELECT t.name FROM automation_trigger t WHERE t.id = r.trigger_id)',
    why: 'r.note',
    workflow_id: '(SELECT t.workflow_id FROM automation_trigger t WHERE t.id = r.trigger_id)',
  },
  from: `schedule_fire r INDEXED BY schedule_fire_given_up WHERE r.organization_id = ?1 AND ${isGivenUpSql}`,
  order: 'moment',
};

/** Opens a firing that was given up, at the page where it stood. */
export const reopenFireStatement = (
  database: Database,
  organizationId: number,
  { triggerId, scheduledAt }: { triggerId: number; scheduledAt: number },
): Statement<{ scheduled_at: number }> =>
  database.prepare<{ scheduled_at: number }>(
    `UPDATE schedule_fire SET handled_at = NULL, note = NULL WHERE trigger_id = ?1 AND scheduled_at = ?2 AND organization_id = ?3
       AND substr(note, 1, ${givenUpPrefix.length}) = '${givenUpPrefix}' RETURNING scheduled_at`,
    triggerId,
    scheduledAt,
    organizationId,
  );
