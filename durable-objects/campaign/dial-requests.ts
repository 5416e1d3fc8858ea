import type { CallingWindow, RowWindows } from '../../src/campaigns/dialing/calling-windows.ts';
import { maxRequestedCalls, rowAttemptKey } from '../../src/campaigns/rows/attempt-keys.ts';
import type { RowState } from '../../src/campaigns/rows/row-states.ts';
import type { CampaignRowColumns } from './schema.ts';
import type { WaitingRow } from '../../src/campaigns/queries/describe-wait.ts';
import type { RequestedCall } from '../../src/calls/contract.ts';
import type { TimeZoneGroups } from './time-zone-groups.ts';
import type { Campaign } from './campaign-store.ts';
import type { RowStore } from './row-store.ts';

/** The maximum length of a batch's variables, in characters; larger RPC calls are slow. */
const maxBatchLength = 800_000;

export interface RequestedRow {
  number: number;
  state: RowState;
  attempt: number;
}

interface DialCandidate {
  number: number;
  timeZoneGroup: number;
  isNew: boolean;
  closesAt: number | null;
}

/** Chooses the rows whose calls are requested from the call slots. A requested row is in `asked` before the request is sent. */
export class DialRequests {
  readonly #sql: SqlStorage;
  readonly #rows: RowStore;
  readonly #timeZoneGroups: TimeZoneGroups;

  constructor(sql: SqlStorage, rows: RowStore, timeZoneGroups: TimeZoneGroups) {
    this.#sql = sql;
    this.#rows = rows;
    this.#timeZoneGroups = timeZoneGroups;
  }

  /** Chooses the rows to call next and marks them as requested. Due rows (retries, returned rows) go before new ones. Call in a transaction. */
  chooseNextBatch(campaign: Campaign, windows: RowWindows, now: number): { calls: RequestedCall[]; hasEnded: boolean } {
    const capacity = maxRequestedCalls(campaign.configs.max_concurrency) - this.count();
    if (capacity <= 0) return { calls: [], hasEnded: false };
    const { candidates, hasEnded } = this.#chooseDue(windows, now, capacity);
    candidates.push(...this.#chooseNew(windows, now, capacity - candidates.length));
    const batch = campaign.batch + 1;
    const calls: RequestedCall[] = [];
    const cursors = new Map<number, number>();
    let length = 0;
    for (const { number, timeZoneGroup, isNew, closesAt } of candidates) {
      const call = this.#toRequestedCall(campaign, number, closesAt);
      length += call.initialContext.length;
      if (calls.length > 0 && length > maxBatchLength) break;
      this.#sql.exec('INSERT INTO asked (number, portion, is_contact_gone) VALUES (?, ?, 0)', number, batch);
      if (isNew) cursors.set(timeZoneGroup, number);
      else this.#rows.request(number);
      calls.push(call);
    }
    for (const [groupId, cursor] of cursors) this.#timeZoneGroups.moveCursor(groupId, cursor);
    return { calls, hasEnded };
  }

  /** The due rows. A row whose calling window is closed waits for the next one; a row that no window will open for ends. */
  #chooseDue(windows: RowWindows, now: number, limit: number): { candidates: DialCandidate[]; hasEnded: boolean } {
    const candidates: DialCandidate[] = [];
    let hasEnded = false;
    for (;;) {
      const due = this.#sql
        .exec<{ number: number; lane: number }>(
          `SELECT number, lane FROM campaign_row WHERE due IS NOT NULL AND due <= ? ORDER BY due, number LIMIT ? OFFSET ?`,
          now,
          limit - candidates.length,
          candidates.length,
        )
        .toArray();
      if (due.length === 0) return { candidates, hasEnded };
      for (const { number, lane } of due) {
        const window = windows.at(lane, now);
        if ('never' in window) {
          this.#rows.end(number, 'failed', `${window.never.reason}: ${window.never.detail}`);
          hasEnded = true;
        } else if (window.opensAt > now) this.#rows.schedule(number, window.opensAt);
        else candidates.push({ number, timeZoneGroup: lane, isNew: false, closesAt: window.closesAt });
      }
    }
  }

  /** The first new rows, in the order of the source, whose calling window is open. */
  #chooseNew(windows: RowWindows, now: number, limit: number): DialCandidate[] {
    if (limit <= 0) return [];
    const isByContact = windows.schedule.use_contact_timezone;
    const candidates = this.#timeZoneGroups.all(isByContact).flatMap((group): DialCandidate[] => {
      const window = windows.at(group.id, now);
      if (!isOpen(window, now)) return [];
      const numbers = this.#timeZoneGroups.nextNewRows(group, isByContact, limit);
      if (numbers.length === 0) this.#timeZoneGroups.moveCursor(group.id, null);
      return numbers.map((number) => ({ number, timeZoneGroup: group.id, isNew: true, closesAt: window.closesAt }));
    });
    return candidates.toSorted((one, other) => one.number - other.number).slice(0, limit);
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

  /** The requested rows of the batches after `answeredBatch`; of all batches when left out. */
  requestedRows(answeredBatch = 0): RequestedRow[] {
    return this.#sql
      .exec<Pick<CampaignRowColumns, 'number' | 'state' | 'attempt'>>(
        'SELECT a.number, r.state, r.attempt FROM asked a CROSS JOIN campaign_row r WHERE a.portion > ? AND r.number = a.number ORDER BY a.number',
        answeredBatch,
      )
      .toArray();
  }

  /**
   * The same attempts for another request, as many as one batch carries, and the rows that are left. Rows are read again, since they may
   * have changed. A row that must not be called now is requested with a window that has closed: the call slots report the state of its
   * attempt, or give the attempt back.
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

  /** When the next row can be requested without a further report (epoch ms); null: only a report changes that. */
  nextDialAt(windows: RowWindows, now: number): number | null {
    const [due] = this.#sql.exec<{ due: number | null }>('SELECT min(due) AS due FROM campaign_row WHERE due IS NOT NULL').toArray();
    const moments = [due?.due ?? null, this.newRowsOpenAt(windows, now)].filter((moment) => moment !== null);
    return moments.length ? Math.min(...moments) : null;
  }

  /** The row that waits for the earliest moment; null: no row waits for one. */
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

  /** When the first calling window opens for a row that has not ended; null: a window is open, or none will open. */
  nextWindowAt(windows: RowWindows, now: number): number | null {
    const isByContact = windows.schedule.use_contact_timezone;
    let opening: number | null = null;
    for (const group of this.#timeZoneGroups.all(isByContact)) {
      const window = windows.at(group.id, now);
      if ('never' in window || (isByContact && !this.#timeZoneGroups.hasUnfinished(group))) continue;
      if (window.opensAt <= now) return null;
      opening = Math.min(opening ?? Infinity, window.opensAt);
    }
    return opening;
  }

  /** When the first closed window opens that new rows wait for; null: no new rows wait. */
  newRowsOpenAt(windows: RowWindows, now: number): number | null {
    const isByContact = windows.schedule.use_contact_timezone;
    const openings = this.#timeZoneGroups.all(isByContact).flatMap((group) => {
      const window = windows.at(group.id, now);
      return 'never' in window || window.opensAt <= now || this.#timeZoneGroups.nextNewRows(group, isByContact, 1).length === 0
        ? []
        : [window.opensAt];
    });
    return openings.length ? Math.min(...openings) : null;
  }

  /** Marks a row as requested: a report shows that the call slots have it. */
  add(number: number, batch: number): void {
    this.#sql.exec('INSERT OR IGNORE INTO asked (number, portion, is_contact_gone) VALUES (?, ?, 0)', number, batch);
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

  /** The keys of requested attempts that are not dialled yet and whose contact was deleted. */
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
