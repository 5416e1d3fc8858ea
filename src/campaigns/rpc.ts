import type { RowOutcome } from '../calls/attempt/outcomes.ts';
import type { Actor } from '../database/audit/actor.ts';
import type { AttemptReport } from '../calls/contract.ts';
import { callDurableObject } from '../library/platform/call-durable-object.ts';
import type { CampaignConfigs, ConfigChange } from './configs/configs.ts';
import type { RowCounts, RowState, Tally } from './rows/row-states.ts';

// The RPC surface of a campaign's object and its data. All moments in epoch ms.

export type LiveState = 'syncing' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';

export interface LogEntry {
  at: number;
  level: 'info' | 'warning' | 'error';
  /** A code: `started`, `paused`, `circuit_breaker` ... */
  event: string;
  /** A sentence. */
  message: string;
  details: Record<string, unknown>;
}

/** The fields of a campaign record that come from the object. */
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
  /** How many calls used up an attempt. */
  attempts: number;
  /** The share, from 0 to 1, of the rows whose person was reached, among the dialled rows that have ended; null: there are none. */
  reached_share: number | null;
  /** How many rows that were dialled have ended with each outcome. */
  outcomes: Record<RowOutcome, number>;
  /** The earliest moment that a row waits for; null: no row waits for one. */
  next_attempt_at: number | null;
  /** When the next calling window opens for a row that has not ended; null while one is open. */
  next_window_at: number | null;
  /** The campaign's calls at the call slots; null: the slots did not answer. */
  waiting: { queued: number; live: number; organization_live: number; limit: number; waiting_for: string | null } | null;
}

/** `next_attempt_at` is null unless the state is `scheduled`. */
export interface RowRecord {
  id: number;
  row_number: number;
  phone: string;
  contact_id: number | null;
  state: RowState;
  outcome: string | null;
  reason: string | null;
  attempts: number;
  next_attempt_at: number | null;
  run_ids: number[];
  variables: Record<string, unknown>;
}

export interface RowsQuery {
  state?: RowState | undefined;
  /** 1 to 1000. */
  limit: number;
  offset: number;
}

/** Rows in the order of their numbers; `total` counts all rows of the query. */
export interface RowsPage {
  rows: RowRecord[];
  total: number;
}

/** A row that a redial calls again, with its variables. */
export interface RedialRow {
  row_number: number;
  phone: string;
  contact_id: number | null;
  variables: Record<string, unknown>;
}

/** The changes that a PATCH makes to a paused campaign; an absent field stays. */
export interface CampaignChange {
  name?: string | undefined;
  configs?: ConfigChange | undefined;
}

/** Rows in one answer of an object: their variables may have 128 KiB each, and an answer 32 MiB. */
export const maxRowsPerCall = 200;

/**
 * The RPC surface of a campaign's object, which is named `{organization_id}/{campaign_id}`. Every method may be repeated after a broken
 * call. `actionId` names one action of a person (a uuid made for each request), so that a repetition of the action is no conflict. The
 * `actor` is in whose name the change is in the audit log, in the transaction that brings it into the campaign's row. The
 * campaign's row shows the state of an answer, too. A draft has no object: state changes throw 409, reads answer null.
 */
export interface CampaignRpc {
  /** From draft to syncing. Throws 404 for an unknown campaign, 409 for one that is not a draft. */
  start(organizationId: number, campaignId: number, actionId: string, actor?: Actor): Promise<LiveCampaign>;
  /** Nothing is dialled after the answer. Throws 409 unless the campaign is running or syncing. */
  pause(actionId: string, actor?: Actor): Promise<LiveCampaign>;
  /** Throws 409 unless paused. A campaign that could never dial stays paused and names the reason in `state_reason`. */
  resume(actionId: string, actor?: Actor): Promise<LiveCampaign>;
  /** Ends every row that is not in a call. Throws 409 for a campaign that has ended. */
  cancel(actionId: string, actor?: Actor): Promise<LiveCampaign>;
  /** Throws 409 unless paused, 422 and 400 as `applyConfigChange` does. */
  change(change: CampaignChange, actor?: Actor): Promise<LiveCampaign>;
  /** Does due work of a stalled campaign, and creates the object of a campaign whose start broke off. The minute tick calls it. */
  wakeStalled(organizationId: number, campaignId: number): Promise<void>;
  snapshot(): Promise<LiveCampaign | null>;
  progress(): Promise<CampaignProgress | null>;
  rows(query: RowsQuery): Promise<RowsPage | null>;
  /** The next rows after a row number, for the report. Fewer than `limit` rows are the last ones. */
  reportRows(afterRowNumber: number, limit: number): Promise<RowRecord[] | null>;
  /** The next rows after a row number that failed with one of `outcomes`. */
  redialRows(outcomes: RowOutcome[], afterRowNumber: number, limit: number): Promise<RedialRow[] | null>;
  /** How many rows `redialRows` has in all. */
  countRedialRows(outcomes: RowOutcome[]): Promise<number | null>;
  /** Deletes the object of a campaign whose rows are archived. `busy`: the campaign is live, or work that follows its end is left. */
  deleteArchived(): Promise<'gone' | 'busy'>;
  /** The contact was deleted: its rows end and lose their variables, and its queued call is withdrawn. */
  removeContact(contactId: number): Promise<void>;
  /** The voice agent was archived: a running campaign pauses. */
  pauseForArchivedAgent(): Promise<void>;
  /**
   * Applies the call slots' reports on attempts. After the answer, the slots need not send the reports again. Reports may repeat and be
   * late.
   */
  applyReports(reports: AttemptReport[]): Promise<void>;
  /** Deletes all data of the object, when the organization is deleted. */
  deleteAllData(): Promise<void>;
}

/** Calls a campaign's object, again when the call broke. */
export const callCampaignObject = <Answer>(
  bindings: Env,
  organizationId: number,
  campaignId: number,
  call: (object: CampaignRpc) => Promise<Answer>,
): Promise<Answer> =>
  callDurableObject(() => bindings.CAMPAIGN.getByName(`${organizationId}/${campaignId}`) as unknown as CampaignRpc, call);
