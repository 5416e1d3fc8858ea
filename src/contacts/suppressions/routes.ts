import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { toListBody } from '../../http/pagination.ts';
import { nullableTimestamp, toTimestamp } from '../../library/time/clock.ts';
import * as schemas from './schemas.ts';
import type { SuppressionRow } from './store.ts';
import { addSuppression, deleteSuppression, deleteSuppressionByPhone, listSuppressions } from './suppressions.ts';

const listRoute = createRoute({
  method: 'get',
  path: '/contacts/suppressions',
  operationId: 'suppressions.list',
  summary: 'List phone numbers that must not be called, newest first',
  request: { query: schemas.SuppressionQuery },
  responses: { 200: jsonResponse(schemas.SuppressionList), ...errorResponses(400) },
});
const addRoute = createRoute({
  method: 'post',
  path: '/contacts/suppressions',
  operationId: 'suppressions.create',
  summary: 'Suppress a phone number: no call goes to it, for good or until a moment',
  description: 'A number that is suppressed already is suppressed for the longer of the two times. To shorten it, delete it first.',
  request: { body: jsonBody(schemas.SuppressionBody) },
  responses: { 200: jsonResponse(schemas.SuppressionRecord), ...errorResponses(400, 413, 415) },
});
const deleteByPhoneRoute = createRoute({
  method: 'delete',
  path: '/contacts/suppressions',
  operationId: 'suppressions.deleteByPhone',
  summary: 'Allow calls to a phone number again',
  request: { query: schemas.PhoneQuery },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});
const deleteRoute = createRoute({
  method: 'delete',
  path: '/contacts/suppressions/{suppression_id}',
  operationId: 'suppressions.delete',
  summary: 'Delete a suppression; calls to its number are allowed again',
  request: { params: z.object({ suppression_id: pathId }) },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});

const toSuppressionRecord = (row: SuppressionRow): z.infer<typeof schemas.SuppressionRecord> => ({
  id: row.id,
  phone: row.phone,
  reason: row.reason,
  until: nullableTimestamp(row.until),
  created_at: toTimestamp(row.created_at),
});

export const suppressionRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    return c.json(toListBody('suppressions', query, await listSuppressions(c.var.context, query), toSuppressionRecord), 200);
  })
  .openapi(addRoute, async (c) => c.json(toSuppressionRecord(await addSuppression(c.var.context, c.req.valid('json'))), 200))
  .openapi(deleteByPhoneRoute, async (c) => {
    await deleteSuppressionByPhone(c.var.context, c.req.valid('query').phone);
    return c.json({ status: 'deleted' as const }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteSuppression(c.var.context, c.req.valid('param').suppression_id);
    return c.json({ status: 'deleted' as const }, 200);
  });
