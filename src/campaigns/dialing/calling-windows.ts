import { timezoneProblem } from '../../expressions/cron-schedule.ts';
import { nextInside, nextOutside } from '../../library/time/weekly-slots.ts';
import type { ScheduleConfig } from '../configs/configs.ts';
import { contactTimeZone } from '../../contacts/contacts/contact-time-zone.ts';
import { findNamedTimeZone } from '../../contacts/contacts/named-time-zone.ts';

/** Why no window ever opens. `detail` is a sentence. */
export interface NoCallingWindow {
  reason: 'unknown_timezone' | 'no_calling_window';
  detail: string;
}

/**
 * Epoch ms. `opensAt` is the given moment when a window is open then. A call must begin before `closesAt`; null: the window never closes.
 */
export type CallingWindow = { opensAt: number; closesAt: number | null } | { never: NoCallingWindow };

/** The calling window that is open at `moment` (epoch ms), else the next one. A schedule in an unknown time zone has no window. */
export function findCallingWindow(schedule: ScheduleConfig, zone: string, moment: number): CallingWindow {
  if (!schedule.enabled) return { opensAt: moment, closesAt: null };
  const problem = timezoneProblem(zone);
  if (problem) return { never: { reason: 'unknown_timezone', detail: problem } };
  const opensAt = nextInside(schedule.slots, zone, moment);
  if (opensAt === null)
    return { never: { reason: 'no_calling_window', detail: 'the schedule is enabled and has no slots; add one or disable it' } };
  return { opensAt, closesAt: nextOutside(schedule.slots, zone, opensAt) };
}

/** The time zone groups of rows that go by the campaign's zone, and of rows that name an unknown zone. */
export const campaignTimeZoneGroup = 0;
export const unknownTimeZoneGroup = -1;

const unknownTimeZoneWindow: CallingWindow = {
  never: {
    reason: 'unknown_timezone',
    detail: "the row names a time zone that there is not, and the number's country has several; use a name such as America/New_York",
  },
};

/** The calling windows of a campaign's rows, by time zone group. `zones` has the zone of each group. Caches the current window of each. */
export class RowWindows {
  readonly schedule: ScheduleConfig;
  readonly #zones: Map<number, string>;
  readonly #cache = new Map<number, { since: number; window: CallingWindow }>();

  constructor(schedule: ScheduleConfig, zones: Map<number, string>) {
    this.schedule = schedule;
    this.#zones = zones;
  }

  /** The window of a group that is open at `moment` (epoch ms), else its next one. */
  at(groupId: number, moment: number): CallingWindow {
    if (!this.schedule.use_contact_timezone) return this.#at(campaignTimeZoneGroup, this.schedule.timezone, moment);
    if (groupId === unknownTimeZoneGroup) return unknownTimeZoneWindow;
    return this.#at(groupId, this.#zones.get(groupId) ?? this.schedule.timezone, moment);
  }

  #at(groupId: number, zone: string, moment: number): CallingWindow {
    const known = this.#cache.get(groupId);
    if (known && moment >= known.since) {
      const { window, since } = known;
      if ('never' in window) return window;
      if (moment <= window.opensAt && since < window.opensAt) return window;
      if (moment >= window.opensAt && (window.closesAt === null || moment < window.closesAt)) return { ...window, opensAt: moment };
    }
    const window = findCallingWindow(this.schedule, zone, moment);
    this.#cache.set(groupId, { since: moment, window });
    return window;
  }
}

export type RowTimeZone = { zone: string; rule: 'contact' | 'country' | 'campaign' } | { never: NoCallingWindow };

/**
 * The time zone in which a row is called. With `use_contact_timezone`: the zone that the row's variables name, else the
 * zone of the number's country when it has only one, else the campaign's. A row that names an unknown zone, in a country of several, has none.
 */
export function findRowTimeZone(
  { phone, variables }: { phone: string; variables: Record<string, unknown> },
  schedule: Pick<ScheduleConfig, 'timezone' | 'use_contact_timezone'>,
  now: number,
): RowTimeZone {
  if (!schedule.use_contact_timezone) return { zone: schedule.timezone, rule: 'campaign' };
  const { zone, rule } = contactTimeZone({ phone, custom_fields: variables }, schedule, now);
  if (rule !== 'organization') return { zone, rule };
  const named = findNamedTimeZone(variables);
  if (named === null) return { zone, rule: 'campaign' };
  const shown = named.slice(0, 60);
  const detail = `"${shown}" is no time zone, and the number's country has several; use a name such as America/New_York`;
  return { never: { reason: 'unknown_timezone', detail } };
}
