import type { Context } from '../context.ts';
import { normalizeOwnNumber } from '../library/phone/phone-numbers.ts';
import { restorePlus } from '../library/phone/unescaped-plus.ts';
import { toTimestamp } from '../library/time/clock.ts';
import { callDimensions, sumCalls, type CallCounterFilter, type CallDimension, type CallGroupRow } from './call-store.ts';
import { addCalls, type CallTotals } from './call-totals.ts';
import { requireFewGroups, requireFewParts, toPeriodsJson } from './period-rows.ts';
import { splitRange, timeUnits, wholeRange, type Period, type TimeUnit } from './periods.ts';
import { readRange, type RangeQuery } from './range.ts';

export const callGroupings = [...timeUnits, ...(Object.keys(callDimensions) as CallDimension[])] as const;
export type CallGrouping = TimeUnit | CallDimension;

export interface CallStatisticsQuery extends RangeQuery {
  group_by: CallGrouping[];
  filter: CallCounterFilter;
}

/** A group has the fields by which it was grouped; an id or a text that its calls do not have is null. */
type CallGroup = CallTotals & { [Name in CallDimension]?: DimensionValue<Name> | null } & { period?: string; start?: string };
type DimensionValue<Name extends CallDimension> = NonNullable<CallGroupRow[(typeof callDimensions)[Name]]>;

const narrowing = 'ask for a shorter range, less in `group_by`, or one value more to filter by';

/**
 * Counts the ended telephone calls that were asked for in a range, together and by groups. Reads the counters of the range, whatever the number of
 * calls is. Throws 422, also for more than `maxGroupRows` groups or `maxGroupParts` parts of them.
 */
export async function readCallStatistics(context: Context, query: CallStatisticsQuery) {
  const unit = query.group_by.find(isTimeUnit) ?? null;
  const by = query.group_by.filter((grouping): grouping is CallDimension => !isTimeUnit(grouping));
  const range = readRange(context, query, unit);
  const periods = unit === null ? [wholeRange(range)] : splitRange(range, unit);
  const { database, organization } = context;
  const json = toPeriodsJson(periods, range.timezone, unit !== 'hour');
  const filter = { ...query.filter, ...readNumber(context, query.filter.own_number) };
  const rows = await database.all(sumCalls(database, organization.id, json, { by, filter }));
  requireFewGroups(rows, narrowing);
  requireFewParts(rows[0]?.all_parts ?? 0, narrowing);
  return {
    from: toTimestamp(range.from),
    to: toTimestamp(range.to),
    timezone: range.timezone,
    totals: addCalls(rows),
    groups: query.group_by.length === 0 ? [] : toGroups(rows, unit === null ? null : periods, by),
  };
}

const isTimeUnit = (grouping: CallGrouping): grouping is TimeUnit => (timeUnits as readonly string[]).includes(grouping);

/** The number as it is stored. What is no number has no calls, and is left as it is. */
function readNumber({ organization }: Context, number: string | number | undefined): { own_number?: string } {
  if (typeof number !== 'string' || number === '') return {};
  const reading = normalizeOwnNumber(restorePlus(number), organization.defaultCountry);
  return { own_number: 'phone' in reading ? reading.phone : number };
}

/** By period, and within it the largest first. */
function toGroups(rows: readonly CallGroupRow[], periods: readonly Period[] | null, by: readonly CallDimension[]): CallGroup[] {
  const groups = rows.map((row) => {
    const period = periods?.[row.bucket];
    const named: Pick<CallGroup, CallDimension> = Object.fromEntries(by.map((name) => [name, row[callDimensions[name]] || null]));
    const group = { ...(period && { period: period.label, start: toTimestamp(period.start) }), ...named, ...addCalls([row]) };
    return { bucket: row.bucket, group };
  });
  return groups.toSorted((one, other) => one.bucket - other.bucket || other.group.calls - one.group.calls).map(({ group }) => group);
}
