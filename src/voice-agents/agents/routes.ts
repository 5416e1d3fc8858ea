import * as schemas from './schemas.ts';
import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { decodeCursor, toListBody } from '../../http/pagination.ts';
import { listAgents } from './store.ts';
import { changeAgent, changeVerifiedAgent, setAgentStatus } from './change-agent.ts';
import { createAgent } from './create-agent.ts';
import { existingAgentWithDefinition } from './find-agents.ts';
import { findProposedIssues, findStoredIssues } from './prepare-definition.ts';
import { toAgentRecord, toListedAgent } from './records.ts';
import { findDefinitionWarnings } from '../definition/warnings.ts';

const agentParams = z.object({ workflow_id: pathId });

const createAgentRoute = createRoute({
  method: 'post',
  path: '/workflow/create/definition',
  operationId: 'agents.create',
  summary: 'Create a voice agent; any definition is stored, and a sound one may be called at once',
  request: { body: jsonBody(schemas.NewAgentBody) },
  responses: { 200: jsonResponse(schemas.AgentRecord), ...errorResponses(400) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/workflow',
  operationId: 'agents.list',
  summary: 'List voice agents, newest first; archived ones with status=archived',
  request: { query: schemas.AgentQuery },
  responses: { 200: jsonResponse(schemas.AgentList), ...errorResponses(400) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}',
  operationId: 'agents.get',
  summary: 'Get a voice agent',
  request: { params: agentParams },
  responses: { 200: jsonResponse(schemas.AgentRecord), ...errorResponses(400, 404) },
});
const changeRoute = createRoute({
  method: 'put',
  path: '/workflow/{workflow_id}',
  operationId: 'agents.update',
  summary: 'Change a voice agent: absent fields stay, null clears',
  description:
    'A changed definition becomes a new one with an id of its own, on which runs begin from now on; an equal one changes nothing. `workflow_configurations` are changed key by key. With `require_verified` the answer comes when the `required_tests` have ended, at the latest after VERIFY_WAIT_SECONDS.',
  request: { params: agentParams, body: jsonBody(schemas.AgentChangeBody) },
  responses: { 200: jsonResponse(schemas.AgentRecord), ...errorResponses(400, 404, 409) },
});
const statusRoute = createRoute({
  method: 'put',
  path: '/workflow/{workflow_id}/status',
  operationId: 'agents.setStatus',
  summary: 'Archive or restore a voice agent',
  description: 'An archived agent takes no calls, and its campaigns pause. History and definition are kept.',
  request: { params: agentParams, body: jsonBody(schemas.AgentStatusBody) },
  responses: { 200: jsonResponse(schemas.AgentRecord), ...errorResponses(400, 404, 409) },
});
const validateRoute = createRoute({
  method: 'post',
  path: '/workflow/{workflow_id}/validate',
  operationId: 'agents.validate',
  summary: 'What is wrong with the definition of a voice agent, or with the given one',
  request: { params: agentParams, body: { ...jsonBody(schemas.AgentValidationBody), required: false } },
  responses: { 200: jsonResponse(schemas.AgentValidation), ...errorResponses(400, 404) },
});

export const agentRoutes = createRouter()
  .openapi(createAgentRoute, async (c) => {
    const { context } = c.var;
    return c.json(await toAgentRecord(context, await createAgent(context, c.req.valid('json'))), 200);
  })
  .openapi(listRoute, async (c) => {
    const { status, search, ...page } = c.req.valid('query');
    const { database, organization } = c.var.context;
    const found = await listAgents(database, organization.id, { status, search }, { ...page, after: decodeCursor(page.cursor) });
    return c.json(toListBody('workflows', page, found, toListedAgent), 200);
  })
  .openapi(getRoute, async (c) => {
    const { context } = c.var;
    return c.json(await toAgentRecord(context, await existingAgentWithDefinition(context, c.req.valid('param').workflow_id)), 200);
  })
  .openapi(changeRoute, async (c) => {
    const { require_verified: isVerified, ...input } = c.req.valid('json');
    const change = isVerified ? changeVerifiedAgent : changeAgent;
    const { context } = c.var;
    return c.json(await toAgentRecord(context, await change(context, c.req.valid('param').workflow_id, input)), 200);
  })
  .openapi(statusRoute, async (c) => {
    const { context } = c.var;
    const agent = await setAgentStatus(context, c.req.valid('param').workflow_id, c.req.valid('json').status);
    return c.json(await toAgentRecord(context, agent), 200);
  })
  .openapi(validateRoute, async (c) => {
    const { workflow_definition: stored } = await existingAgentWithDefinition(c.var.context, c.req.valid('param').workflow_id);
    const { workflow_definition: proposed } = c.req.valid('json');
    const errors = await (proposed ? findProposedIssues(c.var.context, proposed, stored) : findStoredIssues(c.var.context, stored));
    return c.json({ valid: errors.length === 0, errors, warnings: findDefinitionWarnings(proposed ?? stored) }, 200);
  });
