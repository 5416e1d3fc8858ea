import * as schemas from '../records/schemas.ts';
import { createRoute, z } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { apiUrl } from '../../http/public-url.ts';
import { existingRun } from '../records/store.ts';
import { readAgentRun } from '../records/read-run.ts';
import { endChat, sendMessage, streamMessage } from './chat.ts';

const runParams = z.object({ workflow_id: pathId, run_id: pathId });

const messageRoute = createRoute({
  method: 'post',
  path: '/workflow/{workflow_id}/runs/{run_id}/messages',
  operationId: 'agentRuns.sendMessage',
  summary: 'Say something in a text chat; answers what the agent says',
  description: 'With `Accept: text/event-stream` the answer comes as server-sent events, word by word.',
  request: { params: runParams, body: jsonBody(schemas.MessageBody) },
  responses: {
    200: {
      description: 'Success',
      content: { 'application/json': { schema: schemas.ChatAnswer }, 'text/event-stream': { schema: z.string() } },
    },
    ...errorResponses(400, 404, 409),
  },
});
const endRoute = createRoute({
  method: 'post',
  path: '/workflow/{workflow_id}/runs/{run_id}/end',
  operationId: 'agentRuns.end',
  summary: 'End a text chat',
  request: { params: runParams },
  responses: { 200: jsonResponse(schemas.AgentRunRecordSchema), ...errorResponses(400, 404, 409) },
});

/** Messages of text chats, and their end. */
export const chatRoutes = createRouter()
  .openapi(messageRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    const { text, expected_revision } = c.req.valid('json');
    const idempotencyKey = c.req.header('idempotency-key');
    const message = { text, expectedRevision: expected_revision ?? undefined, idempotencyKey };
    await existingRun(c.var.context, agentId, runId);
    if (acceptsEventStream(c.req.header('accept')))
      return (await streamMessage(c.var.context, agentId, runId, message)) as Response & TypedResponse<string, 200, 'text'>;
    return c.json(await sendMessage(c.var.context, agentId, runId, message), 200);
  })
  .openapi(endRoute, async (c) => {
    const { workflow_id: agentId, run_id: runId } = c.req.valid('param');
    await existingRun(c.var.context, agentId, runId);
    await endChat(c.var.context, agentId, runId);
    return c.json(await readAgentRun(c.var.context, apiUrl(c), agentId, runId), 200);
  });

const acceptsEventStream = (accept: string | undefined): boolean => /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(accept ?? '');
