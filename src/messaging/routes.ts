import { createRoute } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { createRouter, errorResponses, jsonBody, jsonResponse } from '../http/router.ts';
import type { HttpEnvironment } from '../http/environment.ts';
import { toListBody } from '../http/pagination.ts';
import { apiUrl, basePath } from '../http/public-url.ts';
import { updateConfig, currentConfig } from './config/update-config.ts';
import { toConfigRecord } from './config/record.ts';
import type { ConfigRow } from './config/store.ts';
import { listMessages } from './messages/list-messages.ts';
import * as schemas from './schemas.ts';
import { toTemplateRecord } from './templates/record.ts';
import { listTemplates } from './templates/templates.ts';
import { sendTestMessage } from './messages/send-test-message.ts';

const readRoute = createRoute({
  method: 'get',
  path: '/organizations/messaging-config',
  operationId: 'messaging.getConfig',
  summary: 'Get the messaging configuration, its secrets masked',
  responses: { 200: jsonResponse(schemas.MessagingConfigRecord), ...errorResponses(400) },
});
const changeRoute = createRoute({
  method: 'post',
  path: '/organizations/messaging-config',
  operationId: 'messaging.updateConfig',
  summary: 'Select a messaging provider and give it credentials: absent fields, other providers and masked secrets stay',
  request: { body: jsonBody(schemas.MessagingConfigBody) },
  responses: { 200: jsonResponse(schemas.MessagingConfigRecord), ...errorResponses(400, 409, 413, 415) },
});
const testRoute = createRoute({
  method: 'post',
  path: '/organizations/messaging-config/test',
  operationId: 'messaging.sendTest',
  summary: 'Send one message through the selected provider',
  description: 'What keeps it from being sent is in `error` of a 200 with `success` false.',
  request: { body: jsonBody(schemas.TestMessageBody) },
  responses: { 200: jsonResponse(schemas.TestMessageResult), ...errorResponses(400, 413, 415) },
});
const templatesRoute = createRoute({
  method: 'get',
  path: '/organizations/messaging-config/messaging-app-templates',
  operationId: 'messaging.listTemplates',
  summary: 'List the approved message templates of the selected provider',
  responses: { 200: jsonResponse(schemas.TemplateList), ...errorResponses(400, 409, 502) },
});
const messagesRoute = createRoute({
  method: 'get',
  path: '/organizations/messages',
  operationId: 'messaging.listMessages',
  summary: 'List messages with what became of them, newest first',
  request: { query: schemas.MessageQuery },
  responses: { 200: jsonResponse(schemas.MessageList), ...errorResponses(400) },
});

type Request = HonoContext<HttpEnvironment>;

const requestOrigin = (c: Request): string => apiUrl(c).slice(0, -basePath.length);
const toResponse = (c: Request, row: ConfigRow | null) =>
  toConfigRecord(c.var.context, row, requestOrigin(c), c.var.caller.scopes.includes('admin'));

export const messagingRoutes = createRouter()
  .openapi(readRoute, async (c) => c.json(await toResponse(c, await currentConfig(c.var.context)), 200))
  .openapi(changeRoute, async (c) =>
    c.json(await toResponse(c, await updateConfig(c.var.context, c.req.valid('json'), requestOrigin(c))), 200),
  )
  .openapi(testRoute, async (c) => c.json(await sendTestMessage(c.var.context, c.req.valid('json'), c.req.header('idempotency-key')), 200))
  .openapi(templatesRoute, async (c) => c.json({ templates: (await listTemplates(c.var.context)).map(toTemplateRecord) }, 200))
  .openapi(messagesRoute, async (c) => {
    const query = c.req.valid('query');
    return c.json(
      toListBody('messages', query, await listMessages(c.var.context, query), (record) => record),
      200,
    );
  });
