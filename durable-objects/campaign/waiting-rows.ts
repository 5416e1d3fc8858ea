import type { Tally } from '../../src/campaigns/row-states.ts';
import { campaignLane, type RowWindows } from '../../src/campaigns/rows/row-windows.ts';
import { isNew, type Lanes } from './lanes.ts';

/** When the windows open that new rows wait for, in epoch ms, by lane. Where contacts' time zones do not count, the campaign's lane stands for all. */
export interface Openings {
  isByContact: boolean;
  byLane: Map<number, number>;
}

export const noOpenings: Openings = { isByContact: false, byLane: new Map() };

export const openingFor = ({ isByContact, byLane }: Openings, lane: number): number | null =>
  byLane.get(isByContact ? lane : campaignLane) ?? null;

/** The closed windows that rows stand before. A window that never opens is nothing to wait for. */
export function openingsAt(lanes: Lanes, windows: RowWindows, now: number): Openings {
  const isByContact = windows.schedule.use_contact_timezone;
  const byLane = new Map<number, number>();
  for (const { id } of lanes.all(isByContact)) {
    const window = windows.at(id, now);
    if (!('never' in window) && window.opensAt > now) byLane.set(id, window.opensAt);
  }
  return { isByContact, byLane };
}

/**
 * SQL for the rows that were never asked for and wait for their window. They are shown as `scheduled`: when thousands of rows begin to wait,
 * and when they cease to, nothing is written.
 */
export function waitsForWindow({ isByContact, byLane }: Openings): string {
  if (byLane.size === 0) return 'false';
  const ofLanes = isByContact ? `AND lane IN (${[...byLane.keys()].join(', ')})` : '';
  return `(number > (SELECT min(cursor) FROM lane) ${ofLanes} AND ${isNew})`;
}

/** The tally as it is shown, with `waiting` rows that are stored as pending. */
export const shownTally = (rows: Tally, waiting: number): Tally => ({
  ...rows,
  pending: rows.pending - waiting,
  scheduled: rows.scheduled + waiting,
});
