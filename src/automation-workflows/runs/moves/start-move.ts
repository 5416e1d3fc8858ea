import type { Context } from '../../../context.ts';
import { conflict, notFound } from '../../../library/errors.ts';
import { enqueueFanout } from '../../../outbox/enqueue.ts';
import { existingWorkflow } from '../../definitions/existing-workflow.ts';
import { definitionIssues } from '../../definitions/validate.ts';
import * as store from './store.ts';

/** Throws 404 for an unknown journey or version, and 409 for a version that cannot run. */
export async function requireRunnableVersion(context: Context, workflowId: number, version: number): Promise<void> {
  const { database, organization } = context;
  const workflow = await existingWorkflow(context, workflowId);
  if (workflow.status === 'archived') throw conflict('The workflow is archived: it has no live runs');
  const row = await database.first(store.versionStatement(database, organization.id, workflowId, version));
  if (!row) throw notFound('Version');
  const [issue] = await definitionIssues(context, JSON.parse(row.definition) as unknown);
  if (issue) throw conflict(`Version ${version} cannot run: ${issue.loc.slice(2).join('.')}: ${issue.msg}`);
}

/**
 * Has the live runs of a journey that can move go on in a version; the queue moves them page by page. A repeat while the move is under way answers it.
 * Throws 404, and 409 for a version that cannot run and while the runs move to another version.
 */
export async function startRunMove(context: Context, workflowId: number, version: number): Promise<store.MoveRow> {
  await requireRunnableVersion(context, workflowId, version);
  const { database, organization, clock } = context;
  const [begun, open] = await database.batch(
    store.beginMoveStatements(database, organization.id, { workflowId, version, now: clock() }),
    'run_move.workflow_id',
  );
  const move = begun[0] ?? open[0];
  if (!move) throw conflict('A move of the runs has just ended; send the request again');
  if (move.version !== version) throw conflict(`Move ${move.id} is moving the runs to version ${move.version}; wait until it has finished`);
  enqueueFanout(context, { v: 1, kind: 'run_move', organization_id: organization.id, id: move.id });
  return move;
}

/** A move of the runs of a journey. Throws 404. */
export async function readRunMove(context: Context, workflowId: number, moveId: number): Promise<store.MoveRow> {
  const { database, organization } = context;
  const move = await database.first(store.moveStatement(database, organization.id, moveId));
  if (!move || move.workflow_id !== workflowId) throw notFound('Move');
  return move;
}
