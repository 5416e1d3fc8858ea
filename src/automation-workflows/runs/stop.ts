import type { z } from '@hono/zod-openapi';
import type { Context } from '../../accounts/context.ts';
import { conflict } from '../../library/errors.ts';
import { isLive, liveStates, type RunRecord } from '../schemas.ts';
import { callRun } from './launch.ts';
import type { RunFailure } from './progress.ts';
import { existingRun, readRun } from './read.ts';
import { endUnstarted } from './store.ts';

/** Ends a live run; 409 when it has ended. */
export async function stopRun(context: Context, id: number): Promise<z.infer<typeof RunRecord>> {
  const row = await existingRun(context, id);
  if (!isLive(row.state) || !(await cancelRun(context, id, null))) {
    const { state } = isLive(row.state) ? await existingRun(context, id) : row;
    throw conflict(`The run is ${state} and cannot be stopped; only ${liveStates.join(', ')} runs can`);
  }
  return readRun(context, id);
}

/** Cancels a run, started or not, for the given reason; false when it had ended already. */
export async function cancelRun(context: Context, id: number, error: RunFailure | null): Promise<boolean> {
  const stop = () => callRun(context.bindings, context.organization.id, id, (object) => object.stop(error));
  if (await stop()) return true;
  // The object is not there yet: the row alone is the run. It may just be starting, so the object is asked again.
  if (await endUnstarted(context.database, context.organization.id, id, error && JSON.stringify(error), context.clock())) {
    await stop();
    return true;
  }
  return false;
}
