import { findCallingWindow } from './calling-windows.ts';
import type { CallingWindow } from './calling-windows.ts';
import type { ScheduleConfig } from '../configs/configs.ts';

/** Who is called by the campaign's clock, and who by none: the zone that the row names cannot be read. */
export const campaignTimeZoneGroup = 0;
export const unknownTimeZoneGroup = -1;

const unknownTimeZoneWindow: CallingWindow = {
  never: {
    reason: 'unknown_timezone',
    detail: "the row names a time zone that there is not, and the number's country has several; use a name such as America/New_York",
  },
};

/** The calling windows of a campaign's rows. A lane is one time zone; `zones` names it. Remembers the present window of each. */
export class RowWindows {
  readonly schedule: ScheduleConfig;
  readonly #zones: Map<number, string>;
  readonly #cache = new Map<number, { since: number; window: CallingWindow }>();

  constructor(schedule: ScheduleConfig, zones: Map<number, string>) {
    this.schedule = schedule;
    this.#zones = zones;
  }

  /** The window of a lane that is open at `moment` (epoch ms), else its next one. */
  at(lane: number, moment: number): CallingWindow {
    if (!this.schedule.use_contact_timezone) return this.#at(campaignTimeZoneGroup, this.schedule.timezone, moment);
    if (lane === unknownTimeZoneGroup) return unknownTimeZoneWindow;
    return this.#at(lane, this.#zones.get(lane) ?? this.schedule.timezone, moment);
  }

  #at(lane: number, zone: string, moment: number): CallingWindow {
    const known = this.#cache.get(lane);
    if (known && moment >= known.since) {
      const { window, since } = known;
      if ('never' in window) return window;
      if (moment <= window.opensAt && since < window.opensAt) return window;
      if (moment >= window.opensAt && (window.closesAt === null || moment < window.closesAt)) return { ...window, opensAt: moment };
    }
    const window = findCallingWindow(this.schedule, zone, moment);
    this.#cache.set(lane, { since: moment, window });
    return window;
  }
}
