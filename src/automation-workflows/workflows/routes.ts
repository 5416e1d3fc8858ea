import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { decodeCursor, toListBody, pageQuery } from '../../http/pagination.ts';
import { explainEntry } from '../explain/explain.ts';
import { ExplainQuery, Explanation } from '../explain/schemas.ts';
import { describeNodeTypes } from '../nodes/registry.ts';
import { executeWorkflow, testWorkflow } from '../triggers/manual/execute-workflow.ts';
import { ExecuteBody, RunRecord, TestBody, TestRunRecord } from '../runs/schemas.ts';
import * as schemas from './schemas.ts';
import { archiveWorkflow, createWorkflow, patchWorkflow } from './change.ts';
import { existingWorkflow } from '../definitions/existing-workflow.ts';
import { definitionIssues, proposalIssues } from '../definitions/validate.ts';
import { versionRecord, workflowRecord } from './records.ts';
import { listVersions, listWorkflows } from './store.ts';
import { definitionWarnings } from './warnings.ts';

const params = z.object({ workflow_id: pathId });

const createWorkflowRoute = createRoute({
  method: 'post',
  path: '/automation-workflows',
  operationId: 'journeys.create',
  summary: 'Create a journey as a draft',
  request: { body: jsonBody(schemas.NewWorkflowBody) },
  responses: { 201: jsonResponse(schemas.WorkflowRecord), ...errorResponses(400) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/automation-workflows',
  operationId: 'journeys.list',
  summary: 'List journeys, newest first',
  request: { query: schemas.WorkflowQuery },
  responses: { 200: jsonResponse(schemas.WorkflowList), ...errorResponses(400) },
});
const nodeTypesRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/node-types',
  operationId: 'journeys.listNodeTypes',
  summary: 'Every node type with the JSON Schema of its data, its handles and an example',
  responses: { 200: jsonResponse(schemas.NodeTypeList), ...errorResponses(400) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}',
  operationId: 'journeys.get',
  summary: 'Get a journey',
  request: { params },
  responses: { 200: jsonResponse(schemas.WorkflowRecord), ...errorResponses(400, 404) },
});
const patchRoute = createRoute({
  method: 'patch',
  path: '/automation-workflows/{workflow_id}',
  operationId: 'journeys.update',
  summary: 'Change a journey or its status',
  request: { params, body: jsonBody(schemas.WorkflowPatchBody) },
  responses: { 200: jsonResponse(schemas.WorkflowRecord), ...errorResponses(400, 404, 409) },
});
const archiveRoute = createRoute({
  method: 'delete',
  path: '/automation-workflows/{workflow_id}',
  operationId: 'journeys.archive',
  summary: 'Archive a journey; its live runs are cancelled',
  request: { params },
  responses: { 200: jsonResponse(schemas.WorkflowRecord), ...errorResponses(400, 404) },
});
const versionsRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/versions',
  operationId: 'journeys.listVersions',
  summary: 'List the versions of the definition, newest first',
  request: { params, query: z.object(pageQuery) },
  responses: { 200: jsonResponse(schemas.VersionList), ...errorResponses(400, 404) },
});
const validateRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/{workflow_id}/validate',
  operationId: 'journeys.validate',
  summary: 'What would stop this definition, or the given one, from going active',
  request: { params, body: jsonBody(schemas.ValidationBody) },
  responses: { 200: jsonResponse(schemas.ValidationAnswer), ...errorResponses(400, 404) },
});
const executeRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/{workflow_id}/execute',
  operationId: 'journeys.execute',
  summary: 'Start a run now',
  request: { params, body: jsonBody(ExecuteBody) },
  responses: { 200: jsonResponse(RunRecord), ...errorResponses(400, 404, 409) },
});
const testRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/{workflow_id}/test',
  operationId: 'journeys.test',
  summary: 'Test a journey of any status; a dry run performs nothing and answers the finished run with its history',
  request: { params, body: jsonBody(TestBody) },
  responses: { 200: jsonResponse(TestRunRecord), ...errorResponses(400, 404) },
});
const explainRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/explain',
  operationId: 'journeys.explain',
  summary: 'Whether a contact would enter a journey now, by which trigger, and which rule stops it',
  request: { params, query: ExplainQuery },
  responses: { 200: jsonResponse(Explanation), ...errorResponses(400, 404) },
});

export const workflowRoutes = createRouter()
  .openapi(createWorkflowRoute, async (c) => c.json(workflowRecord(await createWorkflow(c.var.context, c.req.valid('json'))), 201))
  .openapi(listRoute, async (c) => {
    const { status, search, ...page } = c.req.valid('query');
    const { database, organization } = c.var.context;
    const found = await listWorkflows(database, organization.id, { status, search }, { ...page, after: decodeCursor(page.cursor) });
    return c.json(toListBody('automation_workflows', page, found, workflowRecord), 200);
  })
  .openapi(nodeTypesRoute, (c) => c.json({ node_types: describeNodeTypes() }, 200))
  .openapi(getRoute, async (c) => c.json(workflowRecord(await existingWorkflow(c.var.context, c.req.valid('param').workflow_id)), 200))
  .openapi(patchRoute, async (c) =>
    c.json(workflowRecord(await patchWorkflow(c.var.context, c.req.valid('param').workflow_id, c.req.valid('json'))), 200),
  )
  .openapi(archiveRoute, async (c) => c.json(workflowRecord(await archiveWorkflow(c.var.context, c.req.valid('param').workflow_id)), 200))
  .openapi(versionsRoute, async (c) => {
    const page = c.req.valid('query');
    const { id } = await existingWorkflow(c.var.context, c.req.valid('param').workflow_id);
    const found = await listVersions(c.var.context.database, id, { ...page, after: decodeCursor(page.cursor) });
    return c.json(toListBody('versions', page, found, versionRecord), 200);
  })
  .openapi(validateRoute, async (c) => {
    const row = await existingWorkflow(c.var.context, c.req.valid('param').workflow_id);
    const stored = JSON.parse(row.definition) as unknown;
    const { definition } = c.req.valid('json');
    const errors = await (definition ? proposalIssues(c.var.context, definition, stored) : definitionIssues(c.var.context, stored));
    return c.json({ valid: errors.length === 0, errors, warnings: definitionWarnings(definition ?? stored) }, 200);
  })
  .openapi(executeRoute, async (c) => {
    const input = { ...c.req.valid('json'), idempotencyKey: c.req.header('idempotency-key') };
    return c.json(await executeWorkflow(c.var.context, c.req.valid('param').workflow_id, input), 200);
  })
  .openapi(testRoute, async (c) => {
    const input = { ...c.req.valid('json'), idempotencyKey: c.req.header('idempotency-key') };
    return c.json(await testWorkflow(c.var.context, c.req.valid('param').workflow_id, input), 200);
  })
  .openapi(explainRoute, async (c) =>
    c.json(await explainEntry(c.var.context, c.req.valid('param').workflow_id, c.req.valid('query').contact_id), 200),
  );
