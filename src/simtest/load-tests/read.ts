import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { existingLoadTest, listSessionLines, type LoadTestRow } from './store.ts';
import { callLoadTestObject } from './rpc.ts';
import { statisticsRecord } from './records.ts';
import { computeStatistics, pendingSessions, type LiveStatistics } from './statistics.ts';
import type { LoadTestStatisticsRecord } from '../schemas.ts';

/** The statistics of a load test: of the object while sessions are left, of the row afterwards. The counts match the listed sessions. Throws 404. */
export async function readLoadTest(context: Context, id: number): Promise<z.infer<typeof LoadTestStatisticsRecord>> {
  const { statistics, statuses } = await readStatistics(context, await existingLoadTest(context, id));
  // Sessions are read after the counts: a session writes its end into its row before it reports to its load test.
  return statisticsRecord(id, statistics, statuses, await listSessionLines(context.database, context.organization.id, id));
}

async function readStatistics(context: Context, row: LoadTestRow): Promise<LiveStatistics> {
  const { bindings, organization, clock } = context;
  if (row.statistics) return { statistics: row.statistics, statuses: null };
  const live = await callLoadTestObject(bindings, organization.id, row.id, (object) => object.statistics());
  if (live) return live;
  // The object has gone since the row was read, or the start broke off and the minute tick repeats it.
  const { statistics } = await existingLoadTest(context, row.id);
  return {
    statistics: statistics ?? computeStatistics({ status: row.status, maxRunning: 0 }, pendingSessions(row.test_count), clock()),
    statuses: null,
  };
}
