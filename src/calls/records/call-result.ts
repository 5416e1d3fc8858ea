import { and, eq } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { voiceAgentRun } from '../../database/schema/voice-agents.ts';
import { isRecord, type Json } from '../../library/json/json.ts';
import type { ReturnReason } from '../contract.ts';
import { returnReasons } from '../contract.ts';

/** How a call of a journey has ended, line and conversation. */
export interface CallResult {
  call_run_id: number;
  outcome: 'completed' | 'busy' | 'no_answer' | 'voicemail' | 'failed' | 'cancelled';
  /** "word: sentence", where the outcome alone does not say it. */
  reason: string | null;
  disposition: string | null;
  extracted_variables: Record<string, Json>;
  summary: string | null;
  duration_seconds: number;
  /** Why the call was given back undialled; null: it was dialled. */
  returned: ReturnReason | null;
  /** When a new request makes sense, epoch ms. */
  returned_until: number | null;
}

/** Reads how a call ended. Null: it is not completed. A call whose row is deleted counts as cancelled. */
export async function readCallResult({ database, organization }: Context, runId: number): Promise<CallResult | null> {
  const query = database.orm
    .select({
      id: voiceAgentRun.id,
      isCompleted: voiceAgentRun.isCompleted,
      outcome: voiceAgentRun.outcome,
      reason: voiceAgentRun.reason,
      disposition: voiceAgentRun.disposition,
      result: voiceAgentRun.result,
    })
    .from(voiceAgentRun)
    .where(and(eq(voiceAgentRun.id, runId), eq(voiceAgentRun.organizationId, organization.id)));
  const [row] = await database.run(() => query);
  if (!row) return { ...emptyResult, call_run_id: runId, outcome: 'cancelled', reason: 'gone: the call is no longer there' };
  if (!row.isCompleted) return null;
  const result = (row.result ?? {}) as Record<string, Record<string, unknown> | undefined>;
  const { gathered_context: gathered = {}, cost_info: cost = {}, annotations = {} } = result;
  const extracted = gathered['extracted_variables'];
  const returned = gathered['returned'];
  const until = gathered['returned_until'];
  return {
    call_run_id: row.id,
    outcome: row.outcome ?? 'failed',
    reason: row.reason,
    disposition: row.disposition,
    extracted_variables: isRecord(extracted) ? (extracted as Record<string, Json>) : {},
    summary: typeof annotations['summary'] === 'string' ? annotations['summary'] : null,
    duration_seconds: Number(cost['call_duration_seconds'] ?? 0),
    returned: returnReasons.find((reason) => reason === returned) ?? null,
    returned_until: typeof until === 'number' ? until : null,
  };
}

const emptyResult: CallResult = {
  call_run_id: 0,
  outcome: 'failed',
  reason: null,
  disposition: null,
  extracted_variables: {},
  summary: null,
  duration_seconds: 0,
  returned: null,
  returned_until: null,
};
