import { createRoute } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import { apiUrl } from '../../http/public-url.ts';
import { toListBody } from '../../http/pagination.ts';
import { createRouter, errorResponses, jsonResponse } from '../../http/router.ts';
import { exportResponse } from '../../http/export-query.ts';
import { exportCalls } from './export-calls.ts';
import { listCalls } from './list-calls.ts';
import * as schemas from './schemas.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/calls',
  operationId: 'calls.list',
  summary: 'List the calls of the organization with what came of them, newest first',
  description:
    'A request looks at some thousand calls at most, along one index. So a page may have fewer calls than `limit`, even none, and a `next_cursor` with which ' +
    'to go on; `total` then counts the calls of the filter among those that were looked at, and `total_capped` is true.',
  request: { query: schemas.CallQuery },
  responses: { 200: jsonResponse(schemas.CallList), ...errorResponses(400) },
});
const exportRoute = createRoute({
  method: 'get',
  path: '/calls/export',
  operationId: 'calls.export',
  summary: 'Download all calls of a filter as CSV, XLSX or JSON lines',
  request: { query: schemas.CallExportQuery },
  responses: { 200: exportResponse('A line for each call'), ...errorResponses(400) },
});

/** The calls of the organization, whatever asked for them. */
export const callListRoutes = createRouter()
  .openapi(exportRoute, async (c) => {
    const response = await exportCalls(c.var.context, apiUrl(c), c.req.valid('query'));
    return response as Response & TypedResponse<string, 200, 'text'>;
  })
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const found = await listCalls(c.var.context, apiUrl(c), query);
    return c.json(
      toListBody('calls', query, found, (call) => call),
      200,
    );
  });
