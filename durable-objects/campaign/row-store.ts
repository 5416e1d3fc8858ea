import type { RetryConfig } from '../../src/campaigns/configs/configs.ts';
import { noRetryReason } from '../../src/campaigns/dialing/retry-policy.ts';
import type { UnreachedOutcome } from '../../src/campaigns/dialing/retry-policy.ts';
import type { RowState } from '../../src/campaigns/rows/row-states.ts';
import { toSkipReason } from '../../src/campaigns/rows/apply-report.ts';
import type { EndReason, RowProgress } from '../../src/campaigns/rows/apply-report.ts';
import type { RedialRow, RowRecord } from '../../src/campaigns/rpc.ts';
import type { CampaignSourceRow } from '../../src/campaigns/source/campaign-source.ts';
import type { RowOutcome } from '../../src/calls/attempt/outcomes.ts';
import { RowTally, type StoredTally, type TalliedRow } from './row-tally.ts';
import type { CampaignRowColumns } from './schema.ts';
import { findOpening, waitsForWindowCondition, type WindowOpenings } from './time-zone-groups.ts';

export interface StoredRow extends RowProgress {
  number: number;
  timeZoneGroup: number;
}

type Columns<Name extends keyof CampaignRowColumns> = Pick<CampaignRowColumns, Name>;
type ProgressRow = Omit<CampaignRowColumns, 'phone' | 'contact_id' | 'variables'>;
/** `waits` is 1 of a row that is stored as pending and waits for a calling window. */
type WaitingRecordRow = Columns<
  'number' | 'lane' | 'phone' | 'contact_id' | 'state' | 'outcome' | 'reason' | 'attempts' | 'due' | 'run_ids' | 'variables'
> & { waits: number };

const progressColumns =
  'number, lane, state, outcome, reason, attempts, carrier_troubles, rate_limits, unreached, due, not_before, attempt, run_ids, heard_at';
const recordColumns = 'number, lane, phone, contact_id, state, outcome, reason, attempts, due, run_ids, variables';
/** The waiting rows that the call slots do not have. */
const unrequestedCondition = "state IN ('pending', 'scheduled') AND number NOT IN (SELECT number FROM asked)";

const indexedCondition = "state IN ('scheduled', 'completed', 'failed', 'skipped')";
/** Its first parameter is the JSON list of outcomes. */
const redialCondition = `${indexedCondition} AND state = 'failed' AND phone <> '' AND outcome IN (SELECT value FROM json_each(?))`;
const requestedCondition = 'number IN (SELECT number FROM asked)';
/** Conditions that find the rows of a state without reading all rows. The first pending row is new, requested, or due for another request. */
const stateConditions: Record<RowState, string> = {
  pending: `number >= min((SELECT min(cursor) FROM lane), ifnull((SELECT min(number) FROM asked), 9e15),
    ifnull((SELECT min(number) FROM campaign_row WHERE due = 0), 9e15))`,
  scheduled: indexedCondition,
  dialing: requestedCondition,
  in_call: requestedCondition,
  completed: indexedCondition,
  failed: indexedCondition,
  skipped: indexedCondition,
};

/** The rows of a campaign in the SQLite of its object. Whoever changes a state, an outcome or attempts does it here: the tally follows. */
export class RowStore {
  readonly #sql: SqlStorage;
  readonly #tally: RowTally;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#tally = new RowTally(sql);
  }

  /** Changes rows in a transaction, which `inTransaction` runs. */
  transaction<Result>(inTransaction: (transaction: () => Result) => Result, change: () => Result): Result {
    try {
      return inTransaction(() => {
        const result = change();
        this.#tally.save();
        return result;
      });
    } catch (error) {
      this.#tally.forget();
      throw error;
    }
  }

  /** The object is new: what an earlier one of its name had is gone. */
  forgetTally(): void {
    this.#tally.forget();
  }

  /** Updates one row by `update`, which makes `change`. */
  #update(number: number, change: Partial<TalliedRow>, update: () => void): void {
    const [before] = this.#sql
      .exec<Columns<'state' | 'outcome' | 'attempts'>>('SELECT state, outcome, attempts FROM campaign_row WHERE number = ?', number)
      .toArray();
    update();
    if (before) this.#tally.move(before, { ...before, ...change });
  }

  /** Adds rows of the source. Rows that are stored already stay as they are. */
  add(rows: CampaignSourceRow[]): void {
    for (const row of rows) {
      const added = this.#sql.exec(
        `INSERT OR IGNORE INTO campaign_row (number, phone, contact_id, lane, state, reason, attempts, carrier_troubles, rate_limits, attempt,
           run_ids, heard_at, variables) VALUES (?, ?, ?, 0, ?, ?, 0, 0, 0, 1, '[]', 0, ?) RETURNING number`,
        row.row_number,
        row.phone,
        row.contact_id,
        row.state,
        row.reason,
        JSON.stringify(row.variables),
      );
      if (added.toArray().length > 0) this.#tally.move(null, { state: row.state, outcome: null, attempts: 0 });
    }
  }

  lastRow(): { row_number: number; contact_id: number | null } | null {
    const [row] = this.#sql
      .exec<Columns<'number' | 'contact_id'>>('SELECT number, contact_id FROM campaign_row ORDER BY number DESC LIMIT 1')
      .toArray();
    return row ? { row_number: row.number, contact_id: row.contact_id } : null;
  }

  /** The numbers of the rows that can be dialled. */
  *phones(): Generator<{ phone: string; number: number }> {
    yield* this.#sql.exec<Columns<'phone' | 'number'>>("SELECT phone, number FROM campaign_row WHERE state <> 'failed'");
  }

  find(number: number): StoredRow | null {
    const [row] = this.#sql.exec<ProgressRow>(`SELECT ${progressColumns} FROM campaign_row WHERE number = ?`, number).toArray();
    return row ? toStoredRow(row) : null;
  }

  write(number: number, row: RowProgress): void {
    const { state, outcome, attempts } = row;
    this.#update(number, { state, outcome, attempts }, () => this.#write(number, row));
  }

  #write(number: number, row: RowProgress): void {
    this.#sql.exec(
      `UPDATE campaign_row SET state = ?, outcome = ?, reason = ?, attempts = ?, carrier_troubles = ?, rate_limits = ?, unreached = ?,
         due = ?, not_before = ?, attempt = ?, run_ids = ?, heard_at = ? WHERE number = ?`,
      row.state,
      row.outcome,
      row.reason,
      row.attempts,
      row.carrierTroubleCount,
      row.consecutiveRateLimits,
      row.lastUnreachedOutcome,
      row.dueAt,
      row.notBefore,
      row.attempt,
      JSON.stringify(row.runIds),
      row.lastReportAt,
      number,
    );
  }

  /** Has a row wait until `due` (epoch ms). */
  schedule(number: number, due: number): void {
    this.#update(number, { state: 'scheduled' }, () =>
      this.#sql.exec("UPDATE campaign_row SET state = 'scheduled', due = ? WHERE number = ?", due, number),
    );
  }

  /** The call of a row that waited for its moment is requested. */
  request(number: number): void {
    this.#update(number, { state: 'pending' }, () =>
      this.#sql.exec("UPDATE campaign_row SET state = 'pending', due = NULL WHERE number = ?", number),
    );
  }

  /** After a change of the calling windows, a waiting row is due at its own moment and meets the new windows then. */
  resetWindowWaits(now: number): void {
    this.#sql.exec(`UPDATE campaign_row SET due = max(ifnull(not_before, 0), ?) WHERE ${indexedCondition} AND state = 'scheduled'`, now);
  }

  /** After a change of the retry rules, ends the waiting retries that the new rules do not allow. */
  endRetries(retry: RetryConfig): void {
    const waiting = this.#sql
      .exec<Columns<'number' | 'attempts'> & { unreached: UnreachedOutcome }>(
        'SELECT number, unreached, attempts FROM campaign_row WHERE due >= 0 AND unreached IS NOT NULL',
      )
      .toArray();
    for (const { number, unreached, attempts } of waiting) {
      const reason = noRetryReason(unreached, attempts, retry);
      if (reason)
        this.#update(number, { state: 'failed', outcome: unreached }, () =>
          this.#sql.exec(
            "UPDATE campaign_row SET state = 'failed', outcome = unreached, reason = ?, due = NULL WHERE number = ?",
            reason,
            number,
          ),
        );
    }
  }

  /** Ends a row that was not dialled. */
  end(number: number, state: 'failed' | 'skipped', reason: string): void {
    this.#update(number, { state }, () =>
      this.#sql.exec('UPDATE campaign_row SET state = ?, reason = ?, due = NULL WHERE number = ?', state, reason, number),
    );
  }

  /** Ends a page of the waiting rows after a row number that the call slots do not have. Returns the last number; null: no rows are left. */
  endUnrequested(ending: EndReason, after: number, limit: number): number | null {
    const ended = this.#sql
      .exec<Columns<'number' | 'state' | 'outcome' | 'attempts'>>(
        `SELECT number, state, outcome, attempts FROM campaign_row WHERE number > ? AND ${unrequestedCondition} ORDER BY number LIMIT ?`,
        after,
        limit,
      )
      .toArray();
    this.#sql.exec(
      "UPDATE campaign_row SET state = 'skipped', reason = ?, due = NULL WHERE number IN (SELECT value FROM json_each(?))",
      toSkipReason(ending),
      JSON.stringify(ended.map(({ number }) => number)),
    );
    for (const row of ended) this.#tally.move(row, { ...row, state: 'skipped' });
    return ended.length < limit ? null : Math.max(...ended.map(({ number }) => number));
  }

  findByContact(contactId: number): { number: number; state: RowState; isRequested: boolean }[] {
    return this.#sql
      .exec<Columns<'number' | 'state'> & { is_asked: number }>(
        'SELECT r.number, r.state, a.number IS NOT NULL AS is_asked FROM campaign_row r LEFT JOIN asked a ON a.number = r.number WHERE r.contact_id = ?',
        contactId,
      )
      .toArray()
      .map(({ number, state, is_asked }) => ({ number, state, isRequested: is_asked === 1 }));
  }

  clearVariables(number: number): void {
    this.#sql.exec("UPDATE campaign_row SET variables = '{}' WHERE number = ?", number);
  }

  clearPhone(number: number): void {
    this.#sql.exec("UPDATE campaign_row SET phone = '' WHERE number = ?", number);
  }

  tally(): StoredTally {
    return this.#tally.read();
  }

  /** The earliest moment (epoch ms) that a row waits for; null: no row waits for one. */
  nextAttemptAt(): number | null {
    return this.#sql.exec<{ at: number | null }>('SELECT min(due) AS at FROM campaign_row WHERE due > 0').one().at;
  }

  /** How many rows wait for a calling window although they are stored as pending. */
  countWaiting(openings: WindowOpenings): number {
    if (openings.byTimeZoneGroup.size === 0) return 0;
    if (this.#areAllClosed(openings)) return this.#tally.read().rows.pending - this.#countPendingButNotNew();
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM campaign_row WHERE ${waitsForWindowCondition(openings)}`).one()
      .count;
  }

  #areAllClosed({ isByContact, byTimeZoneGroup }: WindowOpenings): boolean {
    return !isByContact || byTimeZoneGroup.size === this.#sql.exec<{ count: number }>('SELECT count(*) AS count FROM lane').one().count;
  }

  /** The rows that are requested, and those that are due for another request. New rows are many, and these are few. */
  #countPendingButNotNew(): number {
    return this.#sql
      .exec<{ count: number }>(
        `SELECT (SELECT count(*) FROM asked a CROSS JOIN campaign_row r WHERE r.number = a.number AND r.state = 'pending')
           + (SELECT count(*) FROM campaign_row WHERE due = 0 AND state = 'pending' AND number NOT IN (SELECT number FROM asked)) AS count`,
      )
      .one().count;
  }

  page(state: RowState | undefined, openings: WindowOpenings, limit: number, offset: number): RowRecord[] {
    return this.#records(
      `${shownStateCondition(state, openings, limit + offset)} ORDER BY number LIMIT ? OFFSET ?`,
      openings,
      limit,
      offset,
    );
  }

  pageAfter(number: number, openings: WindowOpenings, limit: number): RowRecord[] {
    return this.#records('number > ? ORDER BY number LIMIT ?', openings, number, limit);
  }

  redialRows(outcomes: RowOutcome[], after: number, limit: number): RedialRow[] {
    return this.#sql
      .exec<Columns<'number' | 'phone' | 'contact_id' | 'variables'>>(
        `SELECT number, phone, contact_id, variables FROM campaign_row
         WHERE ${redialCondition} AND number > ? ORDER BY number LIMIT ?`,
        JSON.stringify(outcomes),
        after,
        limit,
      )
      .toArray()
      .map((row) => ({
        row_number: row.number,
        phone: row.phone,
        contact_id: row.contact_id,
        variables: parseVariables(row),
      }));
  }

  countRedialRows(outcomes: RowOutcome[]): number {
    return this.#sql
      .exec<{ count: number }>(`SELECT count(*) AS count FROM campaign_row WHERE ${redialCondition}`, JSON.stringify(outcomes))
      .one().count;
  }

  #records(condition: string, openings: WindowOpenings, ...parameters: (string | number)[]): RowRecord[] {
    return this.#sql
      .exec<WaitingRecordRow>(
        `SELECT ${recordColumns}, ${waitsForWindowCondition(openings)} AS waits FROM campaign_row WHERE ${condition}`,
        ...parameters,
      )
      .toArray()
      .map((row) => toRowRecord(row, openings));
  }
}

/** The condition of the first `limit` rows that are shown in a state. */
function shownStateCondition(state: RowState | undefined, openings: WindowOpenings, limit: number): string {
  if (state === undefined) return 'number > 0';
  const stored = `${stateConditions[state]} AND state = '${state}'`;
  if (openings.byTimeZoneGroup.size === 0) return stored;
  const waits = waitsForWindowCondition(openings);
  const first = (condition: string) =>
    `SELECT number FROM (SELECT number FROM campaign_row WHERE ${condition} ORDER BY number LIMIT ${limit})`;
  if (state === 'scheduled') return `number IN (${first(stored)} UNION ALL ${first(waits)})`;
  return state === 'pending' ? `${stored} AND NOT ${waits}` : stored;
}

function toRowRecord(row: WaitingRecordRow, openings: WindowOpenings): RowRecord {
  const isWaiting = row.waits === 1;
  return {
    id: row.number,
    row_number: row.number,
    phone: row.phone,
    contact_id: row.contact_id,
    state: isWaiting ? 'scheduled' : row.state,
    outcome: row.outcome,
    reason: isWaiting ? 'window_closed: no calling window is open' : row.reason,
    attempts: row.attempts,
    next_attempt_at: isWaiting ? findOpening(openings, row.lane) : row.due || null,
    run_ids: parseRunIds(row).filter((id) => id !== 0),
    variables: parseVariables(row),
  };
}

const parseRunIds = ({ run_ids }: Columns<'run_ids'>): number[] => JSON.parse(run_ids) as number[];
const parseVariables = ({ variables }: Columns<'variables'>) => JSON.parse(variables) as Record<string, unknown>;

const toStoredRow = (row: ProgressRow): StoredRow => ({
  number: row.number,
  timeZoneGroup: row.lane,
  state: row.state,
  outcome: row.outcome,
  reason: row.reason,
  attempts: row.attempts,
  carrierTroubleCount: row.carrier_troubles,
  consecutiveRateLimits: row.rate_limits,
  lastUnreachedOutcome: row.unreached,
  dueAt: row.due,
  notBefore: row.not_before,
  attempt: row.attempt,
  runIds: parseRunIds(row),
  lastReportAt: row.heard_at,
});
