import { invalidAt } from '../library/errors.ts';
import { toDay, type Period } from './periods.ts';

/** More groups than this are refused: nobody reads them, and they must not fill the memory. */
export const maxGroupRows = 20_000;

/** How many counts of outcomes and dispositions the groups of calls have together at most. */
export const maxGroupParts = 200_000;

/** How many characters the paths of the runs of a journey have together at most. */
export const maxTextCharacters = 8_000_000;

/** The periods as the JSON that `periodRowsSql` reads: `[start, end, first day, last day]` of each. */
export const toPeriodsJson = (periods: readonly Period[], timezone: string, hasDays: boolean): string =>
  JSON.stringify(periods.map(({ start, end }) => [start, end, ...(hasDays ? [toDay(timezone, start), toDay(timezone, end - 1)] : [1, 0])]));

/**
 * The counter rows `s` of periods, each with its period's place as `bucket`. `periods` is the parameter with the JSON; `own` is the condition on
 * rows of one organization, along the primary key. Only the rows of these periods are read.
 */
export const periodRowsSql = (table: string, own: string, periods = '?2'): string =>
  `(SELECT j.key AS bucket, s.* FROM json_each(${periods}) j CROSS JOIN ${table} s
      WHERE ${own} AND s.is_day = 0 AND s.period >= j.value ->> 0 AND s.period < j.value ->> 1
    UNION ALL
    SELECT j.key, s.* FROM json_each(${periods}) j CROSS JOIN ${table} s
      WHERE ${own} AND s.is_day = 1 AND s.period >= j.value ->> 2 AND s.period <= j.value ->> 3)`;

/** Throws 422 when a statement with the limit `maxGroupRows + 1` has answered more than it may. `advice`: what to ask for instead. */
export function requireFewGroups(rows: readonly unknown[], advice: string): void {
  if (rows.length > maxGroupRows) throw tooMuch(`more than ${maxGroupRows} groups`, advice);
}

/** Throws 422 when the outcomes and dispositions of all groups are more than may be read. `advice`: what to ask for instead. */
export function requireFewParts(parts: number, advice: string): void {
  if (parts > maxGroupParts) throw tooMuch(`groups with more than ${maxGroupParts} counts of outcomes and dispositions together`, advice);
}

/** Throws 422 when the paths of runs are more text than may be read. `advice`: what to ask for instead. */
export function requireShortTexts(characters: number, advice: string): void {
  if (characters > maxTextCharacters) throw tooMuch(`paths of runs with more than ${maxTextCharacters} characters together`, advice);
}

const tooMuch = (what: string, advice: string) =>
  invalidAt(['query', 'from'], `The answer would be made of ${what}; ${advice}`, 'too_many_groups');
