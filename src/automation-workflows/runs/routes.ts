import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { decodeCursor, toListBody } from '../../http/pagination.ts';
import * as schemas from './schemas.ts';
import { existingWorkflow } from '../definitions/existing-workflow.ts';
import { readHistory, readRun } from './queries/read-run.ts';
import { runRecords } from './queries/records.ts';
import { retryRun } from './lifecycle/retry-run.ts';
import { stopRun } from './lifecycle/stop-run.ts';
import { listRuns } from './queries/list-store.ts';

const params = z.object({ run_id: pathId });

const listAllRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/runs',
  operationId: 'journeyRuns.list',
  summary: 'List the runs of all journeys, newest first',
  request: { query: schemas.RunQuery },
  responses: { 200: jsonResponse(schemas.RunList), ...errorResponses(400) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/runs',
  operationId: 'journeyRuns.listOfJourney',
  summary: 'List the runs of one journey, newest first',
  request: { params: z.object({ workflow_id: pathId }), query: schemas.WorkflowRunQuery },
  responses: { 200: jsonResponse(schemas.RunList), ...errorResponses(400, 404) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/runs/{run_id}',
  operationId: 'journeyRuns.get',
  summary: 'Get a run as it is now',
  request: { params },
  responses: { 200: jsonResponse(schemas.RunRecord), ...errorResponses(400, 404) },
});
const historyRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/runs/{run_id}/history',
  operationId: 'journeyRuns.getHistory',
  summary: 'What a run did, node by node, oldest first',
  request: { params, query: schemas.HistoryQuery },
  responses: { 200: jsonResponse(schemas.HistoryList), ...errorResponses(400, 404) },
});
const stopRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/runs/{run_id}/stop',
  operationId: 'journeyRuns.stop',
  summary: 'End a live run at once',
  request: { params },
  responses: { 200: jsonResponse(schemas.RunRecord), ...errorResponses(400, 404, 409) },
});

const retryRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/runs/{run_id}/retry',
  operationId: 'journeyRuns.retry',
  summary: 'Have a failed run go on from the node where it failed',
  request: { params, body: { ...jsonBody(schemas.RetryBody), required: false } },
  responses: { 200: jsonResponse(schemas.RunRecord), ...errorResponses(400, 404, 409) },
});

type Query = Omit<schemas.RunQuery, 'automation_workflow_id'>;

async function listRunPage(context: Context, workflowId: number | undefined, query: Query) {
  const filter = {
    workflowId,
    triggerId: query.trigger_id,
    contactId: query.contact_id,
    state: query.state,
    createdAfter: query.created_after === undefined ? undefined : Date.parse(query.created_after),
    createdBefore: query.created_before === undefined ? undefined : Date.parse(query.created_before),
    isTest: query.is_test,
  };
  const page = { limit: query.limit, offset: query.offset, after: decodeCursor(query.cursor) };
  const found = await listRuns(context.database, context.organization.id, filter, page);
  const records = await runRecords(context.bindings.FILES, found.rows);
  return toListBody('runs', query, { ...found, rows: records }, (record) => record);
}

export const runRoutes = createRouter()
  .openapi(listAllRoute, async (c) => {
    const { automation_workflow_id, ...query } = c.req.valid('query');
    return c.json(await listRunPage(c.var.context, automation_workflow_id, query), 200);
  })
  .openapi(getRoute, async (c) => c.json(await readRun(c.var.context, c.req.valid('param').run_id), 200))
  .openapi(historyRoute, async (c) => {
    const query = c.req.valid('query');
    const offset = (decodeCursor(query.cursor)?.id ?? 0) + query.offset;
    const { records, total } = await readHistory(c.var.context, c.req.valid('param').run_id, { limit: query.limit, offset });
    const seen = offset + records.length;
    const found = { rows: records, total, next: seen < total && records.length ? { value: null, id: seen } : null };
    return c.json(
      toListBody('history', query, found, (record) => record),
      200,
    );
  })
  .openapi(stopRoute, async (c) => c.json(await stopRun(c.var.context, c.req.valid('param').run_id), 200))
  .openapi(retryRoute, async (c) =>
    c.json(await retryRun(c.var.context, c.req.valid('param').run_id, c.req.valid('json').version ?? 'run'), 200),
  )
  .openapi(listRoute, async (c) => {
    const { id } = await existingWorkflow(c.var.context, c.req.valid('param').workflow_id);
    return c.json(await listRunPage(c.var.context, id, c.req.valid('query')), 200);
  });
