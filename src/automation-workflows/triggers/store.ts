import type { Organization } from '../../context.ts';
import { requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import type { Database, Row, Statement } from '../../database/client.ts';
import { countLimit, cutPage, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import type { TriggerType } from './configs.ts';
import { nextTimestamp } from '../../database/compare-and-set.ts';

export type TriggerState = 'active' | 'paused' | 'archived';

export interface TriggerRow {
  id: number;
  uuid: string;
  organization_id: number;
  workflow_id: number;
  type: TriggerType;
  name: string;
  /** JSON text; secrets in it are sealed. */
  config: string;
  state: TriggerState;
  is_primary: number;
  next_fire_at: number | null;
  last_fired_at: number | null;
  fire_count: number;
  last_error: string | null;
  created_at: number;
  updated_at: number;
}

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

/** Where the workflow is active, a schedule starts counting at once; elsewhere its next firing is set on activation. */
export function insertTriggerStatements(
  database: Database,
  organization: Pick<Organization, 'id' | 'plan'>,
  trigger: NewTrigger,
  now: number,
): Statement[] {
  return [
    database.prepare(
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

/** Replaces what a trigger listens to. */
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

/** The first changes nothing when another request has changed the trigger since `row` was read. */
export function updateTriggerStatements(
  database: Database,
  row: TriggerRow,
  change: TriggerChange,
  now: number,
): [update: Statement, ...topics: Statement[]] {
  return [
    database.prepare(
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

/** Has the workflow's own trigger object say what its primary trigger's row says. `trigger` null: it has none any more. */
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

export const triggerStatement = (database: Database, organizationId: number, id: number): Statement =>
  database.prepare('SELECT * FROM automation_trigger WHERE id = ? AND organization_id = ?', id, organizationId);

export async function findTrigger(database: Database, organizationId: number, id: number): Promise<TriggerRow | null> {
  return database.first(triggerStatement(database, organizationId, id));
}

export async function findWorkflowTriggers(database: Database, workflowId: number): Promise<TriggerRow[]> {
  return database.all(
    database.prepare("SELECT * FROM automation_trigger WHERE workflow_id = ? AND state <> 'archived' ORDER BY id", workflowId),
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
    database.prepare(
      `SELECT * FROM automation_trigger WHERE ${where} AND id < ? ORDER BY id DESC LIMIT ? OFFSET ?`,
      ...parameters,
      page.after?.id ?? Number.MAX_SAFE_INTEGER,
      page.limit + 1,
      page.offset,
    ),
    database.prepare(`SELECT count(*) AS total FROM (SELECT 1 FROM automation_trigger WHERE ${where} LIMIT ${countLimit})`, ...parameters),
  ]);
  const { total } = counted![0] as { total: number };
  return { ...cutPage(rows as unknown as TriggerRow[], page.limit, (row) => ({ value: null, id: row.id })), total };
}

/** A trigger with what starting a run of its workflow needs. */
export interface TriggerWithWorkflow extends TriggerRow, Row {
  workflow_status: 'draft' | 'active' | 'paused' | 'archived';
  workflow_version: number;
  workflow_context_schema: string;
  workflow_settings: string;
}

const triggerWithWorkflowColumns = `t.*, w.status AS workflow_status, w.version AS workflow_version, w.context_schema AS workflow_context_schema, w.settings AS workflow_settings`;

/** The active triggers of active workflows that listen to one of `topics`; `topic` says which. */
export const triggersByTopicsStatement = (database: Database, organizationId: number, topics: string[]): Statement =>
  database.prepare(
    `SELECT s.topic, ${triggerWithWorkflowColumns} FROM json_each(?) j CROSS JOIN trigger_topic s CROSS JOIN automation_trigger t CROSS JOIN automation_workflow w
     WHERE s.organization_id = ? AND s.topic = j.value AND t.id = s.trigger_id AND t.state = 'active' AND w.id = t.workflow_id AND w.status = 'active'`,
    JSON.stringify(topics),
    organizationId,
  );

export const triggersByIdStatement = (database: Database, organizationId: number, ids: number[]): Statement =>
  database.prepare(
    `SELECT ${triggerWithWorkflowColumns} FROM json_each(?) j CROSS JOIN automation_trigger t CROSS JOIN automation_workflow w
     WHERE t.id = j.value AND t.organization_id = ? AND w.id = t.workflow_id`,
    JSON.stringify(ids),
    organizationId,
  );

export const triggerByUuidStatement = (database: Database, organizationId: number, uuid: string): Statement =>
  database.prepare(
    `SELECT ${triggerWithWorkflowColumns} FROM automation_trigger t CROSS JOIN automation_workflow w WHERE t.uuid = ? AND t.organization_id = ? AND w.id = t.workflow_id`,
    uuid,
    organizationId,
  );

/** The next firing of every schedule of a workflow, all at once; an empty list silences them. */
export const setNextFiresStatement = (database: Database, workflowId: number, fires: { id: number; next_fire_at: number }[]): Statement =>
  database.prepare(
    `UPDATE automation_trigger SET next_fire_at =
       (SELECT j.value ->> 'next_fire_at' FROM json_each(?) j WHERE j.value ->> 'id' = automation_trigger.id)
     WHERE workflow_id = ? AND type = 'schedule'`,
    JSON.stringify(fires),
    workflowId,
  );

export async function listSeenEventTypes(database: Database, organizationId: number): Promise<string[]> {
  const rows = await database.all<{ event_type: string }>(
    database.prepare('SELECT event_type FROM event_type WHERE organization_id = ? ORDER BY event_type LIMIT 500', organizationId),
  );
  return rows.map((row) => row.event_type);
}

export async function recordTriggerError(database: Database, organizationId: number, id: number, message: string): Promise<void> {
  await database.all(
    database.prepare('UPDATE automation_trigger SET last_error = ? WHERE id = ? AND organization_id = ?', message, id, organizationId),
    'idempotent',
  );
}
