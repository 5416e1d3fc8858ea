import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonResponse, pathId } from '../../../http/router.ts';
import { nullableTimestamp, toTimestamp } from '../../../library/time/clock.ts';
import { existingWorkflow } from '../../definitions/existing-workflow.ts';
import { explainObstacle, type MoveObstacle } from './move-obstacle.ts';
import { previewRunMove, type PreviewedGroup, type PreviewedRun } from './preview-move.ts';
import * as schemas from './schemas.ts';
import { readRunMove, startRunMove } from './start-move.ts';
import { movesStatement, type MoveReasons, type MoveRow } from './store.ts';

const versionParams = z.object({ workflow_id: pathId, version: pathId.describe('The version that runs move to.') });

const previewRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/versions/{version}/movable-runs',
  operationId: 'journeyRuns.previewMove',
  summary: 'Which live runs of a journey could go on in a version, and why the others could not',
  description: 'A run can move when the node at which it waits is in the version, with the same type. Nothing is changed.',
  request: { params: versionParams, query: schemas.PreviewQuery },
  responses: { 200: jsonResponse(schemas.MovePreview), ...errorResponses(400, 404, 409) },
});
const moveRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/{workflow_id}/versions/{version}/move-runs',
  operationId: 'journeyRuns.move',
  summary: 'Move the live runs of a journey to a version, those that can; the others stay',
  description:
    'The answer comes at once, and the runs move in the background. A wait that has begun stays as it is, with its end and the events that it waits for; its filter and all that follows are those of the version. Each moved run has a record with status `moved` in its history.',
  request: { params: versionParams },
  responses: { 200: jsonResponse(schemas.RunMove), ...errorResponses(400, 404, 409) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/moves',
  operationId: 'journeyRuns.listMoves',
  summary: 'List the moves of the runs of a journey, newest first',
  request: { params: z.object({ workflow_id: pathId }) },
  responses: { 200: jsonResponse(schemas.RunMoveList), ...errorResponses(400, 404) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/moves/{move_id}',
  operationId: 'journeyRuns.getMove',
  summary: 'How far a move of runs is, and which runs stay and why',
  request: { params: z.object({ workflow_id: pathId, move_id: pathId.describe('The `id` that the move was answered.') }) },
  responses: { 200: jsonResponse(schemas.RunMove), ...errorResponses(400, 404) },
});

export const runMoveRoutes = createRouter()
  .openapi(previewRoute, async (c) => {
    const { workflow_id, version } = c.req.valid('param');
    const query = c.req.valid('query');
    const { runs, groups, nextCursor, isPartial } = await previewRunMove(c.var.context, workflow_id, version, query);
    return c.json(
      {
        version,
        runs: runs.map(previewedRun),
        groups: groups && groups.map(previewedGroup),
        is_partial: isPartial,
        limit: query.limit,
        next_cursor: nextCursor,
      },
      200,
    );
  })
  .openapi(moveRoute, async (c) => {
    const { workflow_id, version } = c.req.valid('param');
    return c.json(moveRecord(await startRunMove(c.var.context, workflow_id, version)), 200);
  })
  .openapi(listRoute, async (c) => {
    const { database, organization } = c.var.context;
    const { id } = await existingWorkflow(c.var.context, c.req.valid('param').workflow_id);
    const moves = await database.all(movesStatement(database, organization.id, id, 100));
    return c.json({ moves: moves.map(moveRecord) }, 200);
  })
  .openapi(getRoute, async (c) => {
    const { workflow_id, move_id } = c.req.valid('param');
    return c.json(moveRecord(await readRunMove(c.var.context, workflow_id, move_id)), 200);
  });

type Preview = z.infer<typeof schemas.MovePreview>;
type State = Preview['runs'][number]['state'];

const previewedRun = (run: PreviewedRun): Preview['runs'][number] => ({
  run_id: run.id,
  workflow_version: run.workflow_version,
  node_id: run.current_node_id,
  state: run.state as State,
  contact_id: run.contact_id,
  can_move: run.can_move,
  reason: run.reason,
  message: run.message,
});

const previewedGroup = (group: PreviewedGroup): NonNullable<Preview['groups']>[number] => ({
  workflow_version: group.workflow_version,
  node_id: group.node_id,
  state: group.state as State,
  runs: group.runs,
  can_move: group.can_move,
  reason: group.reason,
  message: group.message,
});

const generalMessages: Partial<Record<MoveObstacle, string>> = {
  node_missing: 'The node at which the run waits is not in the version',
  node_changed: 'The node at which the run waits has another type in the version',
};

function moveRecord(row: MoveRow): z.infer<typeof schemas.RunMove> {
  const reasons = Object.entries(JSON.parse(row.reasons) as MoveReasons) as [MoveObstacle, { count: number; run_ids: number[] }][];
  return {
    id: row.id,
    automation_workflow_id: row.workflow_id,
    version: row.version,
    state: row.finished_at === null ? 'moving' : 'finished',
    moved: row.moved,
    kept: row.kept,
    reasons: reasons.map(([reason, { count, run_ids }]) => ({
      reason,
      message: generalMessages[reason] ?? explainObstacle(reason, null, row.version),
      runs: count,
      run_ids,
    })),
    created_at: toTimestamp(row.created_at),
    finished_at: nullableTimestamp(row.finished_at),
  };
}
