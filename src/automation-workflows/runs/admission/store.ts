import type { Database, Statement } from '../../../database/client.ts';
import { lineageBase } from '../../../library/lineage.ts';
import type { RunState } from '../../run-states.ts';
import type { RunSource } from '../store.ts';

export interface NewRun {
  workflow_id: number;
  workflow_version: number;
  trigger_id: number | null;
  contact_id: number | null;
  state: RunState;
  error: string | null;
  dedup_key: string;
  entry_key: string | null;
  is_test: boolean;
  /** The run's lineage, and its place among the runs of its chain that are inserted together. */
  depth: number;
  chain_place: number;
  /** `max_active`: the run is held until `admitStatement` releases it. */
  hold: 'max_active' | null;
  is_sole: boolean;
  is_exitable: boolean;
  parent_run_id: number | null;
  /** Epoch ms: an entry of the same key after this moment refuses the run. Null: no rule. */
  not_entered_since: number | null;
  source: RunSource;
  source_id: number | null;
  initial_context: string | null;
  /** Epoch ms from which the minute tick starts a run that has not started; null: never. */
  wake_at: number | null;
  completed_at: number | null;
}

export interface InsertedRun {
  id: number;
  dedup_key: string;
  state: RunState;
  hold: 'max_active' | 'paused' | null;
  /** Epoch ms; null: no clock starts the run. */
  wake_at: number | null;
}

export interface AdmissionOptions {
  now: number;
  /** Also insert runs of workflows that are not active, for tests. */
  allowInactive: boolean;
  /** Insert all runs or none: none when there would be more than `max_active_runs`. */
  allOrNothing: boolean;
  /** The plan's limit of live runs; null: they were counted a moment ago, and the limit is not near. */
  maxLive: number | null;
  /** How many runs a chain may have beside its first. */
  maxChained: number;
}

export interface InsertResult {
  stored: InsertedRun[];
  /** Ids of the runs that this call inserted. Those of a repeat after a lost answer are missing. */
  inserted: number[];
  /** Ids of all runs that `admitStatement` released, which may have been inserted earlier. */
  released: number[];
  /** How many runs of the organization are live; null: not counted. */
  live: number | null;
}

/** The contact's newest runs. They show entries from before the workflow had a re-entry rule. */
const contactRunsSql = `SELECT id, workflow_id, entry_key, is_test, created_at FROM automation_run INDEXED BY automation_run_contact
  WHERE contact_id = j.value ->> 'contact_id' ORDER BY id DESC LIMIT 500`;

/** Whether the key entered after `not_entered_since`: by `workflow_entry`, or by the contact's runs. */
const enteredBeforeSql = `EXISTS (
    SELECT 1 FROM workflow_entry e WHERE e.workflow_id = w.id AND e.entry_key = j.value ->> 'entry_key' AND e.entered_at > j.value ->> 'not_entered_since'
  ) OR EXISTS (
    SELECT 1 FROM (${contactRunsSql}) earlier WHERE earlier.workflow_id = w.id AND earlier.entry_key = j.value ->> 'entry_key'
      AND earlier.is_test = 0 AND earlier.created_at > j.value ->> 'not_entered_since'
  )`;

/** How many runs the chain of an inserted run has had (migration `chained_runs`); null when the chain's first run is archived. */
const chainedRunsSql = `(SELECT root.chained_runs FROM automation_run root WHERE root.id = j.value ->> 'depth' / ${lineageBase} AND root.organization_id = ?2)`;

/**
 * Inserts the runs that are new and that the state of workflow and trigger, the workflow's admission rules and the plan allow at this moment.
 * Answers the row of every dedup key that is stored, new or not. Two runs with one entry key under a re-entry rule must not be in one call.
 */
export async function insertRuns(
  database: Database,
  organizationId: number,
  runs: NewRun[],
  admission: AdmissionOptions,
): Promise<InsertResult> {
  if (!runs.length) return { stored: [], inserted: [], released: [], live: null };
  const json = JSON.stringify(runs);
  const insert = database.prepare<{ id: number }>(
    `INSERT INTO automation_run (organization_id, workflow_id, workflow_version, trigger_id, contact_id, state, error, dedup_key, entry_key, is_test,
       depth, hold, is_sole, is_exitable, parent_run_id, source, source_id, initial_context, wake_at, completed_at, created_at)
     SELECT ?2, w.id, j.value ->> 'workflow_version', j.value ->> 'trigger_id', j.value ->> 'contact_id', j.value ->> 'state', j.value ->> 'error',
       j.value ->> 'dedup_key', j.value ->> 'entry_key', j.value ->> 'is_test', j.value ->> 'depth', j.value ->> 'hold', j.value ->> 'is_sole',
       j.value ->> 'is_exitable', j.value ->> 'parent_run_id', j.value ->> 'source', j.value ->> 'source_id', j.value ->> 'initial_context',
       j.value ->> 'wake_at', j.value ->> 'completed_at', ?3
     FROM json_each(?1) j CROSS JOIN automation_workflow w LEFT JOIN automation_trigger t ON t.id = j.value ->> 'trigger_id'
     WHERE w.id = j.value ->> 'workflow_id' AND w.organization_id = ?2
       AND (?4 OR (w.status = 'active' AND (t.id IS NULL OR t.state = 'active')))
       AND (NOT ?5 OR w.settings ->> 'max_active_runs' IS NULL
         OR w.active_runs_count - w.held_runs_count + ?6 <= w.settings ->> 'max_active_runs')
       AND (?7 IS NULL OR iif(?5, ?6, j.key + 1) <= ?7 - ${liveRunsSql('?2')})
       AND (j.value ->> 'depth' < ${lineageBase} OR j.value ->> 'chain_place' < ?8 - coalesce(${chainedRunsSql}, 0))
       AND (j.value ->> 'not_entered_since' IS NULL OR j.value ->> 'entry_key' IS NULL OR NOT (${enteredBeforeSql}))
     ON CONFLICT DO NOTHING RETURNING id`,
    json,
    organizationId,
    admission.now,
    admission.allowInactive,
    admission.allOrNothing,
    runs.length,
    admission.maxLive,
    admission.maxChained,
  );
  const held = [...new Set(runs.filter((run) => run.hold === 'max_active').map((run) => run.workflow_id))];
  const entries = runs.some((run) => run.not_entered_since !== null) ? [insertEntriesStatement(database, organizationId, json)] : [];
  const statements = [
    insert,
    ...entries,
    ...held.map((workflowId) => admitStatement(database, organizationId, workflowId, admission.now)),
    ...(admission.maxLive === null ? [] : [database.prepare(`SELECT ${liveRunsSql('?1')} AS live`, organizationId)]),
    database.prepare<InsertedRun>(
      `SELECT r.id, r.dedup_key, r.state, r.hold, r.wake_at FROM json_each(?) j CROSS JOIN automation_run r WHERE r.organization_id = ? AND r.dedup_key = j.value`,
      JSON.stringify(runs.map((run) => run.dedup_key)),
      organizationId,
    ),
  ] as const;
  const answers = await database.batch(statements, 'automation_run.dedup_key');
  const live = admission.maxLive === null ? null : (answers.at(-2)![0] as { live: number }).live;
  const released = answers.slice(1 + entries.length, 1 + entries.length + held.length).flat() as { id: number }[];
  const inserted = answers[0] as { id: number }[];
  return { stored: lastRows(answers), inserted: inserted.map(({ id }) => id), released: released.map(({ id }) => id), live };
}

/** The rows of the last statement of a batch. */
const lastRows = <Rows>(answers: readonly [...unknown[], Rows]): Rows => answers.at(-1) as Rows;

const insertEntriesStatement = (database: Database, organizationId: number, json: string): Statement =>
  database.prepare(
    `INSERT INTO workflow_entry (workflow_id, entry_key, entered_at, run_id)
     SELECT r.workflow_id, r.entry_key, r.created_at, r.id FROM json_each(?) j CROSS JOIN automation_run r
     WHERE r.organization_id = ? AND r.dedup_key = j.value ->> 'dedup_key' AND j.value ->> 'not_entered_since' IS NOT NULL
       AND r.entry_key IS NOT NULL AND r.is_test = 0
     ON CONFLICT (workflow_id, entry_key) DO UPDATE SET entered_at = excluded.entered_at, run_id = excluded.run_id
       WHERE excluded.entered_at > entered_at`,
    json,
    organizationId,
  );

export const maxAdmittedPerStep = 500;

/** Releases the runs that have been held longest, as many as `max_active_runs` of their active workflow allows. */
export const admitStatement = (database: Database, organizationId: number, workflowId: number, now: number): Statement<{ id: number }> =>
  database.prepare<{ id: number }>(
    `UPDATE automation_run SET hold = NULL, wake_at = ?1 WHERE id IN (
       SELECT id FROM automation_run INDEXED BY automation_run_hold WHERE workflow_id = ?2 AND hold = 'max_active' ORDER BY id LIMIT (
         SELECT max(0, min(${maxAdmittedPerStep}, coalesce(settings ->> 'max_active_runs', 1000000) - active_runs_count + held_runs_count)) * (status = 'active')
         FROM automation_workflow WHERE id = ?2
       )
     ) AND +organization_id = ?3 RETURNING id`,
    now,
    workflowId,
    organizationId,
  );

/** The runs that `admitStatement` released at the moment `now` and that have not started. */
export const admittedStatement = (database: Database, organizationId: number, workflowId: number, now: number): Statement<{ id: number }> =>
  database.prepare<{ id: number }>(
    `SELECT id FROM automation_run INDEXED BY automation_run_workflow_state WHERE workflow_id = ? AND state = 'queued' AND hold IS NULL
       AND wake_at = ? AND organization_id = ? LIMIT ${maxAdmittedPerStep}`,
    workflowId,
    now,
    organizationId,
  );

/** Workflows with held runs that could start, because the message that would have released them was lost. */
export async function findWorkflowsWithCapacity(database: Database, limit: number): Promise<{ id: number; organization_id: number }[]> {
  return database.all(
    database.prepare<{ id: number; organization_id: number }>(
      `SELECT id, organization_id FROM automation_workflow INDEXED BY automation_workflow_held WHERE held_runs_count > 0 AND status = 'active'
         AND active_runs_count - held_runs_count < coalesce(settings ->> 'max_active_runs', 1000000) ORDER BY id LIMIT ?`,
      limit,
    ),
  );
}

/** The facts by which the admission rules refuse a run. */
export interface AdmissionFacts {
  dedup_key: string;
  workflow_status: string;
  trigger_state: string | null;
  /** The last entry of the key, if there is one. Epoch ms. */
  entered_at: number | null;
  entered_run_id: number | null;
  /** The live run that holds the key under `one_live_run_per_key`. */
  sole_run_id: number | null;
  admitted_runs: number;
  max_active_runs: number | null;
  /** How many runs the chain has had; null: the run is in no chain. */
  chained_runs: number | null;
}

type AdmissionQuery = Pick<NewRun, 'dedup_key' | 'workflow_id' | 'trigger_id' | 'contact_id' | 'entry_key' | 'depth'>;

/** The admission facts of each run whose workflow exists. */
export async function loadAdmissionFacts(database: Database, organizationId: number, runs: AdmissionQuery[]): Promise<AdmissionFacts[]> {
  return database.all(
    database.prepare<AdmissionFacts>(
      `SELECT j.value ->> 'dedup_key' AS dedup_key, w.status AS workflow_status, t.state AS trigger_state,
         iif(coalesce(e.entered_at, 0) >= coalesce(x.created_at, 0), e.entered_at, x.created_at) AS entered_at,
         iif(coalesce(e.entered_at, 0) >= coalesce(x.created_at, 0), e.run_id, x.id) AS entered_run_id,
         (SELECT id FROM automation_run INDEXED BY automation_run_sole
            WHERE workflow_id = w.id AND entry_key = j.value ->> 'entry_key' AND is_sole = 1) AS sole_run_id,
         w.active_runs_count - w.held_runs_count AS admitted_runs, w.settings ->> 'max_active_runs' AS max_active_runs,
         ${chainedRunsSql} AS chained_runs
       FROM json_each(?1) j CROSS JOIN automation_workflow w
       LEFT JOIN automation_trigger t ON t.id = j.value ->> 'trigger_id'
       LEFT JOIN workflow_entry e ON e.workflow_id = w.id AND e.entry_key = j.value ->> 'entry_key'
       LEFT JOIN automation_run x ON x.id = (
         SELECT max(earlier.id) FROM (${contactRunsSql}) earlier
         WHERE earlier.workflow_id = w.id AND earlier.entry_key = j.value ->> 'entry_key' AND earlier.is_test = 0)
       WHERE w.id = j.value ->> 'workflow_id' AND w.organization_id = ?2`,
      JSON.stringify(runs),
      organizationId,
    ),
  );
}

/** The sum, of workflows that may have live runs. */
const liveRunsSql = (organization: string): string =>
  `(SELECT coalesce(sum(active_runs_count), 0) FROM automation_workflow INDEXED BY automation_workflow_organization
    WHERE organization_id = ${organization} AND status IN ('active', 'paused'))`;
