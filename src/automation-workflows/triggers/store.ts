import { and, eq } from 'drizzle-orm';
import type { Organization } from '../../context.ts';
import { requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import type { Database, Statement } from '../../database/client.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import type { WorkflowStatus } from '../definitions/store.ts';
import type { TriggerType } from './configs.ts';
import { automationTrigger } from '../../database/schema/automation-workflows.ts';
import { eventType } from '../../database/schema/events.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { nextTimestamp } from '../../database/compare-and-set.ts';

/** A trigger's row: the config is JSON text with sealed secrets. */
export type TriggerRow = StoredRow<typeof automationTrigger> & { type: TriggerType };
export type TriggerState = TriggerRow['state'];

export interface NewTrigger {
  uuid: string;
  /** null: the workflow that the batch has just inserted. */
  workflowId: number | null;
  type: TriggerType;
  name: string;
  config: string;
  isPrimary: boolean;
  nextFireAt: number | null;
  topics: string[];
}

/** Inserts a trigger. A schedule of a workflow that is not active gets its next firing when the workflow is activated. */
export function insertTriggerStatements(
  database: Database,
  organization: Pick<Organization, 'id' | 'plan'>,
  trigger: NewTrigger,
  now: number,
): [insert: Statement<TriggerRow>, ...rest: Statement[]] {
  return [
    database.prepare<TriggerRow>(
      `INSERT INTO automation_trigger (uuid, organization_id, workflow_id, type, name, config, state, is_primary, next_fire_at, created_at, updated_at)
       SELECT ?1, ?2, w.id, ?4, ?5, ?6, 'active', ?7, iif(w.status = 'active', ?8, NULL), ?9, ?9
       FROM automation_workflow w WHERE w.id = coalesce(?3, (SELECT max(id) FROM automation_workflow)) AND w.organization_id = ?2 RETURNING *`,
      trigger.uuid,
      organization.id,
      trigger.workflowId,
      trigger.type,
      trigger.name,
      trigger.config,
      trigger.isPrimary,
      trigger.nextFireAt,
      now,
    ),
    requireWithinLimit(database, organization, 'max_triggers'),
    ...(trigger.type === 'schedule' ? [requireWithinLimit(database, organization, 'max_schedules')] : []),
    ...topicStatements(database, organization.id, trigger.uuid, trigger.topics),
  ];
}

/** Replaces the topics of a trigger. */
function topicStatements(database: Database, organizationId: number, uuid: string, topics: string[]): Statement[] {
  return [
    database.prepare('DELETE FROM trigger_topic WHERE trigger_id = (SELECT id FROM automation_trigger WHERE uuid = ?)', uuid),
    database.prepare(
      `INSERT INTO trigger_topic (organization_id, topic, trigger_id)
       SELECT ?1, j.value, t.id FROM json_each(?3) j CROSS JOIN automation_trigger t WHERE t.uuid = ?2 AND t.state <> 'archived'`,
      organizationId,
      uuid,
      JSON.stringify(topics),
    ),
  ];
}

export interface TriggerChange {
  name: string;
  config: string;
  state: TriggerState;
  nextFireAt: number | null;
  topics: string[];
}

/** The first statement changes nothing when another request has changed the trigger since `row` was read. */
export function updateTriggerStatements(
  database: Database,
  row: TriggerRow,
  change: TriggerChange,
  now: number,
): [update: Statement<TriggerRow>, ...topics: Statement[]] {
  return [
    database.prepare<TriggerRow>(
      `UPDATE automation_trigger SET name = ?, config = ?, state = ?, updated_at = ?, last_error = NULL,
         next_fire_at = iif((SELECT status FROM automation_workflow WHERE id = automation_trigger.workflow_id) = 'active', ?, NULL)
       WHERE id = ? AND organization_id = ? AND updated_at = ? RETURNING *`,
      change.name,
      change.config,
      change.state,
      nextTimestamp(row.updated_at, now),
      change.state === 'active' ? change.nextFireAt : null,
      row.id,
      row.organization_id,
      row.updated_at,
    ),
    ...topicStatements(database, row.organization_id, row.uuid, change.topics),
  ];
}

/** Copies the primary trigger's name and config into the workflow's `trigger`. Null: the workflow has no primary trigger any more. */
export const mirrorPrimaryTriggerStatement = (
  database: Database,
  row: TriggerRow,
  trigger: { name: string; config: string } | null,
): Statement =>
  database.prepare(
    `UPDATE automation_workflow SET trigger = ${trigger ? "json_set(trigger, '$.name', ?, '$.config', json(?))" : "'{}'"}
     WHERE id = ? AND organization_id = ?`,
    ...(trigger ? [trigger.name, trigger.config] : []),
    row.workflow_id,
    row.organization_id,
  );

const isTrigger = (organizationId: number, id: number) =>
  and(eq(automationTrigger.id, id), eq(automationTrigger.organizationId, organizationId));

export const triggerStatement = (database: Database, organizationId: number, id: number): Statement<TriggerRow> =>
  database.from<TriggerRow>(database.orm.select().from(automationTrigger).where(isTrigger(organizationId, id)));

export async function findTrigger(database: Database, organizationId: number, id: number): Promise<TriggerRow | null> {
  return database.first(triggerStatement(database, organizationId, id));
}

export async function findWorkflowTriggers(database: Database, workflowId: number): Promise<TriggerRow[]> {
  return database.all(
    database.prepare<TriggerRow>("SELECT * FROM automation_trigger WHERE workflow_id = ? AND state <> 'archived' ORDER BY id", workflowId),
  );
}

export async function listTriggers(
  database: Database,
  workflowId: number,
  filter: { status?: TriggerState | undefined; search?: string | undefined },
  page: { limit: number; offset: number; after?: CursorPosition | undefined },
): Promise<PageResult<TriggerRow>> {
  const state = filter.status ? 'state = ?' : "state <> 'archived'";
  const search = filter.search ? ' AND instr(lower(name), ?) > 0' : '';
  const where = `workflow_id = ? AND ${state}${search}`;
  const parameters = [workflowId, ...(filter.status ? [filter.status] : []), ...(filter.search ? [filter.search.toLowerCase()] : [])];
  const [rows, counted] = await database.batch([
    database.prepare<TriggerRow>(
      `SELECT * FROM automation_trigger WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
      ...parameters,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare<{ total: number }>(
      `SELECT count(*) AS total FROM (SELECT 1 FROM automation_trigger WHERE ${where} LIMIT ${countLimit})`,
      ...parameters,
    ),
  ]);
  const { total } = counted[0]!;
  return { ...cutPage(rows, page.limit, (row) => ({ value: null, id: row.id })), total };
}

/** A trigger with the columns of its workflow that starting a run needs. */
export interface TriggerWithWorkflow extends TriggerRow {
  workflow_status: WorkflowStatus;
  workflow_version: number;
  workflow_context_schema: string;
  workflow_settings: string;
}

export interface TriggerWithTopic extends TriggerWithWorkflow {
  topic: string;
}

export const triggerWithWorkflowColumns = `t.*, w.status AS workflow_status, w.version AS workflow_version, w.context_schema AS workflow_context_schema, w.settings AS workflow_settings`;

/** The active triggers of active workflows that listen to `topics`, one row for each topic. */
export const triggersByTopicsStatement = (database: Database, organizationId: number, topics: string[]): Statement<TriggerWithTopic> =>
  database.prepare<TriggerWithTopic>(
    `SELECT s.topic, ${triggerWithWorkflowColumns} FROM json_each(?) j CROSS JOIN trigger_topic s CROSS JOIN automation_trigger t CROSS JOIN automation_workflow w
     WHERE s.organization_id = ? AND s.topic = j.value AND t.id = s.trigger_id AND t.state = 'active' AND w.id = t.workflow_id AND w.status = 'active'`,
    JSON.stringify(topics),
    organizationId,
  );

export const triggersByIdStatement = (database: Database, organizationId: number, ids: number[]): Statement<TriggerWithWorkflow> =>
  database.prepare<TriggerWithWorkflow>(
    `SELECT ${triggerWithWorkflowColumns} FROM json_each(?) j CROSS JOIN automation_trigger t CROSS JOIN automation_workflow w
     WHERE t.id = j.value AND t.organization_id = ? AND w.id = t.workflow_id`,
    JSON.stringify(ids),
    organizationId,
  );

export const triggerByUuidStatement = (database: Database, organizationId: number, uuid: string): Statement<TriggerWithWorkflow> =>
  database.prepare<TriggerWithWorkflow>(
    `SELECT ${triggerWithWorkflowColumns} FROM automation_trigger t CROSS JOIN automation_workflow w WHERE t.uuid = ? AND t.organization_id = ? AND w.id = t.workflow_id`,
    uuid,
    organizationId,
  );

/** Sets the next firing of all schedules of a workflow. A schedule that is not in the list does not fire any more. */
export const setNextFiresStatement = (database: Database, workflowId: number, fires: { id: number; next_fire_at: number }[]): Statement =>
  database.prepare(
    `UPDATE automation_trigger SET next_fire_at =
       (SELECT j.value ->> 'next_fire_at' FROM json_each(?) j WHERE j.value ->> 'id' = automation_trigger.id)
     WHERE workflow_id = ? AND type = 'schedule'`,
    JSON.stringify(fires),
    workflowId,
  );

/** Up to 500 event types that the organization has sent. */
export async function listSeenEventTypes(database: Database, organizationId: number): Promise<string[]> {
  const query = database.orm
    .select({ name: eventType.eventType })
    .from(eventType)
    .where(eq(eventType.organizationId, organizationId))
    .orderBy(eventType.eventType)
    .limit(500);
  return (await database.run(() => query)).map(({ name }) => name);
}

/** Clears the error `known` of a trigger, unless another has been recorded meanwhile. */
export async function clearTriggerError(database: Database, organizationId: number, id: number, known: string): Promise<void> {
  const update = database.orm
    .update(automationTrigger)
    .set({ lastError: null })
    .where(and(isTrigger(organizationId, id), eq(automationTrigger.lastError, known)));
  await database.write(() => update, 'idempotent');
}

export async function recordTriggerError(database: Database, organizationId: number, id: number, message: string): Promise<void> {
  const update = database.orm.update(automationTrigger).set({ lastError: message }).where(isTrigger(organizationId, id));
  await database.write(() => update, 'idempotent');
}
