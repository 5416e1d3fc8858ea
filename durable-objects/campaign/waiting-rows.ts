import type { Tally } from '../../src/campaigns/rows/row-states.ts';
import { campaignTimeZoneGroup, type RowWindows } from '../../src/campaigns/dialing/row-windows.ts';
import { newRowCondition, type TimeZoneGroups } from './time-zone-groups.ts';

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
