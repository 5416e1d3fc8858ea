import {
  findRowTimeZone,
  campaignTimeZoneGroup,
  unknownTimeZoneGroup,
  type RowWindows,
} from '../../src/campaigns/dialing/calling-windows.ts';
import { isTerminal, type RowState, type Tally } from '../../src/campaigns/rows/row-states.ts';

/** New rows are `pending`, without a moment, and never asked for. */
export const newRowCondition = "state = 'pending' AND due IS NULL AND number NOT IN (SELECT number FROM asked)";

/** Ends a row that is not dialled. */
interface RowEnder {
  end(number: number, state: 'failed', reason: string): void;
}

export interface TimeZoneGroup {
  id: number;
  cursor: number;
}

/**
 * Rows by the clock that they are called by. No new row of a lane is at or before its cursor, so that finding the next ones costs no more than
 * reading them; where contacts' time zones do not count, the campaign's lane stands for all rows.
 */
export class TimeZoneGroups {
  readonly #sql: SqlStorage;
  readonly #rows: RowEnder;

  constructor(sql: SqlStorage, rows: RowEnder) {
    this.#sql = sql;
    this.#rows = rows;
  }

  zones(): Map<number, string> {
    const lanes = this.#sql.exec<{ id: number; zone: string }>('SELECT id, zone FROM lane WHERE zone IS NOT NULL').toArray();
    return new Map(lanes.map(({ id, zone }) => [id, zone]));
  }

  all(isByContact: boolean): TimeZoneGroup[] {
    const condition = isByContact ? '' : `WHERE id = ${campaignTimeZoneGroup}`;
    return this.#sql.exec<TimeZoneGroup & Record<string, SqlStorageValue>>(`SELECT id, cursor FROM lane ${condition}`).toArray();
  }

  /** Numbers of the lane's next new rows. */
  nextNewRows({ id, cursor }: TimeZoneGroup, isByContact: boolean, limit: number): number[] {
    const ofLane = !isByContact
      ? ''
      : id === campaignTimeZoneGroup
        ? `AND lane = ${campaignTimeZoneGroup}`
        : `AND lane = ${id} AND lane > 0`;
    return this.#sql
      .exec<{ number: number }>(
        `SELECT number FROM campaign_row WHERE number > ? ${ofLane} AND ${newRowCondition} ORDER BY number LIMIT ?`,
        cursor,
        limit,
      )
      .toArray()
      .map(({ number }) => number);
  }

  /** Whether rows that are called by the lane's own clock have not ended: new ones, ones that wait, and what the slots have. */
  hasUnfinished(lane: TimeZoneGroup): boolean {
    const sql = this.#sql;
    return (
      this.nextNewRows(lane, true, 1).length > 0 ||
      sql.exec('SELECT 1 FROM campaign_row WHERE lane = ? AND due IS NOT NULL LIMIT 1', lane.id).toArray().length > 0 ||
      sql.exec('SELECT 1 FROM asked a CROSS JOIN campaign_row r WHERE r.number = a.number AND r.lane = ? LIMIT 1', lane.id).toArray()
        .length > 0
    );
  }

  /** The lane's new rows begin behind `cursor`; null: it has none. */
  moveCursor(id: number, cursor: number | null): void {
    if (cursor !== null) this.#sql.exec('UPDATE lane SET cursor = ? WHERE id = ?', cursor, id);
    else {
      const last = '(SELECT ifnull(max(number), 0) FROM campaign_row)';
      this.#sql.exec(`UPDATE lane SET cursor = ${last} WHERE id = ? AND cursor < ${last}`, id);
    }
  }

  /** After a change of whose clock counts. */
  resetCursors(): void {
    this.#sql.exec('UPDATE lane SET cursor = 0');
  }

  /**
   * Finds out by whose clock the next rows behind `after` are called; who cannot be told ends. Answers the last row; null: that were all.
   */
  assignRows(after: number, timezone: string, now: number, limit: number): number | null {
    const rows = this.#sql
      .exec<Record<string, SqlStorageValue>>(
        `SELECT number, phone, state, due, variables, number IN (SELECT number FROM asked) AS is_asked FROM campaign_row
         WHERE number > ? ORDER BY number LIMIT ?`,
        after,
        limit,
      )
      .toArray();
    for (const row of rows) {
      const state = row['state'] as RowState;
      if (isTerminal(state)) continue;
      const number = row['number'] as number;
      const variables = JSON.parse(row['variables'] as string) as Record<string, unknown>;
      const found = findRowTimeZone({ phone: row['phone'] as string, variables }, { timezone, use_contact_timezone: true }, now);
      if ('zone' in found) {
        if (found.rule !== 'campaign') this.#setGroup(number, this.#findOrCreateGroup(found.zone));
      } else if (row['is_asked'] === 1) this.#setGroup(number, unknownTimeZoneGroup);
      else this.#rows.end(number, 'failed', `${found.never.reason}: ${found.never.detail}`);
    }
    return rows.length < limit ? null : (rows.at(-1)!['number'] as number);
  }

  #setGroup(number: number, lane: number): void {
    this.#sql.exec('UPDATE campaign_row SET lane = ? WHERE number = ? AND lane <> ?', lane, number, lane);
  }

  #findOrCreateGroup(zone: string): number {
    const [known] = this.#sql.exec<{ id: number }>('SELECT id FROM lane WHERE zone = ?', zone).toArray();
    return known?.id ?? this.#sql.exec<{ id: number }>('INSERT INTO lane (zone, cursor) VALUES (?, 0) RETURNING id', zone).one().id;
  }
}

/** When the windows open that new rows wait for, in epoch ms, by lane. Where contacts' time zones do not count, the campaign's lane stands for all. */
export interface WindowOpenings {
  isByContact: boolean;
  byTimeZoneGroup: Map<number, number>;
}

export const noOpenings: WindowOpenings = { isByContact: false, byTimeZoneGroup: new Map() };

export const findOpening = ({ isByContact, byTimeZoneGroup: byLane }: WindowOpenings, lane: number): number | null =>
  byLane.get(isByContact ? lane : campaignTimeZoneGroup) ?? null;

/** The closed windows that rows stand before. A window that never opens is nothing to wait for. */
export function findOpenings(lanes: TimeZoneGroups, windows: RowWindows, now: number): WindowOpenings {
  const isByContact = windows.schedule.use_contact_timezone;
  const byLane = new Map<number, number>();
  for (const { id } of lanes.all(isByContact)) {
    const window = windows.at(id, now);
    if (!('never' in window) && window.opensAt > now) byLane.set(id, window.opensAt);
  }
  return { isByContact, byTimeZoneGroup: byLane };
}

/**
 * SQL for the rows that were never asked for and wait for their window. They are shown as `scheduled`: when thousands of rows begin to wait,
 * and when they cease to, nothing is written.
 */
export function waitsForWindowCondition({ isByContact, byTimeZoneGroup: byLane }: WindowOpenings): string {
  if (byLane.size === 0) return 'false';
  const ofLanes = isByContact ? `AND lane IN (${[...byLane.keys()].join(', ')})` : '';
  return `(number > (SELECT min(cursor) FROM lane) ${ofLanes} AND ${newRowCondition})`;
}

/** The tally as it is shown, with `waiting` rows that are stored as pending. */
export const toShownTally = (rows: Tally, waiting: number): Tally => ({
  ...rows,
  pending: rows.pending - waiting,
  scheduled: rows.scheduled + waiting,
});
