import type { Context } from '../context.ts';
import { invalidAt } from '../library/errors.ts';
import { parseIsoInstant } from '../library/time/instants.ts';
import { foldHorizon } from './fold-horizon.ts';
import { dayMs, quarterMs, startOfDay, toDay, type TimeRange, type TimeUnit } from './periods.ts';

const defaultDays = 30;
const maxDays = 400;

export interface RangeQuery {
  /** A date of `timezone`, or an ISO 8601 time. */
  from?: string | undefined;
  to?: string | undefined;
  timezone?: string | undefined;
}

/**
 * The range that a request means: 30 days up to now, if it names none. Times are widened to quarters of an hour and, where only days are kept, to
 * days. Throws 422 for a range that is empty or too long, and for hours that are not kept.
 */
export function readRange({ organization, clock }: Context, query: RangeQuery, unit: TimeUnit | null): TimeRange {
  const timezone = query.timezone ?? organization.timezone;
  const horizon = foldHorizon(clock());
  const end = query.to === undefined ? clock() : readEnd(timezone, query.to);
  const to = end < horizon ? endOfDay(timezone, end) : Math.ceil(end / quarterMs) * quarterMs;
  const start =
    query.from === undefined
      ? startOfDay(timezone, toDay(timezone, to - 1) - (defaultDays - 1) * dayMs)
      : parseIsoInstant(query.from, timezone)!;
  const from = start < horizon ? startOfDay(timezone, toDay(timezone, start)) : Math.floor(start / quarterMs) * quarterMs;
  if (from >= to) throw invalidAt(['query', 'from'], 'Must be before `to`, which is now if it is left out', 'empty_range');
  if (to - from > maxDays * dayMs + 2 * 3_600_000)
    throw invalidAt(['query', 'from'], `The range has more than ${maxDays} days; ask for a shorter one`, 'range_too_long');
  if (unit === 'hour' && from < horizon) {
    const since = new Date(horizon).toISOString();
    throw invalidAt(['query', 'from'], `Hours are kept from ${since} on, days before; group by day, or begin later`, 'hours_not_kept');
  }
  return { from, to, timezone };
}

/** The next local midnight, or the moment itself where it is one. */
const endOfDay = (timezone: string, moment: number): number => startOfDay(timezone, toDay(timezone, moment - 1) + dayMs);

const datePattern = /^\d{4}-\d{2}-\d{2}$/;

/** A bare date is included as a whole; a time is where the range ends. */
const readEnd = (timezone: string, text: string): number =>
  datePattern.test(text) ? startOfDay(timezone, parseIsoInstant(text)! + dayMs) : parseIsoInstant(text, timezone)!;
