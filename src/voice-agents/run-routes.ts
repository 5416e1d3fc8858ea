import { createRoute, z } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import { createArea, errorResponses, jsonResponse, pathId } from '../http/area.ts';
import { decodeCursor, envelope } from '../http/pagination.ts';
import { apiUrl } from '../http/public-url.ts';
import { existingAgent } from './agents/existing-agent.ts';
import { downloadLink } from './runs/download-link.ts';
import { existingRun } from './runs/existing-run.ts';
import { listRuns } from './runs/list-store.ts';
import { readRun, runRecords } from './runs/read.ts';
import { requireArtifact, sendArtifact } from './runs/send-artifact.ts';
import * as schemas from './schemas.ts';

const agentParams = z.object({ workflow_id: pathId });
const runParams = z.object({ workflow_id: pathId, run_id: pathId });

const listRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/runs',
  operationId: 'agentRuns.list',
  summary: 'List the calls and chats of a voice agent, newest first',
  request: { params: agentParams, query: schemas.RunQuery },
  responses: { 200: jsonResponse(schemas.RunList), ...errorResponses(400, 404) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/workflow/{workflow_id}/runs/{run_id}',
  operationId: 'agentRuns.get',
  summary: 'Get a call or chat as it is now, with its logs',
  request: { params: runParams },
  responses: { 200: jsonResponse(schemas.RunRecordSchema), ...errorResponses(400, 404) },
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

export const runRoutes = createArea()
  .openapi(listRoute, async (c) => {
    const { is_completed: isCompleted, ...page } = c.req.valid('query');
    const agent = await existingAgent(c.var.context, c.req.valid('param').workflow_id);
    const found = await listRuns(c.var.context, agent, { isCompleted }, { ...page, after: decodeCursor(page.cursor) });
    const records = await runRecords(c.var.context, apiUrl(c), found.rows);
    return c.json(
      envelope('runs', page, { ...found, rows: records }, (record) => record),
      200,
    );
  })
  .openapi(getRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    return c.json(await readRun(c.var.context, apiUrl(c), agentId, runId), 200);
  })
  .openapi(transcriptRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    const { format } = c.req.valid('query');
    requireArtifact(await existingRun(c.var.context, agentId, runId), 'transcript');
    const wanted = { organizationId: c.var.context.organization.id, runId, artifact: 'transcript', format } as const;
    return (await sendArtifact(c.env, wanted, c.req.raw)) as Response & TypedResponse<string, 200, 'text'>;
  })
  .openapi(recordingRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    requireArtifact(await existingRun(c.var.context, agentId, runId), 'recording');
    return sendArtifact(c.env, { organizationId: c.var.context.organization.id, runId, artifact: 'recording' }, c.req.raw);
  })
  .openapi(downloadRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    const { artifact, expires_in: expiresInSeconds } = c.req.valid('query');
    return c.json(await downloadLink(c.var.context, apiUrl(c), { agentId, runId, artifact, expiresInSeconds }), 200);
  });
