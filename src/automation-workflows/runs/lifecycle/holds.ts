import pMap from 'p-map';
import type { Context } from '../../../context.ts';
import { hasExitRules, parseSettings } from '../../definitions/settings.ts';
import { findWorkflow } from '../../definitions/store.ts';
import { recordFailedParts, type FailedPart } from '../../../outbox/failed-messages.ts';
import { callRun } from '../../rpc.ts';
import { markRuns, clearHolds, findPausedRuns } from './store.ts';

const markedPerStep = 500;

/**
 * Marks a page of the live runs that began before their workflow had `exit_on` or `one_live_run_per_key`, so that the settings apply to them.
 * Answers whether all are marked.
 */
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
 * Releases a page of the runs that were held while their workflow was paused. Answers whether none is left; also true when the workflow is
 * paused again. A run that cannot be reached is recorded as a failed part and tried again.
 */
export async function releasePausedRuns(context: Context, workflowId: number): Promise<boolean> {
  const { bindings, database, organization } = context;
  const workflow = await findWorkflow(database, organization.id, workflowId);
  if (workflow?.status !== 'active') return true;
  const ids = await findPausedRuns(database, organization.id, workflowId, pageSize);
  const withoutObject: number[] = [];
  const failed: FailedPart[] = [];
  await pMap(
    ids,
    (id) =>
      callRun(bindings, organization.id, id, (run) => run.releaseHold()).then(
        (hasObject) => hasObject || withoutObject.push(id),
        (error: unknown) => failed.push({ message: { v: 1, kind: 'run_release', organization_id: organization.id, id }, error }),
      ),
    { concurrency: maxConcurrentReleases },
  );
  await recordFailedParts(database, failed, context.clock());
  if (withoutObject.length) await clearHolds(database, organization.id, withoutObject);
  return ids.length < pageSize;
}

/** Releases one run that could not be reached before. */
export async function releasePausedRun({ bindings, database, organization }: Context, id: number): Promise<void> {
  const hasObject = await callRun(bindings, organization.id, id, (run) => run.releaseHold());
  if (!hasObject) await clearHolds(database, organization.id, [id]);
}
