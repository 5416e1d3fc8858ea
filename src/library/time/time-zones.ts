import { IANAZone } from 'luxon';

const minute = 60_000;
const day = 86_400_000;

/** No zone has changed its clock twice within this time since 1995; Brazil's north-east came nearest, with a week in October 2000. */
const minOffsetChangeMs = 6 * day;

/** Whether `zone` is an IANA time zone name that this runtime knows. Bare offsets such as `+02:00` are not names. */
export const isTimeZone = (zone: string): boolean => /^[A-Za-z]/.test(zone) && IANAZone.isValidZone(zone);

const offsetAt = (zone: string, epochMs: number): number => Math.round(IANAZone.create(zone).offset(epochMs) * minute);

/** The wall clock of `zone` at `epochMs`, as if it were UTC: read it with the getUTC methods of Date. */
export const wallClockAt = (zone: string, epochMs: number): number => epochMs + offsetAt(zone, epochMs);

/**
 * The first instant at which the wall clock of `zone` shows `wallClock` (epoch ms as if UTC) or, when the clock skips that time,
 * the first instant after the gap. Therefore later wall clocks never map to earlier instants, and a repeated hour counts once.
 */
export function instantFromWallClock(zone: string, wallClock: number): number {
  // Offsets lie within 14 hours of UTC, so the instant lies between these two, and at most one clock change with it.
  const [before, after] = [wallClock - day, wallClock + day];
  const [earlierOffset, laterOffset] = [offsetAt(zone, before), offsetAt(zone, after)];
  const candidates = [wallClock - earlierOffset, wallClock - laterOffset].filter((instant) => wallClockAt(zone, instant) === wallClock);
  if (candidates.length > 0) return Math.min(...candidates);
  return bisectFirst(before, after, (instant) => wallClockAt(zone, instant) >= wallClock);
}

/** The first instant in (`after`, `until`] from which on the clock of `zone` goes differently than at `after`, or null. */
export function nextClockChange(zone: string, after: number, until: number): number | null {
  const offset = offsetAt(zone, after);
  for (let before = after; before < until; before += minOffsetChangeMs) {
    const end = Math.min(before + minOffsetChangeMs, until);
    if (offsetAt(zone, end) !== offset) return bisectFirst(before, end, (instant) => offsetAt(zone, instant) !== offset);
  }
  return null;
}

/** The first instant in (`before`, `after`] at which `holds` is true, if it stays true until `after`. */
function bisectFirst(before: number, after: number, holds: (instant: number) => boolean): number {
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (holds(middle)) after = middle;
    else before = middle;
  }
  return after;
}

/** The same local time `days` (>= 1) calendar days after `now`. */
export const addCalendarDays = (now: number, days: number, zone: string): number =>
  instantFromWallClock(zone, wallClockAt(zone, now) + days * day);

/** Minutes after midnight of a time from 00:00 to 23:59, as `normalizeTimeOfDay` reads it, or null. */
export function minutesOfDay(text: string): number | null {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(normalizeTimeOfDay(text));
  return match ? Number(match[1]) * 60 + Number(match[2]) : null;
}

/**
 * The next instant strictly after `now` at which it is `timeOfDay` (`HH:MM`) in `zone` on one of `days` (0 = Monday .. 6; none: every day).
 * Throws RangeError for a malformed time.
 */
export function nextTimeOfDay(now: number, timeOfDay: string, days: readonly number[], zone: string): number {
  const minutes = minutesOfDay(timeOfDay);
  if (minutes === null) throw new RangeError(`time of day "${timeOfDay}" must be HH:MM between 00:00 and 23:59`);
  const today = Math.floor(wallClockAt(zone, now) / day) * day;
  for (let date = today; ; date += day) {
    if (days.length > 0 && !days.includes(weekdayOf(date))) continue;
    const instant = instantFromWallClock(zone, date + minutes * minute);
    if (instant > now) return instant;
  }
}

/** 0 = Monday .. 6 = Sunday, of a wall clock. */
const weekdayOf = (wallClock: number): number => (new Date(wallClock).getUTCDay() + 6) % 7;

/**
 * A time of day as `HH:MM`. `H:MM`, and seconds that are 00, are read, too; any other text is given back as it is.
 * @example normalizeTimeOfDay('9:00:00') // '09:00'
 */
export function normalizeTimeOfDay(text: string): string {
  const match = /^\s*(\d{1,2}):(\d{2})(?::00)?\s*$/.exec(text);
  return match ? `${match[1]!.padStart(2, '0')}:${match[2]}` : text;
}
