import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { toListBody } from '../../http/pagination.ts';
import { systemClock } from '../../library/time/clock.ts';
import { archiveApiKey, listApiKeys, mintApiKey, reactivateApiKey } from './api-keys.ts';
import { apiKeyRecord } from '../records.ts';
import { ApiKeyBody, ApiKeyList, ApiKeyQuery, ApiKeyRecord, NewApiKeyRecord } from '../schemas.ts';

const request = { params: z.object({ id: pathId }) };

const mintRoute = createRoute({
  method: 'post',
  path: '/user/api-keys',
  operationId: 'apiKeys.create',
  summary: 'Mint an API key; its text is shown this once',
  request: { body: jsonBody(ApiKeyBody) },
  responses: { 200: jsonResponse(NewApiKeyRecord), ...errorResponses(400, 403, 413, 415) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/user/api-keys',
  operationId: 'apiKeys.list',
  summary: 'List API keys',
  request: { query: ApiKeyQuery },
  responses: { 200: jsonResponse(ApiKeyList), ...errorResponses(400, 403) },
});
const archiveRoute = createRoute({
  method: 'delete',
  path: '/user/api-keys/{id}',
  operationId: 'apiKeys.revoke',
  summary: 'Revoke an API key; it stops working within 5 seconds',
  request,
  responses: { 200: jsonResponse(ApiKeyRecord), ...errorResponses(400, 403, 404) },
});
const reactivateRoute = createRoute({
  method: 'put',
  path: '/user/api-keys/{id}/reactivate',
  operationId: 'apiKeys.reactivate',
  summary: 'Make a revoked API key work again',
  request,
  responses: { 200: jsonResponse(ApiKeyRecord), ...errorResponses(400, 403, 404, 409) },
});

export const apiKeyRoutes = createRouter()
  .openapi(mintRoute, async (c) => {
    const { row, key } = await mintApiKey(c.var.context, c.var.caller, c.req.valid('json'));
    return c.json({ ...apiKeyRecord(row, systemClock()), api_key: key }, 200);
  })
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const found = await listApiKeys(c.var.context, query);
    const now = systemClock();
    return c.json(
      toListBody('api_keys', query, found, (row) => apiKeyRecord(row, now)),
      200,
    );
  })
  .openapi(archiveRoute, async (c) => c.json(apiKeyRecord(await archiveApiKey(c.var.context, c.req.valid('param').id), systemClock()), 200))
  .openapi(reactivateRoute, async (c) =>
    c.json(apiKeyRecord(await reactivateApiKey(c.var.context, c.var.caller, c.req.valid('param').id), systemClock()), 200),
  );
