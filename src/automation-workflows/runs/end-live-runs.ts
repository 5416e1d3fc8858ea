import type { Context } from '../../accounts/context.ts';
import { noteFailedParts, type FailedPart } from '../../queues/failed-messages.ts';
import { endMessage } from './end-message.ts';
import { endRun } from './stop.ts';
import { liveRuns, type RunsOf } from './store.ts';

const pageSize = 100;

/** Cancels a page of the live runs of a contact or workflow; true when none is left. One that cannot be ended is tried again on its own. */
export async function endLiveRuns(context: Context, of: RunsOf, reason: { type: string; message: string }): Promise<boolean> {
  const ids = await liveRuns(context.database, context.organization.id, of, pageSize);
  const failed: FailedPart[] = [];
  for (const id of ids)
    await endRun(context, id, { state: 'cancelled', error: { node_id: null, attempt: null, ...reason } }).catch((error: unknown) =>
      failed.push({ message: endMessage(context, id, { state: 'cancelled', outcome: null, error: reason }), error }),
    );
  await noteFailedParts(context.database, failed, context.clock());
  return ids.length < pageSize;
}
