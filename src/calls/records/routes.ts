import { startRun } from '../start-run.ts';
import * as schemas from './schemas.ts';
import { createRoute, z } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { decodeCursor, toListBody } from '../../http/pagination.ts';
import { apiUrl } from '../../http/public-url.ts';
import { existingAgent } from '../../voice-agents/agents/find-agents.ts';
import { createDownloadLink } from './download-link.ts';
import { existingRun } from './store.ts';
import { listAgentRuns } from './list-store.ts';
import { readAgentRun, toAgentRunRecords } from './read-run.ts';
import { requireArtifact, sendArtifact } from './send-artifact.ts';

const agentParams = z.object({ workflow_id: pathId });
const runParams = z.object({ workflow_id: pathId, run_id: pathId });

const startRoute = createRoute({
  method: 'post',
  path: '/workflow/{workflow_id}/runs',
  operationId: 'agentRuns.create',
  summary: 'Call a person, or begin a text chat',
  description:
    'A call is placed as soon as a call slot of the organization is free. Without a telephony configuration: 409 `telephony_not_configured`.',
  request: { params: agentParams, body: jsonBody(schemas.StartRunBody) },
  responses: { 200: jsonResponse(schemas.AgentRunRecordSchema), ...errorResponses(400, 404, 409) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/runs',
  operationId: 'agentRuns.list',
  summary: 'List the calls and chats of a voice agent, newest first',
  request: { params: agentParams, query: schemas.AgentRunQuery },
  responses: { 200: jsonResponse(schemas.AgentRunList), ...errorResponses(400, 404) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/runs/{run_id}',
  operationId: 'agentRuns.get',
  summary: 'Get a call or chat as it is now, with its logs',
  request: { params: runParams },
  responses: { 200: jsonResponse(schemas.AgentRunRecordSchema), ...errorResponses(400, 404) },
});
const transcriptRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/runs/{run_id}/transcript',
  operationId: 'agentRuns.getTranscript',
  summary: 'What was said, as text or JSON',
  request: { params: runParams, query: schemas.TranscriptQuery },
  responses: {
    200: {
      description: 'One utterance a line; with `format=json` application/json, `{ utterances: [{ speaker, text, at, node_id, is_cut }] }`',
      content: { 'text/plain': { schema: z.string() } },
    },
    ...errorResponses(400, 404),
  },
});
const recordingRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/runs/{run_id}/recording',
  operationId: 'agentRuns.getRecording',
  summary: 'The recording of a call',
  request: { params: runParams },
  responses: {
    200: {
      description: 'The sound; one range of its bytes where a Range header asks for it (206)',
      content: { 'application/octet-stream': { schema: z.string() } },
    },
    ...errorResponses(400, 404),
  },
});
const downloadRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/runs/{run_id}/download',
  operationId: 'agentRuns.getDownloadLink',
  summary: 'A link to a transcript or recording that works without credentials until it expires',
  request: { params: runParams, query: schemas.DownloadQuery },
  responses: { 200: jsonResponse(schemas.DownloadLink), ...errorResponses(400, 404) },
});

/** Starts, lists and reads the calls and chats of an agent. */
export const agentRunRoutes = createRouter()
  .openapi(startRoute, async (c) => {
    const { workflow_id: agentId } = c.req.valid('param');
    return c.json(await startRun(c.var.context, apiUrl(c), agentId, c.req.valid('json'), c.req.header('idempotency-key')), 200);
  })
  .openapi(listRoute, async (c) => {
    const { is_completed: isCompleted, ...page } = c.req.valid('query');
    const agent = await existingAgent(c.var.context, c.req.valid('param').workflow_id);
    const found = await listAgentRuns(c.var.context, agent, { isCompleted }, { ...page, after: decodeCursor(page.cursor) });
    const records = await toAgentRunRecords(c.var.context, apiUrl(c), found.rows);
    return c.json(
      toListBody('runs', page, { ...found, rows: records }, (record) => record),
      200,
    );
  })
  .openapi(getRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    return c.json(await readAgentRun(c.var.context, apiUrl(c), agentId, runId), 200);
  })
  .openapi(transcriptRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    const { format } = c.req.valid('query');
    requireArtifact(await existingRun(c.var.context, agentId, runId), 'transcript');
    const artifactRequest = { organizationId: c.var.context.organization.id, runId, artifact: 'transcript', format } as const;
    return (await sendArtifact(c.env, artifactRequest, c.req.raw)) as Response & TypedResponse<string, 200, 'text'>;
  })
  .openapi(recordingRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    requireArtifact(await existingRun(c.var.context, agentId, runId), 'recording');
    return sendArtifact(c.env, { organizationId: c.var.context.organization.id, runId, artifact: 'recording' }, c.req.raw);
  })
  .openapi(downloadRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    const { artifact, expires_in: expiresInSeconds } = c.req.valid('query');
    return c.json(await createDownloadLink(c.var.context, apiUrl(c), { agentId, runId, artifact, expiresInSeconds }), 200);
  });
