import type { Context } from '../../accounts/context.ts';
import { endRun } from './stop.ts';
import { liveRuns, type RunsOf } from './store.ts';

const pageSize = 100;

/** Cancels a page of the live runs of a contact or workflow; true when none is left. */
export async function endLiveRuns(context: Context, of: RunsOf, reason: { type: string; message: string }): Promise<boolean> {
  const ids = await liveRuns(context.database, context.organization.id, of, pageSize);
  for (const id of ids) await endRun(context, id, { state: 'cancelled', error: { node_id: null, attempt: null, ...reason } });
  return ids.length < pageSize;
}
