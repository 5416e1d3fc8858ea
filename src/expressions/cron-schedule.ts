import { Cron } from 'croner';
import { instantFromWallClock, isTimeZone, wallClockAt } from '../library/time/time-zones.ts';

const cronFields = [
  { name: 'minute', allowed: '0-59' },
  { name: 'hour', allowed: '0-23' },
  { name: 'day of month', allowed: '1-31' },
  { name: 'month', allowed: '1-12 or JAN-DEC' },
  { name: 'day of week', allowed: '0-7 (0 and 7 are Sunday) or SUN-SAT' },
];

/** The longest stretch of local time that a clock change repeats in any zone since 1970 is three hours. */
const maxRepeatedMs = 3 * 3_600_000;

/**
 * The cron library only matches wall clocks, written as UTC. What a clock change does to them is decided here, because the library runs
 * list and step schedules twice in a repeated hour and leaves them out in a skipped one.
 */
const wallClockCron = (cron: string): Cron => new Cron(cron, { mode: '5-part', timezone: 'UTC', paused: true });

const splitCron = (cron: string): string[] => cron.trim().split(/\s+/).filter(Boolean);

/** What is wrong with `cron`, naming the field and what is allowed in it, or null. */
export function cronProblem(cron: string): string | null {
  const parts = splitCron(cron);
  if (parts.length !== cronFields.length)
    return `Cron "${cron}" has ${parts.length} fields; write five: minute, hour, day of month, month, day of week, for example "30 9 * * 1-5"`;
  for (const [index, field] of cronFields.entries()) {
    const part = parts[index]!;
    if (!/^[\w*,\-/#]+$/.test(part) || !isParseable(parts.map((_, other) => (other === index ? part : '*')).join(' ')))
      return `Cron field ${field.name} is "${part}"; allowed are ${field.allowed}, *, lists (1,3), ranges (1-5) and steps (*/5)`;
  }
  if (!isParseable(parts.join(' '))) return `Cron "${cron}" cannot be read`;
  return wallClockCron(cron).nextRun(new Date(0))
    ? null
    : `Cron "${cron}" never comes due: no year has that day; change the day of month or the month`;
}

function isParseable(cron: string): boolean {
  try {
    wallClockCron(cron);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with `timezone`, or null. */
export const timezoneProblem = (timezone: string): string | null =>
  isTimeZone(timezone) ? null : `Unknown time zone "${timezone}"; use an IANA name such as America/New_York or UTC`;

/**
 * The first instant strictly after `after` (epoch ms) at which `cron` is due in `timezone`, or null when it never is again.
 * A local time that occurs twice is due the first time, one that the clock skips at the first minute after the gap, and local times that
 * fall on one instant are due once.
 */
export function nextFireAt(cron: string, timezone: string, after: number): number | null {
  const schedule = wallClockCron(cron);
  let wallClock: Date | null = new Date(wallClockAt(timezone, after));
  while ((wallClock = schedule.nextRun(wallClock))) {
    const instant = instantFromWallClock(timezone, wallClock.getTime());
    if (instant > after) return instant;
  }
  return null;
}

/** The last instant at or before `until` at which `cron` was due, or null when it never was. */
export function lastFireAt(cron: string, timezone: string, until: number): number | null {
  const schedule = wallClockCron(cron);
  const shown = wallClockAt(timezone, until);
  // In a repeated hour the wall clock has already shown later times than it shows now.
  const hasChanged = wallClockAt(timezone, until - maxRepeatedMs) !== shown - maxRepeatedMs;
  let wallClock: Date | undefined = new Date(shown + (hasChanged ? maxRepeatedMs : 0) + 1000);
  while ((wallClock = schedule.previousRuns(1, wallClock)[0])) {
    const instant = instantFromWallClock(timezone, wallClock.getTime());
    if (instant <= until) return instant;
  }
  return null;
}

export type CatchUp = 'skip' | 'once';

/** A firing that starts within this time of its minute is on time, not missed: the tick comes once a minute and may be late. */
export const onTimeToleranceMs = 5 * 60_000;

export interface DueFire {
  /** The scheduled minute to fire for, which also keys the firing; null: fire nothing. */
  fireAt: number | null;
  nextFireAt: number | null;
}

/**
 * What to do at `now` with a schedule whose next firing was set to `dueAt` (<= now). However many minutes were missed, at most one firing
 * follows: for the last of them when it is still on time, else only with catch_up `once`.
 */
export function resolveDueFire(schedule: { cron: string; timezone: string; catch_up: CatchUp }, dueAt: number, now: number): DueFire {
  const last = Math.max(dueAt, lastFireAt(schedule.cron, schedule.timezone, now) ?? dueAt);
  const isOnTime = now - last <= onTimeToleranceMs;
  return {
    fireAt: isOnTime || schedule.catch_up === 'once' ? last : null,
    nextFireAt: nextFireAt(schedule.cron, schedule.timezone, now),
  };
}
