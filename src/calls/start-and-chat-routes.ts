import { createRoute, z } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { apiUrl } from '../http/public-url.ts';
import { existingRun } from './records/existing-run.ts';
import { readAgentRun } from './records/read-run.ts';
import { startRun } from './start-run.ts';
import * as schemas from '../voice-agents/schemas.ts';
import { endChat } from './text-chat/end-chat.ts';
import { sendMessage, streamMessage } from './text-chat/send-message.ts';

const runParams = z.object({ workflow_id: pathId, run_id: pathId });

const startRoute = createRoute({
  method: 'post',
  path: '/workflow/{workflow_id}/runs',
  operationId: 'agentRuns.create',
  summary: 'Call a person, or begin a text chat',
  description:
    'A call is placed as soon as a call slot of the organization is free. Without a telephony configuration: 409 `telephony_not_configured`.',
  request: { params: z.object({ workflow_id: pathId }), body: jsonBody(schemas.StartRunBody) },
  responses: { 200: jsonResponse(schemas.AgentRunRecordSchema), ...errorResponses(400, 404, 409) },
});
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

/** What begins a run and talks in it. */
export const startAndChatRoutes = createRouter()
  .openapi(startRoute, async (c) => {
    const { workflow_id: agentId } = c.req.valid('param');
    return c.json(await startRun(c.var.context, apiUrl(c), agentId, c.req.valid('json'), c.req.header('idempotency-key')), 200);
  })
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
