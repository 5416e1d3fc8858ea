import type { CallingWindow, RowWindows } from '../../src/campaigns/dialing/calling-windows.ts';
import { maxRequestedCalls, rowAttemptKey } from '../../src/campaigns/rows/attempt-keys.ts';
import type { RowState } from '../../src/campaigns/rows/row-states.ts';
import type { WaitingRow } from '../../src/campaigns/queries/describe-wait.ts';
import type { RequestedCall } from '../../src/calls/contract.ts';
import type { TimeZoneGroups } from './time-zone-groups.ts';
import type { Campaign } from './campaign-store.ts';
import type { RowStore } from './row-store.ts';

/** What is asked for together stays below what a call of an object carries well. */
const maxBatchLength = 800_000;

export interface RequestedRow {
  number: number;
  portion: number;
  state: RowState;
  attempt: number;
}

interface DialCandidate {
  number: number;
  timeZoneGroup: number;
  isNew: boolean;
  closesAt: number | null;
}

/** Which rows the slots are asked to call. What is asked for is written into `asked` before. */
export class DialRequests {
  readonly #sql: SqlStorage;
  readonly #rows: RowStore;
  readonly #timeZoneGroups: TimeZoneGroups;

  constructor(sql: SqlStorage, rows: RowStore, lanes: TimeZoneGroups) {
    this.#sql = sql;
    this.#rows = rows;
    this.#timeZoneGroups = lanes;
  }

  /** Chooses what is to be called next and writes the intent. Retries and what was given back go before new rows. Call in a transaction. */
  chooseNextBatch(campaign: Campaign, windows: RowWindows, now: number): { calls: RequestedCall[]; hasEnded: boolean } {
    const room = maxRequestedCalls(campaign.configs.max_concurrency) - this.count();
    if (room <= 0) return { calls: [], hasEnded: false };
    const { wanted, hasEnded } = this.#chooseDue(windows, now, room);
    wanted.push(...this.#chooseNew(windows, now, room - wanted.length));
    const portion = campaign.batch + 1;
    const calls: RequestedCall[] = [];
    const cursors = new Map<number, number>();
    let length = 0;
    for (const { number, timeZoneGroup: lane, isNew, closesAt } of wanted) {
      const call = this.#toRequestedCall(campaign, number, closesAt);
      length += call.initialContext.length;
      if (calls.length > 0 && length > maxBatchLength) break;
      this.#sql.exec('INSERT INTO asked (number, portion, is_contact_gone) VALUES (?, ?, 0)', number, portion);
      if (isNew) cursors.set(lane, number);
      else this.#sql.exec("UPDATE campaign_row SET state = 'pending', due = NULL WHERE number = ?", number);
      calls.push(call);
    }
    for (const [lane, cursor] of cursors) this.#timeZoneGroups.moveCursor(lane, cursor);
    return { calls, hasEnded };
  }

  /** Those whose moment has come; who may not be called now waits for the next window. */
  #chooseDue(windows: RowWindows, now: number, room: number): { wanted: DialCandidate[]; hasEnded: boolean } {
    const wanted: DialCandidate[] = [];
    let hasEnded = false;
    for (;;) {
      const due = this.#sql
        .exec<{ number: number; lane: number }>(
          `SELECT number, lane FROM campaign_row WHERE due IS NOT NULL AND due <= ? ORDER BY due, number LIMIT ? OFFSET ?`,
          now,
          room - wanted.length,
          wanted.length,
        )
        .toArray();
      if (due.length === 0) return { wanted, hasEnded };
      for (const { number, lane } of due) {
        const window = windows.at(lane, now);
        if ('never' in window) {
          this.#rows.end(number, 'failed', `${window.never.reason}: ${window.never.detail}`);
          hasEnded = true;
        } else if (window.opensAt > now) this.#rows.schedule(number, window.opensAt);
        else wanted.push({ number, timeZoneGroup: lane, isNew: false, closesAt: window.closesAt });
      }
    }
  }

  /** In the order of the source, of those that may be called now. */
  #chooseNew(windows: RowWindows, now: number, room: number): DialCandidate[] {
    if (room <= 0) return [];
    const isByContact = windows.schedule.use_contact_timezone;
    const wanted = this.#timeZoneGroups.all(isByContact).flatMap((lane): DialCandidate[] => {
      const window = windows.at(lane.id, now);
      if (!isOpen(window, now)) return [];
      const numbers = this.#timeZoneGroups.nextNewRows(lane, isByContact, room);
      if (numbers.length === 0) this.#timeZoneGroups.moveCursor(lane.id, null);
      return numbers.map((number) => ({ number, timeZoneGroup: lane.id, isNew: true, closesAt: window.closesAt }));
    });
    return wanted.toSorted((one, other) => one.number - other.number).slice(0, room);
  }

  #toRequestedCall(campaign: Campaign, number: number, notAfter: number | null): RequestedCall {
    const row = this.#sql
      .exec<{
        phone: string;
        contact_id: number | null;
        attempt: number;
        variables: string;
      }>('SELECT phone, contact_id, attempt, variables FROM campaign_row WHERE number = ?', number)
      .one();
    const variables = JSON.parse(row.variables) as Record<string, unknown>;
    return {
      key: rowAttemptKey(campaign.id, number, row.attempt),
      phone: row.phone,
      agentId: campaign.agentId,
      contactId: row.contact_id,
      initialContext: JSON.stringify({ ...variables, phone_number: row.phone }),
      name: `${campaign.name}, row ${number}`,
      notAfter,
    };
  }

  count(): number {
    return this.#sql.exec<{ count: number }>('SELECT count(*) AS count FROM asked').one().count;
  }

  /** Of the portions behind `answered`, or of all. */
  requestedRows(answered = 0): RequestedRow[] {
    return this.#sql
      .exec<RequestedRow & Record<string, SqlStorageValue>>(
        'SELECT a.number, a.portion, r.state, r.attempt FROM asked a CROSS JOIN campaign_row r WHERE a.portion > ? AND r.number = a.number ORDER BY a.number',
        answered,
      )
      .toArray();
  }

  /**
   * The same attempts once more, as many as go together, and those that are left. What has become of a row since it was looked at counts. A row
   * that must not be called now is asked for with a window that has closed: the slots then tell what became of it, or give it back.
   */
  repeatBatch(
    campaign: Campaign,
    rows: RequestedRow[],
    windows: RowWindows,
    now: number,
  ): { calls: RequestedCall[]; left: RequestedRow[] } {
    const calls: RequestedCall[] = [];
    let length = 0;
    for (const [index, { number, attempt }] of rows.entries()) {
      const [row] = this.#sql
        .exec<{ state: RowState; attempt: number; lane: number }>(
          'SELECT r.state, r.attempt, r.lane FROM asked a CROSS JOIN campaign_row r WHERE a.number = ? AND r.number = a.number',
          number,
        )
        .toArray();
      if (!row || row.attempt !== attempt) continue;
      const window = campaign.state === 'running' && row.state === 'pending' ? windows.at(row.lane, now) : null;
      const call = this.#toRequestedCall(campaign, number, window && isOpen(window, now) ? window.closesAt : 0);
      length += call.initialContext.length;
      if (calls.length > 0 && length > maxBatchLength) return { calls, left: rows.slice(index) };
      calls.push(call);
    }
    return { calls, left: [] };
  }

  /** When there will be something to ask for although nothing comes; null: what is to come will tell. */
  nextDialAt(windows: RowWindows, now: number): number | null {
    const [due] = this.#sql.exec<{ due: number | null }>('SELECT min(due) AS due FROM campaign_row WHERE due IS NOT NULL').toArray();
    const moments = [due?.due ?? null, this.newRowsOpenAt(windows, now)].filter((moment) => moment !== null);
    return moments.length ? Math.min(...moments) : null;
  }

  /** The row that waits for the earliest moment; null: none does. */
  firstWaitingRow(windows: RowWindows): WaitingRow | null {
    const [row] = this.#sql
      .exec<{ due: number; not_before: number | null; reason: string | null; lane: number }>(
        'SELECT due, not_before, reason, lane FROM campaign_row WHERE due > 0 ORDER BY due LIMIT 1',
      )
      .toArray();
    const window = row && windows.at(row.lane, row.due);
    if (!window || 'never' in window) return null;
    return { due: row.due, notBefore: row.not_before, reason: row.reason, opensAt: window.opensAt };
  }

  /** When the first window opens for a row that has not ended; null while one is open, or none will be. */
  nextWindowAt(windows: RowWindows, now: number): number | null {
    const isByContact = windows.schedule.use_contact_timezone;
    let opening: number | null = null;
    for (const lane of this.#timeZoneGroups.all(isByContact)) {
      const window = windows.at(lane.id, now);
      if ('never' in window || (isByContact && !this.#timeZoneGroups.hasUnfinished(lane))) continue;
      if (window.opensAt <= now) return null;
      opening = Math.min(opening ?? Infinity, window.opensAt);
    }
    return opening;
  }

  /** When the first of the closed windows opens behind which new rows wait; null: there are none. */
  newRowsOpenAt(windows: RowWindows, now: number): number | null {
    const isByContact = windows.schedule.use_contact_timezone;
    const openings = this.#timeZoneGroups.all(isByContact).flatMap((lane) => {
      const window = windows.at(lane.id, now);
      return 'never' in window || window.opensAt <= now || this.#timeZoneGroups.nextNewRows(lane, isByContact, 1).length === 0
        ? []
        : [window.opensAt];
    });
    return openings.length ? Math.min(...openings) : null;
  }

  /** The slots have it after all. */
  add(number: number, portion: number): void {
    this.#sql.exec('INSERT OR IGNORE INTO asked (number, portion, is_contact_gone) VALUES (?, ?, 0)', number, portion);
  }

  remove(number: number): void {
    this.#sql.exec('DELETE FROM asked WHERE number = ?', number);
  }

  isContactDeleted(number: number): boolean {
    return this.#sql.exec('SELECT 1 FROM asked WHERE number = ? AND is_contact_gone = 1', number).toArray().length > 0;
  }

  markContactDeleted(number: number): void {
    this.#sql.exec('UPDATE asked SET is_contact_gone = 1 WHERE number = ?', number);
  }

  /** Keys of those that are not dialled yet and whose contact is gone. */
  keysOfDeletedContacts(campaignId: number): string[] {
    return this.#sql
      .exec<{
        number: number;
        attempt: number;
      }>(
        "SELECT r.number, r.attempt FROM asked a CROSS JOIN campaign_row r WHERE a.is_contact_gone = 1 AND r.number = a.number AND r.state = 'pending'",
      )
      .toArray()
      .map(({ number, attempt }) => rowAttemptKey(campaignId, number, attempt));
  }
}

const isOpen = (window: CallingWindow, now: number): window is Extract<CallingWindow, { opensAt: number }> =>
  'opensAt' in window && window.opensAt <= now;
