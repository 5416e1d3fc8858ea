import type { CampaignConfigs, ConfigChange } from './configs/configs.ts';
import type { ReportRow } from './report/format.ts';
import type { RowCounts, RowState, Tally } from './rows/row-states.ts';
import type { RowOutcome } from '../calls/attempt/outcomes.ts';

// What a campaign's object says of itself, as plain data. All moments in epoch ms.

export type LiveState = 'syncing' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';

export interface LogEntry {
  at: number;
  level: 'info' | 'warning' | 'error';
  /** A word that programs know: `started`, `paused`, `circuit_breaker` ... */
  event: string;
  /** A sentence. */
  message: string;
  details: Record<string, unknown>;
}

/** The fields of a campaign record that its object knows better than its row. */
export interface LiveCampaign extends RowCounts {
  state: LiveState;
  state_reason: string | null;
  name: string;
  configs: CampaignConfigs;
  started_at: number;
  completed_at: number | null;
  /** The last 100, newest first. */
  logs: LogEntry[];
}

export interface CampaignProgress extends RowCounts {
  state: LiveState;
  state_reason: string | null;
  /** How many rows are in each state; they add up to `total_rows`. */
  rows: Tally;
  /** Calls that used up an attempt. */
  attempts: number;
  /** Of the rows that were dialled and have ended, the share whose person was reached; null before there is one. */
  reached_share: number | null;
  /** Of the rows that were dialled and have ended. */
  outcomes: Record<RowOutcome, number>;
  /** Of the row that waits for the earliest moment; null when none waits for one. */
  next_attempt_at: number | null;
  /** When the next calling window opens for a row that has not ended; null while one is open. */
  next_window_at: number | null;
  /** How it stands among all who want calls; null when that could not be found out. */
  waiting: { queued: number; live: number; organization_live: number; limit: number; waiting_for: string | null } | null;
}

/** `next_attempt_at` is null unless the state is `scheduled`. */
export interface RowRecord extends ReportRow {
  id: number;
}

export interface RowsQuery {
  state?: RowState | undefined;
  /** 1 to 1000. */
  limit: number;
  offset: number;
}

/** Rows by their number; `total` counts all that the query means. */
export interface RowsPage {
  rows: RowRecord[];
  total: number;
}

/** What a redial calls again: who did not end well, with the variables that they had. */
export interface RedialRow {
  row_number: number;
  phone: string;
  contact_id: number | null;
  variables: Record<string, unknown>;
}

/** What a PATCH of a paused campaign changes; what is absent stays. */
export interface CampaignChange {
  name?: string | undefined;
  configs?: ConfigChange | undefined;
}
