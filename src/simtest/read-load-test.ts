import type { z } from '@hono/zod-openapi';
import type { Context } from '../accounts/context.ts';
import { existingLoadTest } from './existing-load-test.ts';
import { loadTestObject } from './load-test-object.ts';
import { statisticsRecord } from './load-test-records.ts';
import { statisticsOf, unstarted, type LiveStatistics } from './load-test-statistics.ts';
import { sessionLines, type LoadTestRow } from './load-test-store.ts';
import type { LoadTestStatisticsRecord } from './schemas.ts';

/** The statistics as they are now: of the object while sessions are left, of the row afterwards. The counts are those of the sessions shown. */
export async function readLoadTest(context: Context, id: number): Promise<z.infer<typeof LoadTestStatisticsRecord>> {
  const { statistics, statuses } = await statisticsNow(context, await existingLoadTest(context, id));
  // Read after the counting: a session has told its row of its end before its load test.
  return statisticsRecord(id, statistics, statuses, await sessionLines(context.database, context.organization.id, id));
}

async function statisticsNow(context: Context, row: LoadTestRow): Promise<LiveStatistics> {
  const { bindings, organization, clock } = context;
  if (row.statistics) return { statistics: row.statistics, statuses: null };
  const live = await loadTestObject(bindings, organization.id, row.id, (object) => object.statistics());
  if (live) return live;
  // It may have gone since the row was read; or its start broke off, and the minute tick makes that good.
  const { statistics } = await existingLoadTest(context, row.id);
  return {
    statistics: statistics ?? statisticsOf({ status: row.status, mostRunning: 0 }, unstarted(row.test_count), clock()),
    statuses: null,
  };
}
