import type { z } from '@hono/zod-openapi';
import type { Context } from '../../accounts/context.ts';
import { conflict } from '../../library/errors.ts';
import { parseDefinition } from '../definition.ts';
import type { RunRecord } from '../schemas.ts';
import { existingWorkflow } from '../workflows/existing.ts';
import { callRun } from './launch.ts';
import { existingRun, readRun } from './read.ts';
import type { RetryAnswer } from './resume.ts';
import type { RunRow } from './store.ts';

export type RetryVersion = 'run' | 'current';

/** Has a failed run go on from the node where it failed, on its own version or the workflow's current one. Throws 404 and 409. */
export async function retryRun(context: Context, id: number, version: RetryVersion): Promise<z.infer<typeof RunRecord>> {
  const row = await existingRun(context, id);
  if (row.state !== 'failed') throw conflict(`The run is ${row.state}; only a failed run can be retried`);
  const target = version === 'run' ? row.workflow_version : await currentVersion(context, row);
  const answer = await callRun(context.bindings, context.organization.id, id, (object) => object.retry(target));
  if (answer.refused !== null) throw conflict(await words(context, row, answer));
  return readRun(context, id);
}

/** The workflow's current version, provided that the node where the run failed is still in it. */
async function currentVersion(context: Context, row: RunRow): Promise<number> {
  const workflow = await existingWorkflow(context, row.workflow_id);
  const nodeId = row.current_node_id;
  const node = parseDefinition(JSON.parse(workflow.definition)).nodes.find(({ id }) => id === nodeId);
  if (!node)
    throw conflict(`Node "${nodeId}", where the run failed, is not in version ${workflow.version}; retry on the run's own version`);
  return workflow.version;
}

async function words(context: Context, row: RunRow, answer: RetryAnswer): Promise<string> {
  switch (answer.refused) {
    case 'gone':
      return row.completed_at !== null && row.started_at !== null
        ? 'The run failed more than 30 days ago, and its history is closed; start a new one'
        : 'The run never began, so it has no node to go on from; send what started it again';
    case 'archived':
      return 'The workflow is archived; move it to draft and activate it, then retry';
    case 'max_active_runs':
      return 'As many runs are active as settings.max_active_runs allows; retry when one has ended';
    case 'one_live_run_per_key':
      return `Another run with entry key ${JSON.stringify(row.entry_key)} is live, and settings.one_live_run_per_key allows one at a time`;
    default: {
      const { state } = answer.state === null || answer.refused === 'ended' ? await existingRun(context, row.id) : { state: answer.state };
      return `The run is ${state}; only a failed run can be retried`;
    }
  }
}
