import type { z } from '@hono/zod-openapi';
import type { Context } from '../../../context.ts';
import { conflict } from '../../../library/errors.ts';
import { isLive, liveStates } from '../../run-states.ts';
import type { RunRecord } from '../schemas.ts';
import { enqueueCleanup } from '../../../outbox/enqueue.ts';
import { existingRun, readRun } from '../queries/read-run.ts';
import { endRunRow, findRun, type RowEnding } from '../store.ts';
import { type ExternalEnding, callRun } from '../../rpc.ts';
import { admitHeldRuns } from '../admission/start-runs.ts';

/** Cancels a live run and answers its record. Throws 404, and 409 when the run has ended. */
export async function stopRun(context: Context, id: number): Promise<z.infer<typeof RunRecord>> {
  const row = await existingRun(context, id);
  if (!isLive(row.state) || !(await endRun(context, id, { state: 'cancelled' }))) {
    const { state } = isLive(row.state) ? await existingRun(context, id) : row;
    if (isLive(state)) throw conflict('The run has just ended; its record shows it in a moment');
    throw conflict(`The run is ${state} and cannot be stopped; only ${liveStates.join(', ')} runs can`);
  }
  return readRun(context, id);
}

/** Notifies the parent of a run that ended before it had an object. Repeatable. */
export async function notifyParent(context: Context, id: number): Promise<void> {
  const { bindings, organization, database } = context;
  const row = await findRun(database, organization.id, id);
  const parentId = row?.parent_run_id ?? null;
  if (parentId !== null) await callRun(bindings, organization.id, parentId, (run) => run.childEnded(id));
}

/** Ends a run, started or not. False when the run had ended before. `reason` is shown in the history record of the wait that is cut short. */
export async function endRun(context: Context, id: number, ending: ExternalEnding, reason?: string): Promise<boolean> {
  const { bindings, organization, database } = context;
  const request = crypto.randomUUID();
  let tries = 0;
  const stop = () => callRun(bindings, organization.id, id, (run) => (tries++, run.stop(ending, request, reason)));
  if (await stop()) return true;
  // A try whose answer was lost may have ended the run, whose object is gone by now.
  if (tries > 1 && (await findRun(database, organization.id, id))?.state === ending.state) return true;
  // There is no object yet, so the row is ended. The object may be starting at this moment, so it is stopped once more afterwards.
  const error = ending.error ? JSON.stringify(ending.error) : null;
  const row = await endRunRow(
    database,
    organization.id,
    id,
    { state: ending.state, outcome: ending.outcome ?? null, error, exitEventId: ending.exitEventId },
    { now: context.clock(), which: 'unstarted' },
  );
  if (!row) return false;
  await stop();
  await processRunEnd(context, row);
  return true;
}

/**
 * Ends the row of a run whose object has been unreachable for long. When the object works again, it finds the row ended, and ends. False when
 * the run had ended before.
 */
export async function endUnreachableRun(
  context: Context,
  id: number,
  ending: Pick<RowEnding, 'state' | 'outcome' | 'exitEventId'> & { message: string },
): Promise<boolean> {
  const error = JSON.stringify({ node_id: null, attempt: null, type: 'unreachable', message: ending.message });
  const { database, organization } = context;
  const row = await endRunRow(database, organization.id, id, { ...ending, error }, { now: context.clock(), which: 'live' });
  if (row) await processRunEnd(context, row);
  return row !== null;
}

async function processRunEnd(context: Context, row: { workflow_id: number; cleanupId: number | null }): Promise<void> {
  await admitHeldRuns(context, row.workflow_id);
  if (row.cleanupId !== null) enqueueCleanup(context, row.cleanupId);
}
