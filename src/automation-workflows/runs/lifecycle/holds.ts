import type { Context } from '../../../context.ts';
import { hasExitRules, parseSettings } from '../../definitions/settings.ts';
import { findWorkflow } from '../../definitions/store.ts';
import { recordFailedParts, type FailedPart } from '../../../outbox/failed-messages.ts';
import { callRun } from '../../rpc.ts';
import { markRuns, clearHolds, findPausedRuns } from './store.ts';

const markedPerStep = 500;

/** Marks a page of the live runs for settings that came after they began; true when all are marked. */
export async function markLiveRuns(context: Context, workflowId: number): Promise<boolean> {
  const { database, organization } = context;
  const workflow = await findWorkflow(database, organization.id, workflowId);
  if (!workflow) return true;
  const settings = parseSettings(workflow.settings);
  const exitable = hasExitRules(settings) ? await markRuns(database, organization.id, workflowId, 'is_exitable', markedPerStep) : 0;
  const sole = settings.one_live_run_per_key ? await markRuns(database, organization.id, workflowId, 'is_sole', markedPerStep) : 0;
  return exitable + sole === 0;
}

const pageSize = 100;
const maxConcurrentReleases = 25;

/**
 * Lets a page of the runs go on that a pause has held; true when none is left, or the workflow is paused again. One that cannot be reached is
 * tried again on its own.
 */
export async function releasePausedRuns(context: Context, workflowId: number): Promise<boolean> {
  const { bindings, database, organization } = context;
  const workflow = await findWorkflow(database, organization.id, workflowId);
  if (workflow?.status !== 'active') return true;
  const ids = await findPausedRuns(database, organization.id, workflowId, pageSize);
  const waiting = [...ids];
  const gone: number[] = [];
  const failed: FailedPart[] = [];
  const worker = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const runId = id;
      await callRun(bindings, organization.id, runId, (object) => object.releaseHold()).then(
        (isThere) => isThere || gone.push(runId),
        (error: unknown) => failed.push({ message: { v: 1, kind: 'run_release', organization_id: organization.id, id: runId }, error }),
      );
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrentReleases, ids.length) }, worker));
  await recordFailedParts(database, failed, context.clock());
  if (gone.length) await clearHolds(database, organization.id, gone);
  return ids.length < pageSize;
}

/** The same for one run that could not be reached before. */
export async function releasePausedRun({ bindings, database, organization }: Context, id: number): Promise<void> {
  const isThere = await callRun(bindings, organization.id, id, (object) => object.releaseHold());
  if (!isThere) await clearHolds(database, organization.id, [id]);
}
