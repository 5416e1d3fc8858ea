import type { z } from '@hono/zod-openapi';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import { configWarnings } from '../config/config.ts';
import type { SessionStatus } from '../contract.ts';
import type { LoadTestStatistics } from './statistics.ts';
import type { LoadTestRow, SessionLine } from './store.ts';
import type { LoadTestRecord, LoadTestStatisticsRecord } from '../schemas.ts';

export const loadTestRecord = (row: LoadTestRow): z.infer<typeof LoadTestRecord> => ({
  load_test_group_id: row.id,
  name: row.name,
  status: row.status,
  actor_workflow_id: row.actor_agent_id,
  adversary_workflow_id: row.adversary_agent_id,
  total: row.test_count,
  concurrency: row.concurrency,
  ramp_seconds: row.ramp_seconds,
  config: row.config,
  warnings: configWarnings(row.config),
  created_at: toTimestamp(row.created_at),
  completed_at: nullableTimestamp(row.completed_at),
});

/** `statuses` are the statuses of the sessions when they were counted, in their order: a session that has ended since then is still shown as running. */
export const statisticsRecord = (
  loadTestId: number,
  { status, total, ...counted }: LoadTestStatistics,
  statuses: SessionStatus[] | null,
  lines: SessionLine[],
): z.infer<typeof LoadTestStatisticsRecord> => ({
  load_test_group_id: loadTestId,
  status,
  total,
  ...counted,
  sessions: lines.map((line) => sessionLine(line, statuses?.[line.test_index] ?? line.status)),
});

function sessionLine(line: SessionLine, status: SessionStatus): z.infer<typeof LoadTestStatisticsRecord>['sessions'][number] {
  const hasEnded = status !== 'pending' && status !== 'running';
  return {
    id: line.id,
    test_session_id: line.id,
    test_index: line.test_index,
    name: line.name,
    status,
    outcome: hasEnded ? line.outcome : null,
    stop_reason: hasEnded ? line.stop_reason : null,
    turns: hasEnded ? line.turns : null,
    duration_seconds: hasEnded ? line.duration_seconds : null,
    error: hasEnded ? line.error : null,
  };
}
