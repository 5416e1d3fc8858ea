import {
  findRowTimeZone,
  campaignTimeZoneGroup,
  unknownTimeZoneGroup,
  type RowWindows,
} from '../../src/campaigns/dialing/calling-windows.ts';
import { isTerminal, type Tally } from '../../src/campaigns/rows/row-states.ts';

import type { CampaignRowColumns } from './schema.ts';

/** New rows: pending, without a due moment, and never requested. */
const newRowCondition = "state = 'pending' AND due IS NULL AND number NOT IN (SELECT number FROM asked)";

interface RowEnder {
  /** Ends a row that is not dialled. */
  end(number: number, state: 'failed', reason: string): void;
}

export interface TimeZoneGroup {
  id: number;
  cursor: number;
}

/**
 * The rows of a campaign by time zone. All new rows of a group come after the group's cursor, so that finding the next ones costs no more than
 * reading them. Without contact time zones, the campaign's group stands for all rows.
 */
export class TimeZoneGroups {
  readonly #sql: SqlStorage;
  readonly #rows: RowEnder;

  constructor(sql: SqlStorage, rows: RowEnder) {
    this.#sql = sql;
    this.#rows = rows;
  }

  zones(): Map<number, string> {
    const groups = this.#sql.exec<{ id: number; zone: string }>('SELECT id, zone FROM lane WHERE zone IS NOT NULL').toArray();
    return new Map(groups.map(({ id, zone }) => [id, zone]));
  }

  all(isByContact: boolean): TimeZoneGroup[] {
    const condition = isByContact ? '' : `WHERE id = ${campaignTimeZoneGroup}`;
    return this.#sql.exec<TimeZoneGroup & Record<string, SqlStorageValue>>(`SELECT id, cursor FROM lane ${condition}`).toArray();
  }

  /** The numbers of a group's next new rows. */
  nextNewRows({ id, cursor }: TimeZoneGroup, isByContact: boolean, limit: number): number[] {
    const groupCondition = !isByContact
      ? ''
      : id === campaignTimeZoneGroup
        ? `AND lane = ${campaignTimeZoneGroup}`
        : `AND lane = ${id} AND lane > 0`;
    return this.#sql
      .exec<{ number: number }>(
        `SELECT number FROM campaign_row WHERE number > ? ${groupCondition} AND ${newRowCondition} ORDER BY number LIMIT ?`,
        cursor,
        limit,
      )
      .toArray()
      .map(({ number }) => number);
  }

  /** Whether a group has rows that have not ended: new ones, waiting ones, and ones that the call slots have. */
  hasUnfinished(group: TimeZoneGroup): boolean {
    const sql = this.#sql;
    return (
      this.nextNewRows(group, true, 1).length > 0 ||
      sql.exec('SELECT 1 FROM campaign_row WHERE lane = ? AND due IS NOT NULL LIMIT 1', group.id).toArray().length > 0 ||
      sql.exec('SELECT 1 FROM asked a CROSS JOIN campaign_row r WHERE r.number = a.number AND r.lane = ? LIMIT 1', group.id).toArray()
        .length > 0
    );
  }

  /** The new rows of a group come after `cursor`; null: the group has no new rows. */
  moveCursor(id: number, cursor: number | null): void {
    if (cursor !== null) this.#sql.exec('UPDATE lane SET cursor = ? WHERE id = ?', cursor, id);
    else {
      const last = '(SELECT ifnull(max(number), 0) FROM campaign_row)';
      this.#sql.exec(`UPDATE lane SET cursor = ${last} WHERE id = ? AND cursor < ${last}`, id);
    }
  }

  /** After a change of the schedule, which may move rows between groups. */
  resetCursors(): void {
    this.#sql.exec('UPDATE lane SET cursor = 0');
  }

  /** Assigns the next `limit` rows after a row number to their groups. A row whose zone is unknown ends. Returns the last number; null: no rows are left. */
  assignRows(after: number, timezone: string, now: number, limit: number): number | null {
    const rows = this.#sql
      .exec<Pick<CampaignRowColumns, 'number' | 'phone' | 'state' | 'variables'> & { is_asked: number }>(
        `SELECT number, phone, state, variables, number IN (SELECT number FROM asked) AS is_asked FROM campaign_row
         WHERE number > ? ORDER BY number LIMIT ?`,
        after,
        limit,
      )
      .toArray();
    for (const { number, phone, state, is_asked, ...row } of rows) {
      if (isTerminal(state)) continue;
      const variables = JSON.parse(row.variables) as Record<string, unknown>;
      const found = findRowTimeZone({ phone, variables }, { timezone, use_contact_timezone: true }, now);
      if ('zone' in found) {
        if (found.rule !== 'campaign') this.#setGroup(number, this.#findOrCreateGroup(found.zone));
      } else if (is_asked === 1) this.#setGroup(number, unknownTimeZoneGroup);
      else this.#rows.end(number, 'failed', `${found.never.reason}: ${found.never.detail}`);
    }
    return rows.length < limit ? null : rows.at(-1)!.number;
  }

  #setGroup(number: number, groupId: number): void {
    this.#sql.exec('UPDATE campaign_row SET lane = ? WHERE number = ? AND lane <> ?', groupId, number, groupId);
  }

  #findOrCreateGroup(zone: string): number {
    const [known] = this.#sql.exec<{ id: number }>('SELECT id FROM lane WHERE zone = ?', zone).toArray();
    return known?.id ?? this.#sql.exec<{ id: number }>('INSERT INTO lane (zone, cursor) VALUES (?, 0) RETURNING id', zone).one().id;
  }
}

/** When the closed windows open that new rows wait for (epoch ms), by time zone group. Without contact time zones, the campaign's group stands for all. */
export interface WindowOpenings {
  isByContact: boolean;
  byTimeZoneGroup: Map<number, number>;
}

export const noOpenings: WindowOpenings = { isByContact: false, byTimeZoneGroup: new Map() };

export const findOpening = ({ isByContact, byTimeZoneGroup }: WindowOpenings, groupId: number): number | null =>
  byTimeZoneGroup.get(isByContact ? groupId : campaignTimeZoneGroup) ?? null;

/** The closed windows that rows wait for. No row waits for a window that never opens. */
export function findOpenings(groups: TimeZoneGroups, windows: RowWindows, now: number): WindowOpenings {
  const isByContact = windows.schedule.use_contact_timezone;
  const byTimeZoneGroup = new Map<number, number>();
  for (const { id } of groups.all(isByContact)) {
    const window = windows.at(id, now);
    if (!('never' in window) && window.opensAt > now) byTimeZoneGroup.set(id, window.opensAt);
  }
  return { isByContact, byTimeZoneGroup };
}

/**
 * SQL for the new rows that wait for a calling window. They are stored as pending and shown as `scheduled`, so that nothing is written when
 * thousands of rows begin or cease to wait.
 */
export function waitsForWindowCondition({ isByContact, byTimeZoneGroup }: WindowOpenings): string {
  if (byTimeZoneGroup.size === 0) return 'false';
  const groupCondition = isByContact ? `AND lane IN (${[...byTimeZoneGroup.keys()].join(', ')})` : '';
  return `(number > (SELECT min(cursor) FROM lane) ${groupCondition} AND ${newRowCondition})`;
}

/** The tally as it is shown: `waiting` of the rows that are stored as pending are scheduled. */
export const toShownTally = (rows: Tally, waiting: number): Tally => ({
  ...rows,
  pending: rows.pending - waiting,
  scheduled: rows.scheduled + waiting,
});
