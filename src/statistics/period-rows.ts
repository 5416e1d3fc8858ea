import { invalidAt } from '../library/errors.ts';
import { toDay, type Period } from './periods.ts';

/** More groups than this are refused: nobody reads them, and they must not fill the memory. */
export const maxGroupRows = 20_000;

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

/** Throws 422 when a statement with the limit `maxGroupRows + 1` has answered more than it may. */
export function requireFewGroups(rows: readonly unknown[]): void {
  if (rows.length <= maxGroupRows) return;
  throw invalidAt(
    ['query', 'from'],
    `The answer would be made of more than ${maxGroupRows} groups; ask for a shorter range, fewer groups, or a filter`,
    'too_many_groups',
  );
}
