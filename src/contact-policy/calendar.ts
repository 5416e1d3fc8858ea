import { instantFromWallClock, wallClockAt } from '../library/time/time-zones.ts';

const dayMs = 86_400_000;

/** Whether `text` is a date of the calendar, `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  const instant = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  return Number.isFinite(instant) && new Date(instant).toISOString().startsWith(text);
}

/** The midnight before `moment` on the clock of `zone`, as if it were UTC. */
const localMidnight = (zone: string, moment: number): number => Math.floor(wallClockAt(zone, moment) / dayMs) * dayMs;

/** The date in `zone` at `moment` (epoch ms), `YYYY-MM-DD`. */
export const localDate = (zone: string, moment: number): string => new Date(localMidnight(zone, moment)).toISOString().slice(0, 10);

/** When the day of `moment` began in `zone`, epoch ms. */
export const startOfDay = (zone: string, moment: number): number => instantFromWallClock(zone, localMidnight(zone, moment));

/** When the week of `moment` began in `zone`, with its Monday, epoch ms. */
export function startOfWeek(zone: string, moment: number): number {
  const midnight = localMidnight(zone, moment);
  const weekday = (new Date(midnight).getUTCDay() + 6) % 7;
  return instantFromWallClock(zone, midnight - weekday * dayMs);
}

/** The first midnight in `zone` after `moment`, epoch ms. */
export function nextMidnight(zone: string, moment: number): number {
  for (let midnight = localMidnight(zone, moment) + dayMs; ; midnight += dayMs) {
    const instant = instantFromWallClock(zone, midnight);
    if (instant > moment) return instant;
  }
}
