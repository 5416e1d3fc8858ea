import { instantFromWallClock, wallClockAt } from '../library/time/time-zones.ts';

/** The counters of a period begin at a quarter of an hour: every zone's days do. */
export const quarterMs = 900_000;
const hourMs = 3_600_000;
export const dayMs = 86_400_000;

export const timeUnits = ['hour', 'day', 'week', 'month'] as const;
export type TimeUnit = (typeof timeUnits)[number];

/** A range of time, epoch ms, `to` exclusive. Both are at quarters of an hour. */
export interface TimeRange {
  from: number;
  to: number;
  /** IANA zone whose days, weeks and months are meant. */
  timezone: string;
}

/** A part of a range. */
export interface Period {
  /** Its local beginning: a date, or of an hour `YYYY-MM-DDTHH:00`. */
  label: string;
  /** Epoch ms; `end` is exclusive. The first and the last part of a range may be cut. */
  start: number;
  end: number;
}

/** The local date of a moment, as midnight UTC of the same date. */
export const toDay = (timezone: string, epochMs: number): number => Math.floor(wallClockAt(timezone, epochMs) / dayMs) * dayMs;

/** The first moment of the local date. `day` as `toDay` gives it. */
export const startOfDay = (timezone: string, day: number): number => instantFromWallClock(timezone, day);

/** The whole range as one period. */
export const wholeRange = ({ from, to, timezone }: TimeRange): Period => ({
  label: toLabel(toDay(timezone, from), 'day'),
  start: from,
  end: to,
});

/** The range in local hours, days, weeks from Monday, or months. */
export function splitRange({ from, to, timezone }: TimeRange, unit: TimeUnit): Period[] {
  const periods: Period[] = [];
  let wall = floorWallClock(wallClockAt(timezone, from), unit);
  for (let start = from; start < to;) {
    const next = nextWallClock(wall, unit);
    const end = Math.min(to, instantFromWallClock(timezone, next));
    // A clock that is put forward leaves an hour out.
    if (end > start) periods.push({ label: toLabel(wall, unit), start, end });
    start = Math.max(start, end);
    wall = next;
  }
  return periods;
}

function floorWallClock(wall: number, unit: TimeUnit): number {
  if (unit === 'hour') return Math.floor(wall / hourMs) * hourMs;
  const day = Math.floor(wall / dayMs) * dayMs;
  if (unit === 'day') return day;
  const date = new Date(day);
  if (unit === 'week') return day - ((date.getUTCDay() + 6) % 7) * dayMs;
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

function nextWallClock(wall: number, unit: TimeUnit): number {
  if (unit === 'hour') return wall + hourMs;
  if (unit === 'day') return wall + dayMs;
  if (unit === 'week') return wall + 7 * dayMs;
  const date = new Date(wall);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

const toLabel = (wall: number, unit: TimeUnit): string => new Date(wall).toISOString().slice(0, unit === 'hour' ? 16 : 10);
