import type { z } from '@hono/zod-openapi';
import type { Context } from '../../../context.ts';
import { conflict } from '../../../library/errors.ts';
import { parseDefinition, type Definition } from '../../definitions/definition.ts';
import type { RunRecord } from '../schemas.ts';
import { existingWorkflow } from '../../definitions/existing-workflow.ts';
import { definitionIssues } from '../../definitions/validate.ts';
import type { WorkflowRow } from '../../definitions/store.ts';
import { existingRun, readRun } from '../queries/read-run.ts';
import { findRunFacts, type RunRow } from '../store.ts';
import { type RetryAnswer, callRun } from '../../rpc.ts';

export type RetryVersion = 'run' | 'current';

/** Continues a failed run from the node where it failed, on its own version of the workflow or on the current version. Throws 404 and 409. */
export async function retryRun(context: Context, id: number, version: RetryVersion): Promise<z.infer<typeof RunRecord>> {
  const row = await existingRun(context, id);
  if (row.state !== 'failed') throw conflict(`The run is ${row.state}; only a failed run can be retried`);
  const workflow = await existingWorkflow(context, row.workflow_id);
  const { status } = workflow;
  // A test run does not need an active workflow.
  if (!row.is_test && status !== 'active' && status !== 'paused')
    throw conflict(`The workflow is ${status}; ${status === 'archived' ? 'move it to draft and activate it' : 'activate it'}, then retry`);
  const target = version === 'run' ? row.workflow_version : await requireCurrentVersion(context, row, workflow);
  const answer = await callRun(context.bindings, context.organization.id, id, (run) => run.retry(target));
  if (answer.refused !== null) throw conflict(toRefusalMessage(row, answer));
  return readRun(context, id);
}

/** The workflow's current version. Throws 409 unless the version is valid and has the node where the run failed, of the same type. */
async function requireCurrentVersion(context: Context, row: RunRow, workflow: WorkflowRow): Promise<number> {
  const current = JSON.parse(workflow.definition) as unknown;
  const [issue] = await definitionIssues(context, current);
  if (issue) throw conflict(`Version ${workflow.version} cannot run: ${issue.loc.slice(2).join('.')}: ${issue.msg}`);
  const before = findFailedNode(row, await loadDefinition(context, row));
  const now = findFailedNode(row, parseDefinition(current));
  const where = `Node "${row.current_node_id}", where the run failed,`;
  if (!now) throw conflict(`${where} is not in version ${workflow.version}; retry on the run's own version`);
  if (before && before.type !== now.type)
    throw conflict(`${where} is a ${now.type} in version ${workflow.version} and was a ${before.type}; retry on the run's own version`);
  return workflow.version;
}

const findFailedNode = (row: RunRow, definition: Definition | null) => definition?.nodes.find(({ id }) => id === row.current_node_id);

async function loadDefinition(context: Context, row: RunRow): Promise<Definition | null> {
  const facts = await findRunFacts(context.database, context.organization.id, row.id);
  return facts && parseDefinition(JSON.parse(facts.definition));
}

function toRefusalMessage(row: RunRow, answer: RetryAnswer): string {
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
    default:
      return answer.state === 'failed' || answer.state === null
        ? 'The run changed just now; look at it, and retry if it is still failed'
        : `The run is ${answer.state}; only a failed run can be retried`;
  }
}
