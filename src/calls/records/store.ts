import { and, eq } from 'drizzle-orm';
import type { TransferRecord } from '../../voice-agents/conversation/transfer-leg.ts';
import type { RunLogs } from './artifacts.ts';
import { erasedName } from './erase-calls.ts';
import type { AnsweredBy } from '../../providers/telephony/carrier-events.ts';
import type { CarrierKey } from '../../providers/telephony/registry.ts';
import type { Context } from '../../context.ts';
import type { Statement } from '../../database/client.ts';
import { voiceAgentRun } from '../../database/schema/index.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { notFound } from '../../library/errors.ts';

/** A call or text chat. Moments in epoch ms. */
export interface AgentRunRow extends Omit<StoredAgentRun, 'is_completed' | 'has_transcript' | 'result'> {
  is_completed: boolean;
  has_transcript: boolean;
  result: AgentRunResult | null;
}

/** A row of `voice_agent_run` as SQL answers it. `initial_context` is JSON text, or a pointer into R2. */
export interface StoredAgentRun extends Omit<StoredRow<typeof voiceAgentRun>, 'mode'> {
  mode: CarrierKey | 'textchat' | 'simtest';
}

/** The result of a run, written when it is completed. */
export interface AgentRunResult {
  gathered_context: Record<string, unknown>;
  cost_info: Record<string, unknown>;
  annotations: Record<string, unknown>;
  /** Who answered, by machine detection. Absent or null: nobody knows. */
  answered_by?: AnsweredBy | null;
  /** How often the agent has looked into documents, and how often it found nothing; absent: it did not. */
  knowledge?: { questions: number; unanswered: number };
  /** The tries to hand the caller to a human, in order; absent: there was none. */
  transfers?: TransferRecord[];
  /** Of an unanswered call; the logs of a conversation have a file of their own in R2. */
  logs?: RunLogs;
}

export const toAgentRunRow = (row: StoredAgentRun): AgentRunRow => ({
  ...row,
  is_completed: row.is_completed === 1,
  has_transcript: row.has_transcript === 1,
  result: row.result === null ? null : (JSON.parse(row.result) as AgentRunResult),
});

export interface NewAgentRun {
  agentId: number;
  definitionId: number;
  name: string;
  mode: AgentRunRow['mode'];
  callType: AgentRunRow['call_type'];
  /** Names the request for the run, so that the run exists once. */
  attemptKey: string;
  phone?: string | null;
  ownNumber?: string | null;
  contactId?: number | null;
  campaignId?: number | null;
  automationRunId?: number | null;
  /** From `storePayload`. */
  initialContext: string;
  /** Epoch ms. */
  wakeAt?: number | null;
  startedAt?: number | null;
}

/** Inserts a run, or finds the run with this attempt key. Null: the agent is archived, or of another organization. */
export async function insertAgentRun({ database, organization, clock }: Context, run: NewAgentRun): Promise<AgentRunRow | null> {
  const [, rows] = await database.batch(
    [
      database.prepare(
        `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, own_number, contact_id,
         campaign_id, automation_run_id, automation_workflow_id, initial_context, wake_at, started_at, created_at)
       SELECT organization_id, id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
         (SELECT x.workflow_id FROM automation_run x WHERE x.id = ?12 AND x.organization_id = ?1), ?13, ?14, ?15, ?16
       FROM voice_agent WHERE id = ?2 AND organization_id = ?1 AND status = 'active'
       ON CONFLICT (organization_id, attempt_key) DO NOTHING`,
        organization.id,
        run.agentId,
        run.definitionId,
        run.name,
        run.mode,
        run.callType,
        run.attemptKey,
        run.phone ?? null,
        run.ownNumber ?? null,
        run.contactId ?? null,
        run.campaignId ?? null,
        run.automationRunId ?? null,
        run.initialContext,
        run.wakeAt ?? null,
        run.startedAt ?? null,
        clock(),
      ),
      database.from<StoredAgentRun>(
        database.orm
          .select()
          .from(voiceAgentRun)
          .where(and(eq(voiceAgentRun.organizationId, organization.id), eq(voiceAgentRun.attemptKey, run.attemptKey))),
      ),
    ],
    'voice_agent_run.attempt_key',
  );
  return rows[0] ? toAgentRunRow(rows[0]) : null;
}

/** Finds a run of the organization; null: there is none. */
export async function findAgentRun({ database, organization }: Context, runId: number): Promise<AgentRunRow | null> {
  const query = database.orm
    .select()
    .from(voiceAgentRun)
    .where(and(eq(voiceAgentRun.id, runId), eq(voiceAgentRun.organizationId, organization.id)));
  const row = await database.first(database.from<StoredAgentRun>(query));
  return row && toAgentRunRow(row);
}

/** How a run ended. Moments in epoch ms. */
export interface RunCompletion {
  runId: number;
  outcome: NonNullable<AgentRunRow['outcome']>;
  reason: string | null;
  disposition: string | null;
  /** Seconds from the answer to the end, where a person and the agent talked; null: they did not, or it is a chat. */
  talkSeconds: number | null;
  result: AgentRunResult;
  hasTranscript: boolean;
  startedAt: number | null;
  completedAt: number;
}

/**
 * Completes a run that is not completed yet, and answers its row. A run that is completed already does not change, and no row is answered.
 */
export const completeAgentRun = ({ database, organization }: Context, completion: RunCompletion): Statement<StoredAgentRun> =>
  database.prepare<StoredAgentRun>(
    `UPDATE voice_agent_run SET is_completed = 1, outcome = ?, reason = ?, disposition = ?, talk_seconds = ?, result = ?, has_transcript = ?,
       started_at = coalesce(?, started_at), completed_at = ?, wake_at = NULL, revision = revision + 1
     WHERE id = ? AND organization_id = ? AND is_completed = 0 RETURNING *`,
    completion.outcome,
    completion.reason,
    completion.disposition,
    completion.talkSeconds,
    JSON.stringify(completion.result),
    completion.hasTranscript ? 1 : 0,
    completion.startedAt,
    completion.completedAt,
    completion.runId,
    organization.id,
  );

/** Stores when the minute tick checks the object of a live run, epoch ms; null: never. */
export const updateWakeAt = ({ database, organization }: Context, runId: number, wakeAt: number | null): Statement =>
  database.prepare(
    'UPDATE voice_agent_run SET wake_at = ? WHERE id = ? AND organization_id = ? AND is_completed = 0',
    wakeAt,
    runId,
    organization.id,
  );

/**
 * Marks the run's recording as stored in R2, with its content type, and answers a row. The run may be completed by then. Without a row, the
 * run was erased.
 */
export const updateRecordingType = ({ database, organization }: Context, runId: number, contentType: string): Statement =>
  database.prepare(
    'UPDATE voice_agent_run SET recording_type = ? WHERE id = ? AND organization_id = ? AND name <> ? RETURNING 1',
    contentType,
    runId,
    organization.id,
    erasedName,
  );

/** Finds a run of an agent. Throws 404, also for a run of another agent. */
export async function existingRun(context: Context, agentId: number, runId: number): Promise<AgentRunRow> {
  const row = await findAgentRun(context, runId);
  if (row?.agent_id !== agentId) throw notFound('Run');
  return row;
}
