import { hasWebhookEndpointSql } from '../../webhook-endpoints/has-endpoint.ts';
import { isNotInTransitSql } from '../../database/transit.ts';
import { and, eq, getTableColumns } from 'drizzle-orm';
import { automationWorkflow, automationRun } from '../../database/schema/automation-workflows.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import type { Database, Statement } from '../../database/client.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import { deleteLeftWaitersStatement } from './waits/store.ts';
import { affectedRunsStatement, type AffectedRun } from './affected-runs-store.ts';
import type { LeftWait } from './engine/progress.ts';
import { roundRobinQuery } from '../../database/round-robin-query.ts';
import type { WorkflowStatus } from '../definitions/store.ts';
import type { RunState } from '../run-states.ts';
import { isNotFailedSql } from '../../outbox/failed-messages.ts';

export type RunSource = StoredRow<typeof automationRun>['source'];

/** A run's row without its history and its trail. `error` is JSON text of RunError. */
export type RunRow = Omit<StoredRow<typeof automationRun>, 'history' | 'trail'> & {
  state: RunState;
  /** JSON text, or a pointer into R2, of the event or delivery that the run started from. */
  source_payload: string | null;
};

/** The columns of `RunRow` of the run `r`. A page of runs shows no histories. */
export const runColumns = Object.values(getTableColumns(automationRun))
  .filter(({ name }) => name !== 'history' && name !== 'trail')
  .map(({ name }) => `r.${name}`)
  .join(', ');

/** Reads `source_payload` of the run `r`. */
export const sourcePayloadColumn = `CASE r.source WHEN 'event' THEN (SELECT data FROM event WHERE id = r.source_id)
  WHEN 'delivery' THEN (SELECT payload FROM webhook_delivery WHERE id = r.source_id) END AS source_payload`;

/** Whether a run may have a side effect: the status of its workflow, and whether the run's row has ended. */
export const runPermissionStatement = (database: Database, organizationId: number, runId: number): Statement<RunPermission> =>
  database.from<RunPermission>(
    database.orm
      .select({ status: automationWorkflow.status, completedAt: automationRun.completedAt })
      .from(automationRun)
      .innerJoin(automationWorkflow, eq(automationWorkflow.id, automationRun.workflowId))
      .where(and(eq(automationRun.id, runId), eq(automationRun.organizationId, organizationId))),
  );

export type RunPermission = Pick<StoredRow<typeof automationWorkflow>, 'status'> & Pick<StoredRow<typeof automationRun>, 'completed_at'>;

export type RunRowWithHistory = RunRow & Pick<StoredRow<typeof automationRun>, 'history'>;

export async function findRun(database: Database, organizationId: number, id: number): Promise<RunRowWithHistory | null> {
  return database.first(
    database.prepare<RunRowWithHistory>(
      `SELECT r.*, ${sourcePayloadColumn} FROM automation_run r WHERE r.id = ? AND r.organization_id = ?`,
      id,
      organizationId,
    ),
  );
}

export async function findRuns(database: Database, organizationId: number, ids: number[]): Promise<RunRow[]> {
  return database.all(
    database.prepare<RunRow>(
      `SELECT ${runColumns}, ${sourcePayloadColumn} FROM json_each(?) j CROSS JOIN automation_run r WHERE r.id = j.value AND r.organization_id = ? ORDER BY j.key`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
}

/** The newest dedup key that begins with `prefix`, of runs that were created after the epoch ms `since`. */
export async function findNewestDedupKey(
  database: Database,
  organizationId: number,
  prefix: string,
  since: number,
): Promise<string | null> {
  const row = await database.first(
    database.prepare<{ dedup_key: string }>(
      `SELECT dedup_key FROM automation_run INDEXED BY automation_run_dedup
       WHERE organization_id = ?1 AND dedup_key >= ?2 AND dedup_key < ?2 || char(0x10ffff) AND created_at >= ?3 ORDER BY dedup_key DESC LIMIT 1`,
      organizationId,
      prefix,
      since,
    ),
  );
  return row?.dedup_key ?? null;
}

/** The columns that a run's object writes into the run's row. */
export interface RunProjection {
  state: RunState;
  currentNodeId: string | null;
  outcome: string | null;
  error: string | null;
  contextChanges: string | null;
  /** From `toTrail`. */
  trail: string;
  /** See the column. */
  history: string | null;
  hold: 'paused' | null;
  voiceCallRunId: number | null;
  revision: number;
  wakeAt: number | null;
  startedAt: number | null;
  completedAt: number | null;
  /** Waits that have ended, whose rows in `run_waiter` go. */
  leftWaits: LeftWait[];
  /** The event that ended the run by `exit_on`. */
  exitEventId: number | null;
}

export interface ProjectionResult {
  /** False when another statement had ended the row, or has ended it meanwhile: the row then stays ended. */
  isAccepted: boolean;
  workflowStatus: WorkflowStatus | null;
  /** How many runs of the workflow `max_active_runs` holds. */
  heldRuns: number;
}

type ProjectedFields = Omit<RunProjection, 'leftWaits' | 'exitEventId'>;

/** The columns of a projection's fields, with the names that `projectRuns` gives them. */
const projectedColumns: Record<keyof ProjectedFields, string> = {
  state: 'state',
  currentNodeId: 'current_node_id',
  outcome: 'outcome',
  error: 'error',
  contextChanges: 'context_changes',
  trail: 'trail',
  history: 'history',
  hold: 'hold',
  voiceCallRunId: 'voice_call_run_id',
  revision: 'revision',
  wakeAt: 'wake_at',
  startedAt: 'started_at',
  completedAt: 'completed_at',
};
const projectedFields = Object.keys(projectedColumns);
const projectedValues = projectedFields.map((field) => `j.value ->> '${field}' AS ${field}`).join(', ');
const projectedChanges = Object.entries(projectedColumns)
  .map(([field, column]) => `${column} = p.${field}`)
  .join(', ');

/**
 * Updates the rows of runs, each unless the row has a higher revision or has ended, deletes the rows of their ended waits, and records which events
 * ended waits and runs. One D1 batch. The answer has each run that has a row.
 */
export async function projectRuns(
  database: Database,
  organizationId: number,
  projections: (RunProjection & { id: number })[],
): Promise<Map<number, ProjectionResult>> {
  const update = (rows: ProjectedFields[], more = '') =>
    jsonChunks(rows).map((json) =>
      database.prepare(
        `UPDATE automation_run AS r SET ${projectedChanges}${more} FROM (SELECT j.value ->> 'id' AS id, ${projectedValues} FROM json_each(?) j) p
         WHERE r.id = p.id AND +r.organization_id = ? AND r.revision < p.revision AND r.completed_at IS NULL`,
        json,
        organizationId,
      ),
    );
  const rows = projections.map(({ leftWaits: _left, exitEventId: _exit, ...row }): ProjectedFields => row);
  const left = projections.flatMap(({ id, leftWaits }) => leftWaits.map((wait) => ({ ...wait, runId: id })));
  const affected = projections.flatMap(toAffectedRuns);
  const results = await database.batch(
    [
      ...update(rows.filter(isOver), ', is_sole = 0, is_exitable = 0'),
      ...update(rows.filter((row) => !isOver(row))),
      ...(left.length ? [deleteLeftWaitersStatement(database, organizationId, left)] : []),
      ...(affected.length ? [affectedRunsStatement(database, organizationId, affected)] : []),
      database.prepare(
        `SELECT r.id, r.revision, r.completed_at, w.status, w.held_runs_count FROM json_each(?) j CROSS JOIN automation_run r
         LEFT JOIN automation_workflow w ON w.id = r.workflow_id WHERE r.id = j.value AND r.organization_id = ?`,
        JSON.stringify(projections.map(({ id }) => id)),
        organizationId,
      ),
    ],
    'idempotent',
  );
  const found = new Map((results.at(-1) as unknown as ProjectedRow[]).map((row) => [row.id, row]));
  return new Map(
    projections.flatMap(({ id, revision, completedAt }) => {
      const row = found.get(id);
      if (!row) return [];
      const isAccepted = row.revision >= revision && (completedAt !== null || row.completed_at === null);
      return [[id, { isAccepted, workflowStatus: row.status, heldRuns: row.held_runs_count ?? 0 }]];
    }),
  );
}

const toAffectedRuns = ({ id, leftWaits, exitEventId }: RunProjection & { id: number }): AffectedRun[] => [
  ...leftWaits.flatMap(({ takenEventId }) =>
    takenEventId === undefined ? [] : { eventId: takenEventId, effect: 'woken' as const, runId: id },
  ),
  ...(exitEventId === null ? [] : [{ eventId: exitEventId, effect: 'exited' as const, runId: id }]),
];

const isOver = ({ completedAt }: ProjectedFields): boolean => completedAt !== null;

interface ProjectedRow {
  id: number;
  revision: number;
  completed_at: number | null;
  status: WorkflowStatus | null;
  held_runs_count: number | null;
}

const factColumns = `${runColumns}, ${sourcePayloadColumn}, w.name AS workflow_name, w.status AS workflow_status, w.settings AS workflow_settings,
  e.event_type, e.created_at AS event_created_at,
  EXISTS (SELECT 1 FROM trigger_topic s WHERE s.organization_id = r.organization_id AND s.topic = 'event:run.completed') AS has_end_trigger,
  ${hasWebhookEndpointSql('r.organization_id')} AS has_webhook_endpoint`;

/** The row of a run with its definition, its workflow and its event; null when there is no such run. */
export async function findRunFacts(
  database: Database,
  organizationId: number,
  id: number,
): Promise<(RunFacts & { definition: string }) | null> {
  return database.first(
    database.prepare<RunFacts & { definition: string }>(
      `SELECT ${factColumns}, v.definition FROM automation_run r CROSS JOIN automation_workflow w CROSS JOIN automation_version v
       LEFT JOIN event e ON r.source = 'event' AND e.id = r.source_id
       WHERE r.id = ? AND r.organization_id = ? AND w.id = r.workflow_id AND v.workflow_id = r.workflow_id AND v.version = r.workflow_version`,
      id,
      organizationId,
    ),
  );
}

/** As `findRunFacts` for several runs, without their definitions, of which an object may have the version in memory. */
export async function findFactsOfRuns(database: Database, organizationId: number, ids: number[]): Promise<RunFacts[]> {
  return database.all(
    database.prepare<RunFacts>(
      `SELECT ${factColumns} FROM json_each(?) j CROSS JOIN automation_run r CROSS JOIN automation_workflow w
       LEFT JOIN event e ON r.source = 'event' AND e.id = r.source_id
       WHERE r.id = j.value AND r.organization_id = ? AND w.id = r.workflow_id`,
      JSON.stringify(ids),
      organizationId,
    ),
  );
}

export interface RunFacts extends RunRow {
  workflow_name: string;
  workflow_status: string;
  workflow_settings: string;
  event_type: string | null;
  event_created_at: number | null;
  /** Whether a trigger of the organization listens to `run.completed`. */
  has_end_trigger: 0 | 1;
  /** Whether the organization had webhook endpoints when the run was loaded. The minute tick wakes those of later. */
  has_webhook_endpoint: 0 | 1;
}

/** Has the minute tick start runs at `at` (epoch ms), unless they have started. */
export async function rescheduleStarts(database: Database, organizationId: number, ids: number[], at: number): Promise<void> {
  await database.all(
    database.prepare(
      `UPDATE automation_run SET wake_at = ?1 WHERE id IN (SELECT value FROM json_each(?2)) AND +organization_id = ?3 AND revision = 0
         AND completed_at IS NULL`,
      at,
      JSON.stringify(ids),
      organizationId,
    ),
  );
}

/**
 * Live runs past their `wake_at`, in turns by organization: runs due before `before`, whose object never started or lost its alarm, and runs
 * whose start was deferred until a moment before `now`. Epoch ms.
 */
export async function findOverdueRuns(
  database: Database,
  { before, now }: { before: number; now: number },
  limit: number,
): Promise<{ id: number; organization_id: number }[]> {
  const due = `automation_run WHERE wake_at IS NOT NULL AND wake_at <= ?1 AND (wake_at < ?2 OR (revision = 0 AND wake_at > created_at))
    AND ${isNotFailedSql("'poke:run:' || automation_run.id")}
        AND ${isNotInTransitSql('organization_id')}`;
  return database.all(
    database.prepare<{ id: number; organization_id: number }>(
      roundRobinQuery('id, organization_id', due, 'wake_at').replace(/\?$/, '?3'),
      now,
      before,
      limit,
    ),
  );
}

/** The live runs of a contact, or those of a workflow up to an id. */
export type LiveRunsFilter = { contactId: number } | { workflowId: number; upToId: number };

/** The ids of a page of live runs, without those that failed to end and are tried again on their own. */
export async function findLiveRuns(database: Database, organizationId: number, filter: LiveRunsFilter, limit: number): Promise<number[]> {
  const byContact = 'contactId' in filter;
  const rows = await database.all(
    database.prepare<{ id: number }>(
      `SELECT id FROM automation_run INDEXED BY ${byContact ? 'automation_run_contact' : 'automation_run_workflow_state'}
       WHERE organization_id = ? AND ${byContact ? 'contact_id' : 'workflow_id'} = ?
         AND state <> 'completed' AND state IN ('queued', 'pending', 'running', 'waiting') AND id <= ?
         AND ${isNotFailedSql("'run_end:' || automation_run.id")} ORDER BY id LIMIT ?`,
      organizationId,
      byContact ? filter.contactId : filter.workflowId,
      byContact ? Number.MAX_SAFE_INTEGER : filter.upToId,
      limit,
    ),
  );
  return rows.map((row) => row.id);
}

/** The ending of a run that its object does not end itself. */
export interface RowEnding {
  state: 'cancelled' | 'completed' | 'failed';
  outcome: string | null;
  error: string | null;
  /** The event that ends the run by `exit_on`. */
  exitEventId?: number | undefined;
}

/**
 * Ends a run's row. `unstarted`: only when the run's object has projected nothing. `live`: any live run; its object finds the row ended. Null
 * when no row was ended. `cleanupId` is the cleanup, stored in the same transaction, that notifies the parent run; null: there is no parent.
 */
export async function endRunRow(
  database: Database,
  organizationId: number,
  id: number,
  ending: RowEnding,
  { now, which }: { now: number; which: 'unstarted' | 'live' },
): Promise<{ workflow_id: number; cleanupId: number | null } | null> {
  const condition = `id = ? AND organization_id = ? AND completed_at IS NULL${which === 'unstarted' ? " AND revision = 0 AND state IN ('queued', 'running')" : ''}`;
  let isLost = false;
  const statements = [
    database.prepare<{ id: number }>(
      `INSERT INTO cleanup (organization_id, kind, subject_id, created_at)
       SELECT organization_id, 'run_ended', id, ? FROM automation_run WHERE ${condition} AND parent_run_id IS NOT NULL RETURNING id`,
      now,
      id,
      organizationId,
    ),
    database.prepare<{ workflow_id: number }>(
      `UPDATE automation_run SET state = ?, outcome = ?, error = ?, wake_at = NULL, completed_at = ?, hold = NULL, is_sole = 0, is_exitable = 0
       WHERE ${condition} RETURNING workflow_id`,
      ending.state,
      ending.outcome,
      ending.error,
      now,
      id,
      organizationId,
    ),
    database.prepare<{ workflow_id: number; cleanup_id: number | null }>(
      `SELECT r.workflow_id, (SELECT max(c.id) FROM cleanup c WHERE c.kind = 'run_ended' AND c.subject_id = r.id) AS cleanup_id
       FROM automation_run r WHERE r.id = ? AND r.organization_id = ? AND r.state = ? AND r.completed_at = ?`,
      id,
      organizationId,
      ending.state,
      now,
    ),
    ...(ending.exitEventId === undefined ? [] : [affectedRowStatement(database, organizationId, id, { now, eventId: ending.exitEventId })]),
  ] as const;
  const [cleanups, ended, found] = await database.batch(statements, 'idempotent', () => (isLost = true));
  // After a lost answer: a row with this ending at this moment was ended by this call.
  const lost = isLost ? found[0] : undefined;
  const row = ended[0] ?? lost;
  return row ? { workflow_id: row.workflow_id, cleanupId: cleanups[0]?.id ?? lost?.cleanup_id ?? null } : null;
}

/** Records the event that has ended the row of a run at `now`. */
const affectedRowStatement = (
  database: Database,
  organizationId: number,
  id: number,
  { now, eventId }: { now: number; eventId: number },
): Statement<object> =>
  database.prepare(
    `INSERT OR IGNORE INTO affected_run (organization_id, event_id, effect, run_id)
     SELECT organization_id, ?, 'exited', id FROM automation_run WHERE id = ? AND organization_id = ? AND completed_at = ?`,
    eventId,
    id,
    organizationId,
    now,
  );

export interface ExitTopic {
  event_type: string;
  workflow_id: number;
  settings: string;
}

/** The workflows whose runs events of these types may end, with their settings. */
export const exitTopicsStatement = (database: Database, organizationId: number, types: string[]): Statement<ExitTopic> =>
  database.prepare<ExitTopic>(
    `SELECT x.event_type, x.workflow_id, w.settings FROM json_each(?) j CROSS JOIN exit_topic x CROSS JOIN automation_workflow w
     WHERE x.organization_id = ? AND x.event_type = j.value AND w.id = x.workflow_id`,
    JSON.stringify(types),
    organizationId,
  );

export interface WaiterField {
  event_type: string;
  field: string;
}

/** The fields by which runs wait for events of these types. The recursion skips from one field to the next along the primary key. */
export const waiterFieldsStatement = (database: Database, organizationId: number, types: string[]): Statement<WaiterField> =>
  database.prepare<WaiterField>(
    `WITH RECURSIVE step (event_type, field) AS (
       SELECT j.value, (SELECT min(field) FROM run_waiter WHERE organization_id = ?1 AND event_type = j.value) FROM json_each(?2) j
       UNION ALL
       SELECT step.event_type, (SELECT min(field) FROM run_waiter WHERE organization_id = ?1 AND event_type = step.event_type AND field > step.field)
       FROM step WHERE step.field IS NOT NULL
     ) SELECT event_type, field FROM step WHERE field IS NOT NULL`,
    organizationId,
    JSON.stringify(types),
  );
