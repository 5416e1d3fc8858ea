import type { Context } from '../../../context.ts';
import { recordFailedParts, type FailedPart } from '../../../outbox/failed-messages.ts';
import { buildEndMessage } from './end-message.ts';
import { endRun } from './stop-run.ts';
import { findLiveRuns, type LiveRunsFilter } from '../store.ts';

const pageSize = 100;

/** Cancels a page of the live runs of a contact or workflow; true when none is left. One that cannot be ended is tried again on its own. */
export async function endLiveRuns(context: Context, of: LiveRunsFilter, reason: { type: string; message: string }): Promise<boolean> {
  const ids = await findLiveRuns(context.database, context.organization.id, of, pageSize);
  const failed: FailedPart[] = [];
  for (const id of ids)
    await endRun(context, id, { state: 'cancelled', error: { node_id: null, attempt: null, ...reason } }).catch((error: unknown) =>
      failed.push({ message: buildEndMessage(context, id, { state: 'cancelled', outcome: null, error: reason }), error }),
    );
  await recordFailedParts(context.database, failed, context.clock());
  return ids.length < pageSize;
}
