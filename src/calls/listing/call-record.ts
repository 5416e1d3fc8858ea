import { isRecord } from '../../library/json/json.ts';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import type { AgentRunResult, StoredAgentRun } from '../records/store.ts';
import type { CallRecord } from './schemas.ts';

/** The columns of a run that its record shows: not its variables, which may be long. */
const callColumns = [
  'id',
  'agent_id',
  'call_type',
  'phone',
  'own_number',
  'contact_id',
  'campaign_id',
  'automation_run_id',
  'automation_workflow_id',
  'outcome',
  'reason',
  'disposition',
  'talk_seconds',
  'is_completed',
  'result',
  'has_transcript',
  'recording_type',
  'created_at',
  'started_at',
  'completed_at',
] as const;

/** A row of `voice_agent_run` with these columns, and the name of its agent. */
export type CallRow = Pick<StoredAgentRun, (typeof callColumns)[number]> & { agent_name: string | null };

/** `callColumns` of the alias `r`, for a SELECT. */
export const callColumnsSql = `${callColumns.map((column) => `r.${column}`).join(', ')},
  (SELECT a.name FROM voice_agent a WHERE a.id = r.agent_id) AS agent_name`;

/** A call as lists and reports show it. `apiUrl` includes the base path, without a slash at its end. */
export function toCallRecord(apiUrl: string, row: CallRow): CallRecord {
  const { gathered_context: gathered, cost_info: cost, annotations, answered_by: answeredBy, transfers } = parseResult(row.result);
  const transfer = transfers?.at(-1);
  const url = `${apiUrl}/workflow/${row.agent_id}/runs/${row.id}`;
  const isEnded = row.is_completed === 1;
  const extracted = gathered['extracted_variables'];
  return {
    id: row.id,
    workflow_id: row.agent_id,
    workflow_name: row.agent_name ?? '',
    direction: row.call_type,
    status: isEnded ? 'ended' : 'live',
    outcome: row.outcome,
    reason: row.reason,
    disposition: row.disposition,
    answered_by: answeredBy ?? null,
    phone: row.phone,
    own_number: row.own_number,
    contact_id: row.contact_id,
    campaign_id: row.campaign_id,
    automation_run_id: row.automation_run_id,
    automation_workflow_id: row.automation_workflow_id,
    summary: toText(annotations['summary']),
    sentiment: toText(annotations['sentiment']),
    extracted_variables: isRecord(extracted) ? extracted : {},
    talk_seconds: isEnded ? (row.talk_seconds ?? 0) : null,
    transferred_to: transfer?.to ?? null,
    transfer_mode: transfer?.mode ?? null,
    transfer_is_fallback: transfer?.is_fallback ?? null,
    transfer_state: transfer?.state ?? null,
    transfer_answered_at: transfer?.answered_at ?? null,
    transfer_seconds: transfer?.seconds ?? null,
    transfer_reason: transfer?.reason ?? null,
    cost_usd: toNumber(cost['total_cost_usd']),
    created_at: toTimestamp(row.created_at),
    started_at: nullableTimestamp(row.started_at),
    ended_at: nullableTimestamp(row.completed_at),
    run_url: url,
    transcript_url: row.has_transcript ? `${url}/transcript` : null,
    recording_url: row.recording_type === null ? null : `${url}/recording`,
  };
}

const noResult: AgentRunResult = { gathered_context: {}, cost_info: {}, annotations: {} };
const parseResult = (result: string | null): AgentRunResult =>
  result === null ? noResult : { ...noResult, ...(JSON.parse(result) as AgentRunResult) };

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const toNumber = (value: unknown): number | null => (typeof value === 'number' ? value : null);
