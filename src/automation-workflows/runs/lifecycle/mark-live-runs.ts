import type { Context } from '../../../context.ts';
import { hasExitRules, parseSettings } from '../../definitions/settings.ts';
import { findWorkflow } from '../../definitions/store.ts';
import { markRuns } from './hold-store.ts';

const pageSize = 500;

/** Marks a page of the live runs for settings that came after they began; true when all are marked. */
export async function markLiveRuns(context: Context, workflowId: number): Promise<boolean> {
  const { database, organization } = context;
  const workflow = await findWorkflow(database, organization.id, workflowId);
  if (!workflow) return true;
  const settings = parseSettings(workflow.settings);
  const exitable = hasExitRules(settings) ? await markRuns(database, organization.id, workflowId, 'is_exitable', pageSize) : 0;
  const sole = settings.one_live_run_per_key ? await markRuns(database, organization.id, workflowId, 'is_sole', pageSize) : 0;
  return exitable + sole === 0;
}
