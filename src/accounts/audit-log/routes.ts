import { createRoute } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import { exportResponse } from '../../http/export-query.ts';
import { toListBody } from '../../http/pagination.ts';
import { createRouter, errorResponses, jsonResponse } from '../../http/router.ts';
import { exportAuditLog } from './export-audit-log.ts';
import { readAuditLog } from './read-audit-log.ts';
import { AuditExportQuery, AuditList, AuditQuery } from './schemas.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/audit-log',
  operationId: 'auditLog.list',
  summary: 'Who changed what in the organization, newest first',
  description:
    'An entry is written in the transaction of its change. A request looks at some thousand entries at most, so a page may have fewer than `limit`, even none, and a ' +
    '`next_cursor` with which to go on.',
  request: { query: AuditQuery },
  responses: { 200: jsonResponse(AuditList), ...errorResponses(400, 403) },
});
const exportRoute = createRoute({
  method: 'get',
  path: '/audit-log/export',
  operationId: 'auditLog.export',
  summary: 'Download the audit log as CSV, XLSX or JSON lines',
  request: { query: AuditExportQuery },
  responses: { 200: exportResponse('A line for each entry'), ...errorResponses(400, 403) },
});

export const auditLogRoutes = createRouter()
  .openapi(exportRoute, async (c) => {
    const response = await exportAuditLog(c.var.context, c.req.valid('query'));
    return response as Response & TypedResponse<string, 200, 'text'>;
  })
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const found = await readAuditLog(c.var.context, query);
    return c.json(
      toListBody('entries', query, found, (entry) => entry),
      200,
    );
  });
