import { isNotFailed } from '../../queues/failed-messages.ts';
import type { Database } from '../../database/client.ts';
import type { ArmedTrigger } from './store.ts';

/** Triggers that are due, with their workflows; only active triggers of active workflows have a next firing. */
export async function dueTriggers(database: Database, now: number, limit: number): Promise<ArmedTrigger[]> {
  return database.all(
    database.prepare(
      `SELECT t.*, w.status AS workflow_status, w.version AS workflow_version, w.context_schema AS workflow_context_schema, w.settings AS workflow_settings
       FROM automation_trigger t INDEXED BY automation_trigger_due CROSS JOIN automation_workflow w
       WHERE t.next_fire_at IS NOT NULL AND t.next_fire_at <= ? AND w.id = t.workflow_id ORDER BY t.next_fire_at LIMIT ?`,
      now,
      limit,
    ),
  );
}

/** Writes what is fired and when the trigger is due next, in one step, unless another tick was faster. */
export async function recordFire(
  database: Database,
  trigger: { id: number; organization_id: number; next_fire_at: number | null },
  fire: { scheduledAt: number | null; nextFireAt: number | null },
  now: number,
): Promise<boolean> {
  const [moved] = await database.batch([
    database.prepare(
      'UPDATE automation_trigger SET next_fire_at = ? WHERE id = ? AND next_fire_at = ? RETURNING id',
      fire.nextFireAt,
      trigger.id,
      trigger.next_fire_at,
    ),
    ...(fire.scheduledAt === null
      ? []
      : [
          database.prepare(
            `INSERT INTO schedule_fire (trigger_id, scheduled_at, organization_id, created_at) SELECT ?, ?, ?, ? WHERE changes() > 0
             ON CONFLICT (trigger_id, scheduled_at) DO NOTHING`,
            trigger.id,
            fire.scheduledAt,
            trigger.organization_id,
            now,
          ),
        ]),
  ]);
  return moved!.length > 0;
}

export interface FireRow {
  trigger_id: number;
  scheduled_at: number;
  organization_id: number;
  cursor: number;
}

export async function openFire(
  database: Database,
  organizationId: number,
  triggerId: number,
  scheduledAt: number,
): Promise<FireRow | null> {
  return database.first(
    database.prepare(
      'SELECT * FROM schedule_fire WHERE trigger_id = ? AND scheduled_at = ? AND organization_id = ? AND handled_at IS NULL',
      triggerId,
      scheduledAt,
      organizationId,
    ),
  );
}

/** Contact ids of a list after the cursor, ascending, so that members added meanwhile are not skipped. */
export async function audiencePage(
  database: Database,
  organizationId: number,
  listId: number,
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await database.all<{ contact_id: number }>(
    database.prepare(
      `SELECT m.contact_id FROM contact_list l CROSS JOIN contact_list_member m
       WHERE l.id = ? AND l.organization_id = ? AND l.deleted_at IS NULL AND m.list_id = l.id AND m.contact_id > ? ORDER BY m.contact_id LIMIT ?`,
      listId,
      organizationId,
      after,
      limit,
    ),
  );
  return rows.map((row) => row.contact_id);
}

export async function moveFire(
  database: Database,
  fire: FireRow,
  cursor: number,
  done: { at: number; note: string | null } | null,
): Promise<void> {
  await database.all(
    database.prepare(
      'UPDATE schedule_fire SET cursor = max(cursor, ?), handled_at = ?, note = ? WHERE trigger_id = ? AND scheduled_at = ? AND handled_at IS NULL',
      cursor,
      done?.at ?? null,
      done?.note ?? null,
      fire.trigger_id,
      fire.scheduled_at,
    ),
  );
}

export async function staleFires(database: Database, before: number, limit: number): Promise<FireRow[]> {
  return database.all(
    database.prepare(
      `SELECT * FROM schedule_fire INDEXED BY schedule_fire_open WHERE handled_at IS NULL AND created_at < ?
         AND ${isNotFailed("'schedule_fire:' || schedule_fire.trigger_id || ':' || schedule_fire.scheduled_at")} ORDER BY created_at LIMIT ?`,
      before,
      limit,
    ),
  );
}
