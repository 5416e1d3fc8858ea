import { createRoute, z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import type { HttpEnvironment } from '../http/environment.ts';
import { toListBody } from '../http/pagination.ts';
import { apiUrl, basePath } from '../http/public-url.ts';
import { changeConfig, createConfig, deleteConfig, existingConfig, listConfigs } from './change-config.ts';
import { toTelephonyConfigRecord } from './config-record.ts';
import * as schemas from './schemas.ts';
import type { TelephonyConfigRow } from './store.ts';

const configParams = z.object({ config_id: pathId });

const listRoute = createRoute({
  method: 'get',
  path: '/organizations/telephony-configs',
  operationId: 'telephonyConfigs.list',
  summary: 'List telephony configurations, newest first, their secrets masked',
  request: { query: schemas.TelephonyConfigQuery },
  responses: { 200: jsonResponse(schemas.TelephonyConfigList), ...errorResponses(400) },
});
const createConfigRoute = createRoute({
  method: 'post',
  path: '/organizations/telephony-configs',
  operationId: 'telephonyConfigs.create',
  summary: 'Connect a carrier account with the numbers that it calls from',
  request: { body: jsonBody(schemas.NewTelephonyConfigBody) },
  responses: { 200: jsonResponse(schemas.TelephonyConfigRecord), ...errorResponses(400, 404, 409, 413, 415) },
});
const readRoute = createRoute({
  method: 'get',
  path: '/organizations/telephony-configs/{config_id}',
  operationId: 'telephonyConfigs.get',
  summary: 'Get a telephony configuration, its secrets masked',
  request: { params: configParams },
  responses: { 200: jsonResponse(schemas.TelephonyConfigRecord), ...errorResponses(400, 404) },
});
const patchRoute = createRoute({
  method: 'patch',
  path: '/organizations/telephony-configs/{config_id}',
  operationId: 'telephonyConfigs.update',
  summary: 'Change a telephony configuration: absent fields and masked secrets stay',
  request: { params: configParams, body: jsonBody(schemas.TelephonyConfigPatchBody) },
  responses: { 200: jsonResponse(schemas.TelephonyConfigRecord), ...errorResponses(400, 404, 409, 413, 415) },
});
const deleteRoute = createRoute({
  method: 'delete',
  path: '/organizations/telephony-configs/{config_id}',
  operationId: 'telephonyConfigs.delete',
  summary: 'Delete a telephony configuration; the oldest that is left becomes the default when it was it',
  request: { params: configParams },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});

type HttpContext = HonoContext<HttpEnvironment>;

const requestOrigin = (c: HttpContext): string => apiUrl(c).slice(0, -basePath.length);
const toRecord = (c: HttpContext, row: TelephonyConfigRow) => toTelephonyConfigRecord(c.var.context, row, apiUrl(c));
const identity = <T>(record: T) => record;

export const telephonyConfigRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const found = await listConfigs(c.var.context, query);
    const records = await Promise.all(found.rows.map((row) => toRecord(c, row)));
    return c.json(toListBody('telephony_configs', query, { ...found, rows: records }, identity), 200);
  })
  .openapi(createConfigRoute, async (c) =>
    c.json(await toRecord(c, await createConfig(c.var.context, c.req.valid('json'), requestOrigin(c))), 200),
  )
  .openapi(readRoute, async (c) => c.json(await toRecord(c, await existingConfig(c.var.context, c.req.valid('param').config_id)), 200))
  .openapi(patchRoute, async (c) => {
    const { config_id } = c.req.valid('param');
    return c.json(await toRecord(c, await changeConfig(c.var.context, config_id, c.req.valid('json'), requestOrigin(c))), 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteConfig(c.var.context, c.req.valid('param').config_id);
    return c.json({ status: 'deleted' as const }, 200);
  });
