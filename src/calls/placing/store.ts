import { isNotInTransitSql } from '../../database/transit.ts';
import { and, eq } from 'drizzle-orm';
import type { Database, Statement } from '../../database/client.ts';
import { voiceAgentRun } from '../../database/schema/voice-agents.ts';
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
  /** When the minute tick requests the call again, epoch ms. Absent: the owner repeats the request by itself. */
  wake_at?: number | undefined;
}

/**
 * Inserts rows that do not exist yet, each with the definition that its campaign pins, else with the present one of its agent. Leaves out rows of agents that are archived or of
 * another organization, and of numbers that are suppressed. `runs`: JSON of `NewCallRun[]`; `now` in epoch ms.
 */
export const insertCallRuns = (database: Database, organizationId: number, runs: string, now: number): Statement =>
  database.prepare(
    `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, own_number,
       contact_id, campaign_id, automation_run_id, automation_workflow_id, initial_context, wake_at, created_at)
     SELECT a.organization_id, a.id, coalesce((SELECT c.definition_id FROM campaign c WHERE c.id = j.value->>'campaign_id' AND c.organization_id = a.organization_id
         AND c.agent_id = a.id), a.current_definition_id), j.value->>'name', j.value->>'mode', j.value->>'call_type',
       j.value->>'attempt_key', j.value->>'phone', j.value->>'own_number', j.value->>'contact_id', j.value->>'campaign_id',
       j.value->>'automation_run_id',
       (SELECT x.workflow_id FROM automation_run x WHERE x.id = j.value->>'automation_run_id' AND x.organization_id = a.organization_id),
       j.value->>'initial_context', j.value->>'wake_at', ?
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

/** What the checks before dialling read of a call. */
export interface PreDialRow {
  attempt_key: string;
  run_id: number | null;
  definition_id: number | null;
  is_completed: number | null;
  agent_status: 'active' | 'archived' | null;
  /** Why the number must not be called; null: it may. */
  suppressed: string | null;
  contact_gone: number;
  /** The journey run that requested the call was cancelled, or its workflow is paused. */
  journey_halted: number;
  /** The organization's contact policy, JSON text, in the first row alone; null: there is none. */
  contact_policy: string | null;
}

/** Reads what the checks before dialling need. `calls`: JSON of `{ attempt_key, agent_id, phone, contact_id, automation_run_id }`. */
export const selectPreDialRows = (database: Database, organizationId: number, calls: string, now: number): Statement<PreDialRow> =>
  database.prepare<PreDialRow>(
    `SELECT j.value->>'attempt_key' AS attempt_key, r.id AS run_id, r.definition_id, r.is_completed, a.status AS agent_status,
       (SELECT s.reason FROM suppression s WHERE s.organization_id = ?2 AND s.phone = j.value->>'phone'
         AND (s.until IS NULL OR s.until > ?3)) AS suppressed,
       j.value->>'contact_id' IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contact c
         WHERE c.id = j.value->>'contact_id' AND c.organization_id = ?2 AND c.deleted_at IS NULL) AS contact_gone,
       EXISTS (SELECT 1 FROM automation_run x CROSS JOIN automation_workflow w
         WHERE x.id = j.value->>'automation_run_id' AND x.organization_id = ?2 AND w.id = x.workflow_id
           AND (x.state = 'cancelled' OR (x.completed_at IS NULL AND w.status <> 'active' AND x.is_test = 0))) AS journey_halted,
       iif(j.key = 0, (SELECT p.policy FROM contact_policy p WHERE p.organization_id = ?2), NULL) AS contact_policy
     FROM json_each(?1) j
     LEFT JOIN voice_agent_run r ON r.organization_id = ?2 AND r.attempt_key = j.value->>'attempt_key'
     LEFT JOIN voice_agent a ON a.id = j.value->>'agent_id' AND a.organization_id = ?2`,
    calls,
    organizationId,
    now,
  );

/** The id of the run of an attempt. */
export const selectCallRunByKey = (database: Database, organizationId: number, key: string): Statement<{ id: number }> =>
  database.from<{ id: number }>(
    database.orm
      .select({ id: voiceAgentRun.id })
      .from(voiceAgentRun)
      .where(and(eq(voiceAgentRun.organizationId, organizationId), eq(voiceAgentRun.attemptKey, key))),
  );

export interface RunDefinitionRow {
  id: number;
  agent_id: number;
  /** JSON text. */
  definition: string;
  /** `workflow_configurations` in this version, JSON text. */
  configurations: string;
}

/** The definitions of the agents of these attempts, each once. `keys`: JSON of a list. */
export const selectRunDefinitions = (database: Database, organizationId: number, keys: string): Statement<RunDefinitionRow> =>
  database.prepare<RunDefinitionRow>(
    `SELECT d.id, d.agent_id, d.definition, coalesce(d.workflow_configurations, a.workflow_configurations) AS configurations FROM (
       SELECT DISTINCT r.definition_id AS id FROM json_each(?1) j CROSS JOIN voice_agent_run r
       WHERE r.organization_id = ?2 AND r.attempt_key = j.value) f
     CROSS JOIN voice_agent_definition d CROSS JOIN voice_agent a WHERE d.id = f.id AND d.organization_id = ?2 AND a.id = d.agent_id`,
    keys,
    organizationId,
  );

/** The end of an unanswered call, as its row shows it. */
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

/** A completed row. */
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
 * Completes the rows of unanswered calls that are not completed yet. Answers all rows of the given keys (`CompletedRunRow`). `ends`: JSON
 * of `UnansweredEnd[]`. The rows are found first: an UPDATE chooses the order of its FROM by itself, and would read all rows of the
 * organization.
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

/** Single calls whose request should have reached the call slots before `before` (epoch ms). */
export const findStalledCalls = (database: Database, before: number, limit: number): Promise<{ id: number; organization_id: number }[]> =>
  database.all(
    database.prepare<{ id: number; organization_id: number }>(
      `SELECT id, organization_id FROM voice_agent_run WHERE wake_at < ? AND mode NOT IN ('textchat', 'simtest')
         AND ${isNotInTransitSql('organization_id')} ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );

/** A call that is not completed, with the fields of its request. */
export interface OpenCallRun {
  id: number;
  attempt_key: string;
  agent_id: number;
  name: string;
  phone: string;
  contact_id: number | null;
  initial_context: string;
}

/** The runs among `runIds` that are calls and not completed. `runIds`: JSON of a list. */
export const selectOpenCallRuns = (database: Database, organizationId: number, runIds: string): Statement<OpenCallRun> =>
  database.prepare<OpenCallRun>(
    `SELECT r.id, r.attempt_key, r.agent_id, r.name, r.phone, r.contact_id, r.initial_context
     FROM json_each(?) j CROSS JOIN voice_agent_run r
     WHERE r.id = j.value AND r.organization_id = ? AND r.is_completed = 0 AND r.mode NOT IN ('textchat', 'simtest')`,
    runIds,
    organizationId,
  );

/**
 * Stops the minute tick from requesting these calls again: the call slots know them. The plus keeps the planner from reading the
 * organization's runs.
 */
export const clearWakeAt = (database: Database, organizationId: number, runIds: string): Statement =>
  database.prepare(
    'UPDATE voice_agent_run SET wake_at = NULL WHERE id IN (SELECT value FROM json_each(?)) AND +organization_id = ?',
    runIds,
    organizationId,
  );
