import type { Database, Statement } from '../../database/client.ts';
import type { CarrierKey } from '../../providers/telephony/registry.ts';

/** A call that is about to be dialled, as its row in `voice_agent_run` begins. */
export interface NewCallRun {
  attempt_key: string;
  agent_id: number;
  name: string;
  phone: string;
  /** Null until the call is granted a number. */
  own_number: string | null;
  mode: CarrierKey;
  call_type: 'inbound' | 'outbound';
  contact_id: number | null;
  campaign_id: number | null;
  automation_run_id: number | null;
  /** JSON text, or a pointer into R2. */
  initial_context: string;
  /** When the minute tick asks for the call again, epoch ms. Absent: whoever wants it asks again by himself. */
  wake_at?: number | undefined;
}

/**
 * Writes the rows that are not there yet, each on the definition that its agent has now. Rows of agents that are archived or not the
 * organization's, and of numbers that are suppressed, are left out.
 */
export const insertCallRuns = (database: Database, organizationId: number, runs: string, now: number): Statement =>
  database.prepare(
    `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, own_number,
       contact_id, campaign_id, automation_run_id, initial_context, wake_at, created_at)
     SELECT a.organization_id, a.id, a.current_definition_id, j.value->>'name', j.value->>'mode', j.value->>'call_type',
       j.value->>'attempt_key', j.value->>'phone', j.value->>'own_number', j.value->>'contact_id', j.value->>'campaign_id',
       j.value->>'automation_run_id', j.value->>'initial_context', j.value->>'wake_at', ?
     FROM json_each(?) j CROSS JOIN voice_agent a
     WHERE a.id = j.value->>'agent_id' AND a.organization_id = ? AND a.status = 'active'
       AND NOT EXISTS (SELECT 1 FROM suppression s WHERE s.organization_id = a.organization_id AND s.phone = j.value->>'phone'
         AND (s.until IS NULL OR s.until > ?) AND j.value->>'call_type' = 'outbound')
     ON CONFLICT (organization_id, attempt_key) DO NOTHING`,
    now,
    runs,
    organizationId,
    now,
  );

/** What is to be known of a call before it is dialled. */
export interface PreDialRow {
  attempt_key: string;
  run_id: number | null;
  definition_id: number | null;
  is_completed: number | null;
  agent_status: 'active' | 'archived' | null;
  /** Why the number must not be called; null: it may. */
  suppressed: string | null;
  contact_gone: number;
  /** The run of a journey that asked for it was cancelled, or its workflow is paused. */
  journey_halted: number;
  configurations: string | null;
}

/** `calls`: JSON of `{ attempt_key, agent_id, phone, contact_id, automation_run_id }`. */
export const selectPreDialRows = (database: Database, organizationId: number, calls: string, now: number): Statement<PreDialRow> =>
  database.prepare<PreDialRow>(
    `SELECT j.value->>'attempt_key' AS attempt_key, r.id AS run_id, r.definition_id, r.is_completed, a.status AS agent_status,
       a.workflow_configurations AS configurations,
       (SELECT s.reason FROM suppression s WHERE s.organization_id = ?2 AND s.phone = j.value->>'phone'
         AND (s.until IS NULL OR s.until > ?3)) AS suppressed,
       j.value->>'contact_id' IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contact c
         WHERE c.id = j.value->>'contact_id' AND c.organization_id = ?2 AND c.deleted_at IS NULL) AS contact_gone,
       EXISTS (SELECT 1 FROM automation_run x CROSS JOIN automation_workflow w
         WHERE x.id = j.value->>'automation_run_id' AND x.organization_id = ?2 AND w.id = x.workflow_id
           AND (x.state = 'cancelled' OR (x.completed_at IS NULL AND w.status <> 'active' AND x.is_test = 0))) AS journey_halted
     FROM json_each(?1) j
     LEFT JOIN voice_agent_run r ON r.organization_id = ?2 AND r.attempt_key = j.value->>'attempt_key'
     LEFT JOIN voice_agent a ON a.id = j.value->>'agent_id' AND a.organization_id = ?2`,
    calls,
    organizationId,
    now,
  );

/** A row by the name of its attempt. */
export const selectCallRunByKey = (database: Database, organizationId: number, key: string): Statement<{ id: number }> =>
  database.prepare<{ id: number }>('SELECT id FROM voice_agent_run WHERE organization_id = ? AND attempt_key = ?', organizationId, key);

export interface RunDefinitionRow {
  id: number;
  agent_id: number;
  /** JSON text. */
  definition: string;
}

/** The definitions on which calls of these names talk (`RunDefinitionRow`), each once. `keys`: JSON of a list. */
export const selectRunDefinitions = (database: Database, organizationId: number, keys: string): Statement<RunDefinitionRow> =>
  database.prepare<RunDefinitionRow>(
    `SELECT d.id, d.agent_id, d.definition FROM (
       SELECT DISTINCT r.definition_id AS id FROM json_each(?1) j CROSS JOIN voice_agent_run r
       WHERE r.organization_id = ?2 AND r.attempt_key = j.value) f
     CROSS JOIN voice_agent_definition d WHERE d.id = f.id AND d.organization_id = ?2`,
    keys,
    organizationId,
  );

/** What became of a call that nobody talked on, as its row shows it. */
export interface UnansweredEnd {
  attempt_key: string;
  outcome: string;
  reason: string | null;
  /** JSON text of `{ gathered_context, cost_info, annotations }`. */
  result: string;
  own_number: string | null;
  started_at: number | null;
  completed_at: number;
}

/** A row as it was when it was completed, or found completed. */
export interface CompletedRunRow {
  id: number;
  attempt_key: string;
  agent_id: number;
  agent_name: string;
  contact_id: number | null;
  campaign_id: number | null;
  automation_run_id: number | null;
  phone: string;
  outcome: string;
  reason: string | null;
}

/**
 * Completes rows that are not completed yet. Answers those of the given keys (`CompletedRunRow`), whoever completed them. `ends`: JSON of
 * `UnansweredEnd[]`. The rows are found first: an UPDATE chooses the order of its FROM by itself, and would read all of the organization.
 */
export const completeUnansweredRuns = (database: Database, organizationId: number, ends: string) =>
  [
    database.prepare(
      `WITH found AS MATERIALIZED (
       SELECT r.id AS run_id, e.value AS value FROM json_each(?1) e CROSS JOIN voice_agent_run r
       WHERE r.organization_id = ?2 AND r.attempt_key = e.value->>'attempt_key' AND r.is_completed = 0)
     UPDATE voice_agent_run SET is_completed = 1, outcome = value->>'outcome', reason = value->>'reason', result = value->>'result',
       own_number = coalesce(value->>'own_number', own_number), started_at = value->>'started_at',
       completed_at = value->>'completed_at', wake_at = NULL, revision = revision + 1
     FROM found WHERE voice_agent_run.id = found.run_id`,
      ends,
      organizationId,
    ),
    database.prepare<CompletedRunRow>(
      `SELECT r.id, r.attempt_key, r.agent_id, a.name AS agent_name, r.contact_id, r.campaign_id, r.automation_run_id, r.phone, r.outcome,
       r.reason
     FROM json_each(?) e CROSS JOIN voice_agent_run r CROSS JOIN voice_agent a
     WHERE r.organization_id = ? AND r.attempt_key = e.value->>'attempt_key' AND a.id = r.agent_id`,
      ends,
      organizationId,
    ),
  ] as const;

/** Calls that nobody else asks for again, and that the call slots should have known for sure before `before` (epoch ms). */
export const findStalledCalls = (database: Database, before: number, limit: number): Promise<{ id: number; organization_id: number }[]> =>
  database.all(
    database.prepare(
      `SELECT id, organization_id FROM voice_agent_run WHERE wake_at < ? AND mode NOT IN ('textchat', 'simtest') ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );

/** A call that has begun as a row, with all that asking for it needs. */
export interface OpenCallRun {
  id: number;
  attempt_key: string;
  agent_id: number;
  name: string;
  phone: string;
  contact_id: number | null;
  initial_context: string;
}

/** Those of the given runs that are calls and not completed. `runIds`: JSON of a list. */
export const selectOpenCallRuns = (database: Database, organizationId: number, runIds: string): Statement<OpenCallRun> =>
  database.prepare<OpenCallRun>(
    `SELECT r.id, r.attempt_key, r.agent_id, r.name, r.phone, r.contact_id, r.initial_context
     FROM json_each(?) j CROSS JOIN voice_agent_run r
     WHERE r.id = j.value AND r.organization_id = ? AND r.is_completed = 0 AND r.mode NOT IN ('textchat', 'simtest')`,
    runIds,
    organizationId,
  );

/** The call slots know these runs: nobody needs to ask for them again. The plus keeps the planner from reading the organization's runs. */
export const clearWakeAt = (database: Database, organizationId: number, runIds: string): Statement =>
  database.prepare(
    'UPDATE voice_agent_run SET wake_at = NULL WHERE id IN (SELECT value FROM json_each(?)) AND +organization_id = ?',
    runIds,
    organizationId,
  );
