import type { z } from '@hono/zod-openapi';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import { rowOutcomes } from '../../calls/attempt/outcomes.ts';
import { collectWarnings } from '../../library/json/config-object.ts';
import { configWarnings } from '../configs/configs.ts';
import { toRowCounts, emptyTally } from '../rows/row-states.ts';
import type { RowCall, RowWithCalls } from '../rows/row-calls.ts';
import { pickTransfer, toRowResult } from '../rows/row-result.ts';
import type { CampaignProgress as LiveProgress, LiveCampaign, LogEntry } from '../rpc.ts';
import type { CampaignProgress, CampaignRecord, CampaignRowCall, CampaignRowRecord } from '../schemas.ts';
import { SourceOptions } from '../source/options.ts';
import type { CampaignRow } from '../store.ts';

/** The API record of a campaign: of its row, and of its object where `live` is given. */
export function campaignRecord(row: CampaignRow, live: LiveCampaign | null = null): z.infer<typeof CampaignRecord> {
  const { redial, ...sourceOptions } = row.source_options;
  const { retry_config, max_concurrency, schedule_config, circuit_breaker } = live?.configs ?? row;
  const counts = live ?? row;
  const { state, state_reason, started_at, completed_at } = live ?? row;
  return {
    id: row.id,
    name: live?.name ?? row.name,
    workflow_id: row.agent_id,
    workflow_name: row.agent_name,
    definition_id: row.definition_id,
    state,
    state_reason,
    source_type: row.source_type,
    source_id: row.source_id,
    source_options: sourceOptions,
    redial_of: redial ?? null,
    total_rows: counts.total_rows,
    processed_rows: counts.completed_rows + counts.failed_rows + counts.skipped_rows,
    completed_rows: counts.completed_rows,
    failed_rows: counts.failed_rows,
    skipped_rows: counts.skipped_rows,
    in_flight: counts.in_flight,
    created_at: toTimestamp(row.created_at),
    started_at: nullableTimestamp(started_at),
    completed_at: nullableTimestamp(completed_at),
    retry_config,
    max_concurrency,
    schedule_config,
    circuit_breaker,
    warnings: [
      ...configWarnings({ retry_config, schedule_config, circuit_breaker }),
      ...collectWarnings(SourceOptions, sourceOptions, ['body', 'source_options']),
    ],
    logs: live?.logs.map(logRecord) ?? [],
  };
}

const logRecord = (entry: LogEntry) => ({ ...entry, at: toTimestamp(entry.at) });

export const rowRecord = (row: RowWithCalls): z.infer<typeof CampaignRowRecord> => ({
  id: row.id,
  row_number: row.row_number,
  phone: row.phone,
  contact_id: row.contact_id,
  state: row.state,
  outcome: row.outcome,
  reason: row.reason,
  attempts: row.attempts,
  next_attempt_at: nullableTimestamp(row.next_attempt_at),
  run_ids: row.run_ids,
  variables: row.variables,
  result: toRowResult(row.calls),
  calls: row.calls.map(rowCallRecord),
});

const rowCallRecord = ({ attempt, call }: RowCall): z.infer<typeof CampaignRowCall> => ({
  attempt,
  run_id: call.id,
  outcome: call.outcome,
  reason: call.reason,
  disposition: call.disposition,
  answered_by: call.answered_by,
  summary: call.summary,
  sentiment: call.sentiment,
  extracted_variables: call.extracted_variables,
  talk_seconds: call.talk_seconds,
  ...pickTransfer(call),
  cost_usd: call.cost_usd,
  started_at: call.started_at,
  ended_at: call.ended_at,
  run_url: call.run_url,
  transcript_url: call.transcript_url,
  recording_url: call.recording_url,
});

type Progress = z.infer<typeof CampaignProgress>;

export const progressRecord = (live: LiveProgress): Progress => ({
  ...live,
  next_attempt_at: nullableTimestamp(live.next_attempt_at),
  next_window_at: nullableTimestamp(live.next_window_at),
});

/** The progress of a campaign that has not read its rows yet: every row of its source is pending. */
export const progressBeforeStart = ({
  state,
  state_reason,
  total_rows,
}: Pick<CampaignRow, 'state' | 'state_reason' | 'total_rows'>): Progress => ({
  state,
  state_reason,
  ...toRowCounts({ ...emptyTally(), pending: total_rows }),
  rows: { ...emptyTally(), pending: total_rows },
  attempts: 0,
  outcomes: Object.fromEntries(rowOutcomes.map((outcome) => [outcome, 0])),
  reached_share: null,
  next_attempt_at: null,
  next_window_at: null,
  waiting: null,
});
