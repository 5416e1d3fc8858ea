import type { Context } from '../../../context.ts';
import type { FanoutMessage } from '../../../outbox/messages.ts';
import { endRun } from './stop-run.ts';
import { recordFailedParts, type FailedPart } from '../../../outbox/failed-messages.ts';
import { findLiveRuns, type LiveRunsFilter } from '../store.ts';

export type RunEndMessage = Extract<FanoutMessage, { kind: 'run_end' }>;

/** The message that tries again to end a run. */
export const buildEndMessage = ({ organization }: Context, id: number, ending: RunEndMessage['ending'], why?: string): RunEndMessage => ({
  v: 1,
  kind: 'run_end',
  organization_id: organization.id,
  id,
  ending,
  ...(why !== undefined && { why }),
});

/** Ends a run that could not be ended before. */
export async function retryRunEnd(context: Context, { id, ending, why }: RunEndMessage): Promise<void> {
  const error = ending.error && { node_id: null, attempt: null, ...ending.error };
  await endRun(context, id, { ...ending, error }, why);
}

const pageSize = 100;

/**
 * Cancels a page of the live runs of a contact or workflow. Answers whether none is left. A run that cannot be ended is recorded as a failed
 * part and tried again.
 */
export async function endLiveRuns(context: Context, filter: LiveRunsFilter, reason: { type: string; message: string }): Promise<boolean> {
  const ids = await findLiveRuns(context.database, context.organization.id, filter, pageSize);
  const failed: FailedPart[] = [];
  for (const id of ids)
    await endRun(context, id, { state: 'cancelled', error: { node_id: null, attempt: null, ...reason } }).catch((error: unknown) =>
      failed.push({ message: buildEndMessage(context, id, { state: 'cancelled', outcome: null, error: reason }), error }),
    );
  await recordFailedParts(context.database, failed, context.clock());
  return ids.length < pageSize;
}
