import { isNotInTransitSql } from '../../../database/transit.ts';
import { and, eq, isNull } from 'drizzle-orm';
import { automationTrigger, scheduleFire } from '../../../database/schema/automation-workflows.ts';
import type { StoredRow } from '../../../database/stored-row.ts';
import { isNotFailedSql } from '../../../outbox/failed-messages.ts';
import type { Database } from '../../../database/client.ts';
import { roundRobinQuery } from '../../../database/round-robin-query.ts';
import { triggerWithWorkflowColumns, type TriggerWithWorkflow } from '../store.ts';

/** Triggers that are due, with their workflows. Only active triggers of active workflows have a next firing. */
export async function findDueTriggers(database: Database, now: number, limit: number): Promise<TriggerWithWorkflow[]> {
  return database.all(
    database.prepare<TriggerWithWorkflow>(
      `SELECT ${triggerWithWorkflowColumns}
       FROM automation_trigger t INDEXED BY automation_trigger_due CROSS JOIN automation_workflow w
       WHERE t.next_fire_at IS NOT NULL AND t.next_fire_at <= ? AND w.id = t.workflow_id AND ${isNotFailedSql("'schedule:' || t.id")}
         AND ${isNotInTransitSql('t.organization_id')} ORDER BY t.next_fire_at LIMIT ?`,
      now,
      limit,
    ),
  );
}

/** One trigger, if it is due. */
export async function findDueTrigger(
  database: Database,
  organizationId: number,
  id: number,
  now: number,
): Promise<TriggerWithWorkflow | null> {
  return database.first(
    database.prepare<TriggerWithWorkflow>(
      `SELECT ${triggerWithWorkflowColumns}
       FROM automation_trigger t CROSS JOIN automation_workflow w
       WHERE t.id = ? AND t.organization_id = ? AND t.next_fire_at <= ? AND w.id = t.workflow_id`,
      id,
      organizationId,
      now,
    ),
  );
}

/** Stops a schedule that cannot be fired, with the reason in `last_error`. Saving the trigger again starts it again. */
export async function stopSchedule(database: Database, organizationId: number, id: number, reason: string): Promise<void> {
  const update = database.orm
    .update(automationTrigger)
    .set({ nextFireAt: null, lastError: reason })
    .where(and(eq(automationTrigger.id, id), eq(automationTrigger.organizationId, organizationId)));
  await database.write(() => update, 'idempotent');
}

/** A trigger that was due at `due`: the minute that it fires, or null for none, and its next firing. Epoch ms. */
export interface ScheduleFire {
  trigger_id: number;
  organization_id: number;
  due: number;
  scheduled_at: number | null;
  next_fire_at: number | null;
}

/** Writes firings and the triggers' next firings in one transaction. A trigger that another tick has moved is left alone. */
export async function recordFires(database: Database, fires: ScheduleFire[], now: number): Promise<void> {
  const json = JSON.stringify(fires);
  await database.batch(
    [
      database.prepare(
        `INSERT INTO schedule_fire (trigger_id, scheduled_at, organization_id, created_at)
       SELECT t.id, j.value ->> 'scheduled_at', t.organization_id, ?2 FROM json_each(?1) j CROSS JOIN automation_trigger t
       WHERE t.id = j.value ->> 'trigger_id' AND t.next_fire_at = j.value ->> 'due' AND j.value ->> 'scheduled_at' IS NOT NULL
       ON CONFLICT (trigger_id, scheduled_at) DO NOTHING`,
        json,
        now,
      ),
      database.prepare(
        `UPDATE automation_trigger AS t SET next_fire_at = j.value ->> 'next_fire_at' FROM json_each(?) j
       WHERE t.id = j.value ->> 'trigger_id' AND +t.next_fire_at = j.value ->> 'due'`,
        json,
      ),
    ],
    'schedule_fire.scheduled_at',
  );
}

export type FireRow = Pick<StoredRow<typeof scheduleFire>, 'trigger_id' | 'scheduled_at' | 'organization_id' | 'cursor'>;

export async function findOpenFire(
  database: Database,
  organizationId: number,
  triggerId: number,
  scheduledAt: number,
): Promise<FireRow | null> {
  const query = database.orm
    .select({
      triggerId: scheduleFire.triggerId,
      scheduledAt: scheduleFire.scheduledAt,
      organizationId: scheduleFire.organizationId,
      cursor: scheduleFire.cursor,
    })
    .from(scheduleFire)
    .where(
      and(
        eq(scheduleFire.triggerId, triggerId),
        eq(scheduleFire.scheduledAt, scheduledAt),
        eq(scheduleFire.organizationId, organizationId),
        isNull(scheduleFire.handledAt),
      ),
    );
  return database.first(database.from<FireRow>(query));
}

/** Contact ids of a list after the cursor, ascending, so that members added meanwhile are not skipped. */
export async function listAudience(
  database: Database,
  organizationId: number,
  listId: number,
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await database.all(
    database.prepare<{ contact_id: number }>(
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

/** Moves a firing's cursor. `at` is the epoch ms at which the last page was handled, else null. An earlier page's note stays. */
export async function advanceFire(
  database: Database,
  fire: FireRow,
  cursor: number,
  { at, note }: { at: number | null; note: string | null },
): Promise<void> {
  await database.all(
    database.prepare(
      'UPDATE schedule_fire SET cursor = max(cursor, ?), handled_at = ?, note = coalesce(note, ?) WHERE trigger_id = ? AND scheduled_at = ? AND handled_at IS NULL',
      cursor,
      at,
      note,
      fire.trigger_id,
      fire.scheduled_at,
    ),
    'idempotent',
  );
}

export async function findStaleFires(database: Database, before: number, limit: number): Promise<FireRow[]> {
  return database.all(
    database.prepare<FireRow>(
      roundRobinQuery(
        'trigger_id, scheduled_at, organization_id, cursor',
        `schedule_fire INDEXED BY schedule_fire_open WHERE handled_at IS NULL AND created_at < ?
           AND ${isNotFailedSql("'schedule_fire:' || schedule_fire.trigger_id || ':' || schedule_fire.scheduled_at")}`,
        'created_at',
      ),
      before,
      limit,
    ),
  );
}
