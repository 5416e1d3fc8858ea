import type { Context } from '../../accounts/context.ts';
import { findWorkflow } from '../workflows/store.ts';
import { clearHolds, pausedRuns } from './hold-store.ts';
import { callRun } from './launch.ts';

const pageSize = 100;
const parallel = 25;

/** Lets a page of the runs go on that a pause has held; true when none is left, or the workflow is paused again. */
export async function releaseHeld(context: Context, workflowId: number): Promise<boolean> {
  const { bindings, database, organization } = context;
  const workflow = await findWorkflow(database, organization.id, workflowId);
  if (workflow?.status !== 'active') return true;
  const ids = await pausedRuns(database, organization.id, workflowId, pageSize);
  const waiting = [...ids];
  const gone: number[] = [];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const runId = id;
      if (!(await callRun(bindings, organization.id, runId, (object) => object.release()))) gone.push(runId);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, ids.length) }, worker));
  if (gone.length) await clearHolds(database, organization.id, gone);
  return ids.length < pageSize;
}
