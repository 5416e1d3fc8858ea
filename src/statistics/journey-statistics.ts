import { existingWorkflow } from '../automation-workflows/definitions/existing-workflow.ts';
import type { Context } from '../context.ts';
import { toTimestamp } from '../library/time/clock.ts';
import { toFunnel } from './funnel.ts';
import {
  countLiveRuns,
  hasMoreLiveRuns,
  sumEndedRuns,
  sumEndedRunsByPeriod,
  type EndedInPeriodRow,
  type JourneyScope,
} from './journey-store.ts';
import { requireFewGroups, requireShortTexts, toPeriodsJson } from './period-rows.ts';
import { splitRange, wholeRange, type Period, type TimeUnit } from './periods.ts';
import { readRange, type RangeQuery } from './range.ts';

export interface JourneyStatisticsQuery extends RangeQuery {
  version?: number | undefined;
  interval: Exclude<TimeUnit, 'hour'>;
}

const narrowing = 'ask for a shorter range, or for one `version`';

/**
 * The funnel of the runs of a journey that began in a range: all together, by version, and how many began over time. Reads the counters of the
 * range and at most `maxLiveRuns` live runs. Throws 404, and 422 as `readRange` does.
 */
export async function readJourneyStatistics(context: Context, workflowId: number, query: JourneyStatisticsQuery) {
  const workflow = await existingWorkflow(context, workflowId);
  const range = readRange(context, query, query.interval);
  const periods = splitRange(range, query.interval);
  const { database, organization } = context;
  const version = query.version ?? null;
  const scope: JourneyScope = {
    organizationId: organization.id,
    workflowId,
    periods: toPeriodsJson([wholeRange(range)], range.timezone, true),
    version,
  };
  const [ended, overTime, live, more] = await database.batch([
    sumEndedRuns(database, scope),
    sumEndedRunsByPeriod(database, { ...scope, periods: toPeriodsJson(periods, range.timezone, true) }),
    countLiveRuns(database, scope, range),
    hasMoreLiveRuns(database, workflowId, organization.id),
  ]);
  for (const rows of [ended, overTime]) requireFewGroups(rows, narrowing);
  for (const rows of [ended, live]) requireShortTexts(rows[0]?.characters ?? 0, narrowing);
  const versions = [...new Set([...ended, ...live].map((row) => row.version))].toSorted((one, other) => other - one);
  const endedByVersion = Map.groupBy(ended, (row) => row.version);
  const liveByVersion = Map.groupBy(live, (row) => row.version);
  const byBucket = Map.groupBy(overTime, (row) => row.bucket);
  return {
    automation_workflow_id: workflowId,
    name: workflow.name,
    from: toTimestamp(range.from),
    to: toTimestamp(range.to),
    timezone: range.timezone,
    live_capped: more[0]?.more === 1,
    ...toFunnel(ended, live),
    versions: versions.map((number) =>
      Object.assign({ version: number }, toFunnel(endedByVersion.get(number) ?? [], liveByVersion.get(number) ?? [])),
    ),
    over_time: periods.map((period, place) => toPeriodCounts(period, byBucket.get(place) ?? [])),
  };
}

function toPeriodCounts({ label, start }: Period, rows: readonly EndedInPeriodRow[]) {
  const count = (state: string) => rows.reduce((sum, row) => sum + (row.state === state ? row.runs : 0), 0);
  return {
    period: label,
    start: toTimestamp(start),
    completed: count('completed'),
    failed: count('failed'),
    cancelled: count('cancelled'),
  };
}
