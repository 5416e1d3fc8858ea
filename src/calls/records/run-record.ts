import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import type { AgentRunRecord } from './schemas.ts';
import { noLogs, type RunLogs } from './artifacts.ts';
import type { AgentRunResult, AgentRunRow } from './store.ts';

/** What is known of a run besides its row. */
export interface AgentRunDetails {
  /** From the row, or from R2. */
  initialContext: Record<string, unknown>;
  /** The status of the line of a live run. Absent: not looked up. */
  callStatus?: string | undefined;
  /** What the call of a live run waits for. */
  waitingFor?: string | null | undefined;
  /** The result so far of a live run, from its object. */
  live?: Partial<AgentRunResult> | undefined;
  logs?: RunLogs | undefined;
}

const nothingGathered = { call_status: null, call_disposition: null, call_tags: [], nodes_visited: [], extracted_variables: {} };
const noCost = { llm_tokens: { prompt: 0, completion: 0 }, call_duration_seconds: 0, total_cost_usd: 0 };
const noAnnotations = { summary: null, sentiment: null, checks: [] };

/** A run as the API shows it. `apiUrl` includes the base path, without a slash at its end. */
export function toAgentRunRecord(
  apiUrl: string,
  row: AgentRunRow,
  { initialContext, callStatus, waitingFor, live, logs }: AgentRunDetails,
): AgentRunRecord {
  const { gathered_context, cost_info, annotations, transfers } = { ...row.result, ...live };
  const artifact = (name: string) => `${apiUrl}/workflow/${row.agent_id}/runs/${row.id}/${name}`;
  return {
    id: row.id,
    workflow_id: row.agent_id,
    name: row.name,
    mode: row.mode,
    created_at: toTimestamp(row.created_at),
    is_completed: row.is_completed,
    transcript_url: row.has_transcript ? artifact('transcript') : null,
    recording_url: row.recording_type === null ? null : artifact('recording'),
    cost_info: { ...noCost, ...cost_info },
    definition_id: row.definition_id,
    initial_context: initialContext,
    gathered_context: { ...nothingGathered, ...gathered_context, call_status: row.outcome ?? callStatus ?? null },
    call_type: row.call_type,
    logs: logs ?? noLogs,
    annotations: { ...noAnnotations, ...annotations },
    transfers: transfers ?? [],
    outcome: row.outcome,
    reason: row.reason ?? waitingFor ?? null,
    phone: row.phone,
    contact_id: row.contact_id,
    campaign_id: row.campaign_id,
    automation_run_id: row.automation_run_id,
    completed_at: nullableTimestamp(row.completed_at),
  };
}
