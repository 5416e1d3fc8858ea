import { DateTime, Duration } from 'luxon';
import { z } from 'zod';

/** A duration: calendar months for years and months, milliseconds for the rest. A day is 24 hours, a week seven days. */
export interface ExactDuration {
  months: number;
  milliseconds: number;
}

const maxDays = 3660;
const durationPattern =
  /^P(?=[^T]|T\d)(\d+Y)?(\d+M)?(\d+(?:\.\d+)?W)?(\d+(?:\.\d+)?D)?(T(?=\d)(\d+(?:\.\d+)?H)?(\d+(?:\.\d+)?M)?(\d+(?:\.\d+)?S)?)?$/;

/**
 * Reads an ISO 8601 duration such as `PT30M`, `P1DT12H` or `P2W`.
 * Throws RangeError when it is malformed, negative, longer than ten years or, unless `allowZero`, zero.
 */
export function parseDuration(text: string, { allowZero = false } = {}): ExactDuration {
  const duration = durationPattern.test(text) ? Duration.fromISO(text) : undefined;
  if (!duration?.isValid) throw new RangeError(`"${text}" is not an ISO 8601 duration; write it like PT30M, PT12H or P7D`);
  const { years, months, ...rest } = duration.toObject();
  const parsed = { months: (years ?? 0) * 12 + (months ?? 0), milliseconds: Math.round(Duration.fromObject(rest).toMillis()) };
  if (parsed.months * 30.5 + parsed.milliseconds / 86_400_000 > maxDays)
    throw new RangeError(`"${text}" is longer than ten years; use a shorter duration`);
  if (!allowZero && parsed.months === 0 && parsed.milliseconds === 0)
    throw new RangeError(`"${text}" is zero; use a duration longer than that`);
  return parsed;
}

/** The fault of `text` as a duration, or null. */
export function durationProblem(text: string, options?: { allowZero?: boolean }): string | null {
  try {
    parseDuration(text, options);
    return null;
  } catch (error) {
    return (error as RangeError).message;
  }
}

/**
 * Exact time: P1D is 24 hours across clock changes, too. Months and years have no exact length; they are counted on the UTC calendar,
 * and a day that the month lacks is its last one (31 January + P1M is 28 or 29 February).
 */
export const addExact = (epochMs: number, duration: ExactDuration): number => shiftMonths(epochMs, duration.months) + duration.milliseconds;

export const subtractExact = (epochMs: number, duration: ExactDuration): number =>
  shiftMonths(epochMs, -duration.months) - duration.milliseconds;

const shiftMonths = (epochMs: number, months: number): number =>
  months === 0 ? epochMs : DateTime.fromMillis(epochMs, { zone: 'utc' }).plus({ months }).toMillis();

/** A Zod string that must be a duration. */
export const durationSchema = (options?: { allowZero?: boolean }) =>
  z.string().superRefine((text, context) => {
    const problem = durationProblem(text, options);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });
