import type { z } from '@hono/zod-openapi';
import { toTimestamp } from '../../../library/time/clock.ts';
import type { RecordedFailure } from '../../../outbox/failed-messages.ts';
import type { OutcomeRun as StoredRun } from './event-outcome-store.ts';
import type { Failure, OutcomeRun } from './schemas.ts';

export const failureRecord = ({ tries, first_failed_at, next_try_at, reason }: RecordedFailure): z.infer<typeof Failure> => ({
  tries,
  first_failed_at: toTimestamp(first_failed_at),
  next_try_at: toTimestamp(next_try_at),
  reason,
});

export const outcomeRunRecord = ({ id, workflow_id, ...run }: StoredRun): z.infer<typeof OutcomeRun> => ({
  run_id: id,
  automation_workflow_id: workflow_id,
  trigger_id: run.trigger_id,
  state: run.state as z.infer<typeof OutcomeRun>['state'],
  outcome: run.outcome,
  hold: run.hold as z.infer<typeof OutcomeRun>['hold'],
});
