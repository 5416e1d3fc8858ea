import { Cron } from 'croner';
import { instantFromWallClock, isTimeZone, wallClockAt } from '../library/time/time-zones.ts';

const cronFields = [
  { name: 'minute', allowed: '0-59' },
  { name: 'hour', allowed: '0-23' },
  { name: 'day of month', allowed: '1-31' },
  { name: 'month', allowed: '1-12 or JAN-DEC' },
  { name: 'day of week', allowed: '0-7 (0 and 7 are Sunday) or SUN-SAT' },
];

/** No clock change since 1970 has repeated more than three hours of local time. */
const maxRepeatedMs = 3 * 3_600_000;

/**
 * A cron that matches wall-clock times, written as UTC. This file handles clock changes itself: the library would fire list and step
 * schedules twice in a repeated hour and never in a skipped hour.
 */
const wallClockCron = (cron: string): Cron => new Cron(cron, { mode: '5-part', timezone: 'UTC', paused: true });

const splitCron = (cron: string): string[] => cron.trim().split(/\s+/).filter(Boolean);

/** The fault of `cron`, with the field and its allowed values; null when `cron` is valid. */
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

/** The fault of `timezone`; null for an IANA name. */
export const timezoneProblem = (timezone: string): string | null =>
  isTimeZone(timezone) ? null : `Unknown time zone "${timezone}"; use an IANA name such as America/New_York or UTC`;

/**
 * The first instant after `after` at which `cron` is due in `timezone`, both in epoch ms; null when `cron` is never due again.
 * - A local time that occurs twice is due the first time.
 * - A local time that the clock skips is due at the first minute after the gap.
 * - Local times that fall on one instant are due once.
 * @example nextFireAt('0 9 * * 1', 'America/New_York', Date.now()) // next Monday, 09:00 in New York
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

/** The last instant at or before `until` (epoch ms) at which `cron` was due; null when there is none. */
export function lastFireAt(cron: string, timezone: string, until: number): number | null {
  const schedule = wallClockCron(cron);
  const currentWallClock = wallClockAt(timezone, until);
  // In a repeated hour the wall clock has already shown times later than the current one.
  const wasSetBack = wallClockAt(timezone, until - maxRepeatedMs) !== currentWallClock - maxRepeatedMs;
  let wallClock: Date | undefined = new Date(currentWallClock + (wasSetBack ? maxRepeatedMs : 0) + 1000);
  while ((wallClock = schedule.previousRuns(1, wallClock)[0])) {
    const instant = instantFromWallClock(timezone, wallClock.getTime());
    if (instant <= until) return instant;
  }
  return null;
}

export type CatchUp = 'skip' | 'once';

/** A firing within this time after its minute is on time, since the minute tick may be late. */
export const onTimeToleranceMs = 5 * 60_000;

export interface DueFire {
  /** The scheduled minute (epoch ms) to fire for, also the key of the firing; null: nothing is fired. */
  fireAt: number | null;
  nextFireAt: number | null;
}

/**
 * Decides at `now` about a schedule that was due at `dueAt` (<= now; both epoch ms). At most one firing follows, however many were missed:
 * for the last due minute, when that minute is still on time or `catch_up` is `once`.
 */
export function resolveDueFire(schedule: { cron: string; timezone: string; catch_up: CatchUp }, dueAt: number, now: number): DueFire {
  const last = Math.max(dueAt, lastFireAt(schedule.cron, schedule.timezone, now) ?? dueAt);
  const isOnTime = now - last <= onTimeToleranceMs;
  return {
    fireAt: isOnTime || schedule.catch_up === 'once' ? last : null,
    nextFireAt: nextFireAt(schedule.cron, schedule.timezone, now),
  };
}
