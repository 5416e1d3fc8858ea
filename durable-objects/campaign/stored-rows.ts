import type { Tally } from '../../src/campaigns/row-states.ts';
import type { RetryConfig } from '../../src/campaigns/configs.ts';
import { whyNoRetry } from '../../src/campaigns/retry-policy.ts';
import type { Unreached } from '../../src/campaigns/retry-policy.ts';
import { rowStates } from '../../src/campaigns/row-states.ts';
import type { RowState } from '../../src/campaigns/row-states.ts';
import { skipReason } from '../../src/campaigns/rows/after-report.ts';
import type { Ending, RowProgress } from '../../src/campaigns/rows/after-report.ts';
import type { RedialRow, RowRecord } from '../../src/campaigns/rows/live-campaign.ts';
import type { CampaignSourceRow } from '../../src/campaigns/sources/campaign-source.ts';
import { rowOutcomes } from '../../src/voice-agents/dialing/call-outcomes.ts';
import type { RowOutcome } from '../../src/voice-agents/dialing/call-outcomes.ts';
import { openingFor, waitsForWindow, type Openings } from './waiting-rows.ts';

export interface StoredRow extends RowProgress {
  number: number;
  lane: number;
}

export interface StoredTally {
  rows: Tally;
  outcomes: Record<RowOutcome, number>;
  attempts: number;
}

type Stored = Record<string, SqlStorageValue>;

const progressColumns =
  'number, lane, state, outcome, reason, attempts, carrier_troubles, rate_limits, unreached, due, not_before, attempt, run_ids, heard_at';
const recordColumns = 'number, lane, phone, contact_id, state, outcome, reason, attempts, due, run_ids, variables';
/** Waiting rows that the slots do not have. */
const isFree = "state IN ('pending', 'scheduled') AND number NOT IN (SELECT number FROM asked)";

const isIndexed = "state IN ('scheduled', 'completed', 'failed', 'skipped')";
/** To be told the outcomes as JSON first. */
const isRedialled = `${isIndexed} AND state = 'failed' AND phone <> '' AND outcome IN (SELECT value FROM json_each(?))`;
const isAsked = 'number IN (SELECT number FROM asked)';
/** Where the rows of a state are found without going through all of them. The first pending one is new, asked for, or to be asked for again. */
const found: Record<RowState, string> = {
  pending: `number >= min((SELECT min(cursor) FROM lane), ifnull((SELECT min(number) FROM asked), 9e15),
    ifnull((SELECT min(number) FROM campaign_row WHERE due = 0), 9e15))`,
  scheduled: isIndexed,
  dialing: isAsked,
  in_call: isAsked,
  completed: isIndexed,
  failed: isIndexed,
  skipped: isIndexed,
};

/** The rows of a campaign in its object's SQLite. Triggers keep the tally. */
export class StoredRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Rows that are there already stay as they are. */
  add(rows: CampaignSourceRow[]): void {
    for (const row of rows)
      this.#sql.exec(
        `INSERT OR IGNORE INTO campaign_row (number, phone, contact_id, lane, state, reason, attempts, carrier_troubles, rate_limits, attempt,
           run_ids, heard_at, variables) VALUES (?, ?, ?, 0, ?, ?, 0, 0, 0, 1, '[]', 0, ?)`,
        row.row_number,
        row.phone,
        row.contact_id,
        row.state,
        row.reason,
        JSON.stringify(row.variables),
      );
  }

  last(): { row_number: number; contact_id: number | null } | null {
    const [row] = this.#sql.exec<Stored>('SELECT number, contact_id FROM campaign_row ORDER BY number DESC LIMIT 1').toArray();
    return row ? { row_number: row['number'] as number, contact_id: row['contact_id'] as number | null } : null;
  }

  /** Of the rows with a number that can be dialled. */
  *phones(): Generator<{ phone: string; number: number }> {
    yield* this.#sql.exec<{ phone: string; number: number }>("SELECT phone, number FROM campaign_row WHERE state <> 'failed'");
  }

  find(number: number): StoredRow | null {
    const [row] = this.#sql.exec<Stored>(`SELECT ${progressColumns} FROM campaign_row WHERE number = ?`, number).toArray();
    return row ? storedRow(row) : null;
  }

  write(number: number, row: RowProgress): void {
    this.#sql.exec(
      `UPDATE campaign_row SET state = ?, outcome = ?, reason = ?, attempts = ?, carrier_troubles = ?, rate_limits = ?, unreached = ?,
         due = ?, not_before = ?, attempt = ?, run_ids = ?, heard_at = ? WHERE number = ?`,
      row.state,
      row.outcome,
      row.reason,
      row.attempts,
      row.carrierTroubles,
      row.rateLimits,
      row.unreached,
      row.dueAt,
      row.notBefore,
      row.attempt,
      JSON.stringify(row.runIds),
      row.heardAt,
      number,
    );
  }

  /** Rows wait until a moment. */
  schedule(number: number, due: number): void {
    this.#sql.exec("UPDATE campaign_row SET state = 'scheduled', due = ? WHERE number = ?", due, number);
  }

  /** After a change of the calling windows: who waits for one is looked at again from its own moment on. */
  forgetWindows(now: number): void {
    this.#sql.exec(`UPDATE campaign_row SET due = max(ifnull(not_before, 0), ?) WHERE ${isIndexed} AND state = 'scheduled'`, now);
  }

  /** After a change of the retry rules: ends the waiting retries that they no longer allow. */
  endRetries(retry: RetryConfig): void {
    const waiting = this.#sql
      .exec<{ number: number; unreached: Unreached; attempts: number }>(
        'SELECT number, unreached, attempts FROM campaign_row WHERE due >= 0 AND unreached IS NOT NULL',
      )
      .toArray();
    for (const { number, unreached, attempts } of waiting) {
      const why = whyNoRetry(unreached, attempts, retry);
      if (why)
        this.#sql.exec(
          "UPDATE campaign_row SET state = 'failed', outcome = unreached, reason = ?, due = NULL WHERE number = ?",
          why,
          number,
        );
    }
  }

  /** Ends a row that was not dialled. */
  end(number: number, state: 'failed' | 'skipped', reason: string): void {
    this.#sql.exec('UPDATE campaign_row SET state = ?, reason = ?, due = NULL WHERE number = ?', state, reason, number);
  }

  /** Ends a page of the rows behind a number that wait and that the slots do not have. Answers the last of them; null: there are no more. */
  endFree(ending: Ending, after: number, limit: number): number | null {
    const ended = this.#sql
      .exec<{ number: number }>(
        `UPDATE campaign_row SET state = 'skipped', reason = ?, due = NULL
         WHERE number IN (SELECT number FROM campaign_row WHERE number > ? AND ${isFree} ORDER BY number LIMIT ?) RETURNING number`,
        skipReason(ending),
        after,
        limit,
      )
      .toArray();
    return ended.length < limit ? null : Math.max(...ended.map(({ number }) => number));
  }

  ofContact(contactId: number): { number: number; state: RowState; isAsked: boolean }[] {
    return this.#sql
      .exec<Stored>(
        'SELECT r.number, r.state, a.number IS NOT NULL AS is_asked FROM campaign_row r LEFT JOIN asked a ON a.number = r.number WHERE r.contact_id = ?',
        contactId,
      )
      .toArray()
      .map((row) => ({ number: row['number'] as number, state: row['state'] as RowState, isAsked: row['is_asked'] === 1 }));
  }

  forgetVariables(number: number): void {
    this.#sql.exec("UPDATE campaign_row SET variables = '{}' WHERE number = ?", number);
  }

  forgetPhone(number: number): void {
    this.#sql.exec("UPDATE campaign_row SET phone = '' WHERE number = ?", number);
  }

  tally(): StoredTally {
    const row = this.#sql.exec<Record<string, number>>('SELECT * FROM tally').one();
    const part = <Name extends string>(columns: readonly Name[], prefix = '') =>
      Object.fromEntries(columns.map((column) => [column, row[prefix + column]!])) as Record<Name, number>;
    return { rows: part(rowStates), outcomes: part(rowOutcomes, 'outcome_'), attempts: row['attempts']! };
  }

  /** Epoch ms; null when no row waits for a moment. */
  nextAttemptAt(): number | null {
    return this.#sql.exec<{ at: number | null }>('SELECT min(due) AS at FROM campaign_row WHERE due > 0').one().at;
  }

  /** How many wait for their window and are stored as pending. */
  waiting(openings: Openings): number {
    if (openings.byLane.size === 0) return 0;
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM campaign_row WHERE ${waitsForWindow(openings)}`).one().count;
  }

  page(state: RowState | undefined, openings: Openings, limit: number, offset: number): RowRecord[] {
    return this.#records(`${shownAs(state, openings, limit + offset)} ORDER BY number LIMIT ? OFFSET ?`, openings, limit, offset);
  }

  after(number: number, openings: Openings, limit: number): RowRecord[] {
    return this.#records('number > ? ORDER BY number LIMIT ?', openings, number, limit);
  }

  redial(outcomes: RowOutcome[], after: number, limit: number): RedialRow[] {
    return this.#sql
      .exec<Stored>(
        `SELECT number, phone, contact_id, variables FROM campaign_row
         WHERE ${isRedialled} AND number > ? ORDER BY number LIMIT ?`,
        JSON.stringify(outcomes),
        after,
        limit,
      )
      .toArray()
      .map((row) => ({
        row_number: row['number'] as number,
        phone: row['phone'] as string,
        contact_id: row['contact_id'] as number | null,
        variables: variablesOf(row),
      }));
  }

  countRedial(outcomes: RowOutcome[]): number {
    return this.#sql
      .exec<{ count: number }>(`SELECT count(*) AS count FROM campaign_row WHERE ${isRedialled}`, JSON.stringify(outcomes))
      .one().count;
  }

  #records(condition: string, openings: Openings, ...parameters: (string | number)[]): RowRecord[] {
    return this.#sql
      .exec<Stored>(`SELECT ${recordColumns}, ${waitsForWindow(openings)} AS waits FROM campaign_row WHERE ${condition}`, ...parameters)
      .toArray()
      .map((row) => recordOf(row, openings));
  }
}

/** The condition of the first `most` rows that are shown in a state. */
function shownAs(state: RowState | undefined, openings: Openings, most: number): string {
  if (state === undefined) return 'number > 0';
  const stored = `${found[state]} AND state = '${state}'`;
  if (openings.byLane.size === 0) return stored;
  const waits = waitsForWindow(openings);
  const first = (condition: string) =>
    `SELECT number FROM (SELECT number FROM campaign_row WHERE ${condition} ORDER BY number LIMIT ${most})`;
  if (state === 'scheduled') return `number IN (${first(stored)} UNION ALL ${first(waits)})`;
  return state === 'pending' ? `${stored} AND NOT ${waits}` : stored;
}

function recordOf(row: Stored, openings: Openings): RowRecord {
  const waits = row['waits'] === 1;
  return {
    id: row['number'] as number,
    row_number: row['number'] as number,
    phone: row['phone'] as string,
    contact_id: row['contact_id'] as number | null,
    state: waits ? 'scheduled' : (row['state'] as RowState),
    outcome: row['outcome'] as RowOutcome | null,
    reason: waits ? 'window_closed: no calling window is open' : (row['reason'] as string | null),
    attempts: row['attempts'] as number,
    next_attempt_at: waits ? openingFor(openings, row['lane'] as number) : (row['due'] as number | null) || null,
    run_ids: runIdsOf(row).filter((id) => id !== 0),
    variables: variablesOf(row),
  };
}

const runIdsOf = (row: Stored): number[] => JSON.parse(row['run_ids'] as string) as number[];
const variablesOf = (row: Stored): Record<string, unknown> => JSON.parse(row['variables'] as string) as Record<string, unknown>;

const storedRow = (row: Stored): StoredRow => ({
  number: row['number'] as number,
  lane: row['lane'] as number,
  state: row['state'] as RowState,
  outcome: row['outcome'] as RowOutcome | null,
  reason: row['reason'] as string | null,
  attempts: row['attempts'] as number,
  carrierTroubles: row['carrier_troubles'] as number,
  rateLimits: row['rate_limits'] as number,
  unreached: row['unreached'] as Unreached | null,
  dueAt: row['due'] as number | null,
  notBefore: row['not_before'] as number | null,
  attempt: row['attempt'] as number,
  runIds: runIdsOf(row),
  heardAt: row['heard_at'] as number,
});
