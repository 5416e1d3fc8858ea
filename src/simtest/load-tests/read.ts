import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { existingLoadTest, listSessionLines, type LoadTestRow } from './store.ts';
import { callLoadTestObject } from './rpc.ts';
import { statisticsRecord } from './records.ts';
import { computeStatistics, pendingSessions, type LiveStatistics } from './statistics.ts';
import type { LoadTestStatisticsRecord } from '../schemas.ts';

/** The statistics as they are now: of the object while sessions are left, of the row afterwards. The counts are those of the sessions shown. */
export async function readLoadTest(context: Context, id: number): Promise<z.infer<typeof LoadTestStatisticsRecord>> {
  const { statistics, statuses } = await readStatistics(context, await existingLoadTest(context, id));
  // Read after the counting: a session has told its row of its end before its load test.
  return statisticsRecord(id, statistics, statuses, await listSessionLines(context.database, context.organization.id, id));
}

async function readStatistics(context: Context, row: LoadTestRow): Promise<LiveStatistics> {
  const { bindings, organization, clock } = context;
  if (row.statistics) return { statistics: row.statistics, statuses: null };
  const live = await callLoadTestObject(bindings, organization.id, row.id, (object) => object.statistics());
  if (live) return live;
  // It may have gone since the row was read; or its start broke off, and the minute tick makes that good.
  const { statistics } = await existingLoadTest(context, row.id);
  return {
    statistics: statistics ?? computeStatistics({ status: row.status, mostRunning: 0 }, pendingSessions(row.test_count), clock()),
    statuses: null,
  };
}
