import { createRoute, z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import type { HttpEnvironment } from '../http/environment.ts';
import { toListBody } from '../http/pagination.ts';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { nullableTimestamp } from '../library/time/clock.ts';
import { existingDelivery, listDeliveries, replayDeliveries, replayDelivery, sendTestEvent } from './deliveries/deliveries.ts';
import type { MessageRow } from './deliveries/store.ts';
import * as endpoints from './endpoints/change-endpoint.ts';
import { toDeliveryRecord, toEndpointRecord } from './records.ts';
import * as schemas from './schemas.ts';

const params = z.object({ endpoint_id: pathId });
const deliveryParams = z.object({ endpoint_id: pathId, delivery_id: pathId });

const createEndpointRoute = createRoute({
  method: 'post',
  path: '/webhook-endpoints',
  operationId: 'webhookEndpoints.create',
  summary: 'Create a webhook endpoint; its secret is shown this once',
  description: 'It is told of what happens from now on. Each type of event stands in `webhooks` of this document.',
  request: { body: jsonBody(schemas.NewEndpointBody) },
  responses: { 200: jsonResponse(schemas.EndpointWithSecretRecord), ...errorResponses(400, 409, 413, 415) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/webhook-endpoints',
  operationId: 'webhookEndpoints.list',
  summary: 'List webhook endpoints, newest first, with warnings where deliveries fail',
  request: { query: schemas.EndpointQuery },
  responses: { 200: jsonResponse(schemas.EndpointList), ...errorResponses(400) },
});
const getRoute = createRoute({
  method: 'get',
  path: '/webhook-endpoints/{endpoint_id}',
  operationId: 'webhookEndpoints.get',
  summary: 'Get a webhook endpoint, with a warning where deliveries fail',
  request: { params },
  responses: { 200: jsonResponse(schemas.EndpointRecord), ...errorResponses(400, 404) },
});
const patchRoute = createRoute({
  method: 'patch',
  path: '/webhook-endpoints/{endpoint_id}',
  operationId: 'webhookEndpoints.update',
  summary: 'Change the address, events or description of a webhook endpoint: absent fields stay',
  description: 'Deliveries that are pending go to the new address.',
  request: { params, body: jsonBody(schemas.EndpointPatchBody) },
  responses: { 200: jsonResponse(schemas.EndpointRecord), ...errorResponses(400, 404, 413, 415) },
});
const rotateRoute = createRoute({
  method: 'post',
  path: '/webhook-endpoints/{endpoint_id}/secret/rotate',
  operationId: 'webhookEndpoints.rotateSecret',
  summary: 'Give a webhook endpoint a new secret, which is shown this once; the one before signs as well for a while',
  request: { params, body: jsonBody(schemas.RotateBody) },
  responses: { 200: jsonResponse(schemas.EndpointWithSecretRecord), ...errorResponses(400, 404, 413, 415) },
});
const pauseRoute = createRoute({
  method: 'post',
  path: '/webhook-endpoints/{endpoint_id}/pause',
  operationId: 'webhookEndpoints.pause',
  summary: 'Pause a webhook endpoint: its events wait, for WEBHOOK_DELIVERY_DAYS at most',
  description: 'A disabled endpoint stays disabled.',
  request: { params },
  responses: { 200: jsonResponse(schemas.EndpointRecord), ...errorResponses(400, 404) },
});
const resumeRoute = createRoute({
  method: 'post',
  path: '/webhook-endpoints/{endpoint_id}/resume',
  operationId: 'webhookEndpoints.resume',
  summary: 'Resume a paused or disabled webhook endpoint; what waits for it is sent',
  request: { params },
  responses: { 200: jsonResponse(schemas.EndpointRecord), ...errorResponses(400, 404) },
});
const testRoute = createRoute({
  method: 'post',
  path: '/webhook-endpoints/{endpoint_id}/test',
  operationId: 'webhookEndpoints.sendTest',
  summary: 'Send a test event to a webhook endpoint, whatever events it wants',
  description: 'The delivery is pending at first. Read it again to see what the receiver answered.',
  request: { params },
  responses: { 200: jsonResponse(schemas.DeliveryRecord), ...errorResponses(400, 404, 409) },
});
const listDeliveriesRoute = createRoute({
  method: 'get',
  path: '/webhook-endpoints/{endpoint_id}/deliveries',
  operationId: 'webhookEndpoints.listDeliveries',
  summary: 'List the deliveries of a webhook endpoint, newest first, with each attempt',
  description: 'They are kept for WEBHOOK_DELIVERY_DAYS. A filter other than `from` and `to` looks at the newest 10,000 of the time.',
  request: { params, query: schemas.DeliveryQuery },
  responses: { 200: jsonResponse(schemas.DeliveryList), ...errorResponses(400, 404) },
});
const getDeliveryRoute = createRoute({
  method: 'get',
  path: '/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}',
  operationId: 'webhookEndpoints.getDelivery',
  summary: 'Get a delivery with each attempt and what the receiver answered',
  request: { params: deliveryParams },
  responses: { 200: jsonResponse(schemas.DeliveryRecord), ...errorResponses(400, 404) },
});
const replayDeliveryRoute = createRoute({
  method: 'post',
  path: '/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}/replay',
  operationId: 'webhookEndpoints.replayDelivery',
  summary: 'Send a delivery that has ended once more, under the same event id',
  request: { params: deliveryParams },
  responses: { 200: jsonResponse(schemas.DeliveryRecord), ...errorResponses(400, 404, 409) },
});
const replayRoute = createRoute({
  method: 'post',
  path: '/webhook-endpoints/{endpoint_id}/replay',
  operationId: 'webhookEndpoints.replay',
  summary: 'Send the deliveries of a range of time once more, the failed ones unless `status` says otherwise',
  description:
    'A request looks at 5,000 deliveries; `next_from` says where the next one goes on. Of each record, events are sent in order.',
  request: { params, body: jsonBody(schemas.ReplayBody) },
  responses: { 200: jsonResponse(schemas.ReplayRecord), ...errorResponses(400, 404, 413, 415) },
});
const deleteRoute = createRoute({
  method: 'delete',
  path: '/webhook-endpoints/{endpoint_id}',
  operationId: 'webhookEndpoints.delete',
  summary: 'Delete a webhook endpoint with its deliveries; nothing more is sent to it',
  request: { params },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});

const deliveryRecord = (c: HonoContext<HttpEnvironment>, row: MessageRow) => toDeliveryRecord(row, c.var.settings.PUBLIC_URL);

export const webhookEndpointRoutes = createRouter()
  .openapi(createEndpointRoute, async (c) => {
    const { row, secret } = await endpoints.createEndpoint(c.var.context, c.req.valid('json'));
    return c.json({ ...toEndpointRecord(row), secret }, 200);
  })
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    return c.json(toListBody('webhook_endpoints', query, await endpoints.listEndpoints(c.var.context, query), toEndpointRecord), 200);
  })
  .openapi(getRoute, async (c) =>
    c.json(toEndpointRecord(await endpoints.existingEndpoint(c.var.context, c.req.valid('param').endpoint_id)), 200),
  )
  .openapi(patchRoute, async (c) =>
    c.json(toEndpointRecord(await endpoints.updateEndpoint(c.var.context, c.req.valid('param').endpoint_id, c.req.valid('json'))), 200),
  )
  .openapi(rotateRoute, async (c) => {
    const { overlap_seconds: overlap } = c.req.valid('json');
    const { row, secret } = await endpoints.rotateSecret(c.var.context, c.req.valid('param').endpoint_id, overlap);
    return c.json({ ...toEndpointRecord(row), secret }, 200);
  })
  .openapi(pauseRoute, async (c) =>
    c.json(toEndpointRecord(await endpoints.pauseEndpoint(c.var.context, c.req.valid('param').endpoint_id)), 200),
  )
  .openapi(resumeRoute, async (c) =>
    c.json(toEndpointRecord(await endpoints.resumeEndpoint(c.var.context, c.req.valid('param').endpoint_id)), 200),
  )
  .openapi(testRoute, async (c) => c.json(deliveryRecord(c, await sendTestEvent(c.var.context, c.req.valid('param').endpoint_id)), 200))
  .openapi(listDeliveriesRoute, async (c) => {
    const query = c.req.valid('query');
    const found = await listDeliveries(c.var.context, c.req.valid('param').endpoint_id, query);
    return c.json(
      toListBody('deliveries', query, found, (row) => deliveryRecord(c, row)),
      200,
    );
  })
  .openapi(getDeliveryRoute, async (c) => {
    const { endpoint_id, delivery_id } = c.req.valid('param');
    return c.json(deliveryRecord(c, await existingDelivery(c.var.context, endpoint_id, delivery_id)), 200);
  })
  .openapi(replayDeliveryRoute, async (c) => {
    const { endpoint_id, delivery_id } = c.req.valid('param');
    return c.json(deliveryRecord(c, await replayDelivery(c.var.context, endpoint_id, delivery_id)), 200);
  })
  .openapi(replayRoute, async (c) => {
    const { from, to, status } = c.req.valid('json');
    const range = { from, to, status: status === 'all' ? null : status };
    const { replayed, nextFrom } = await replayDeliveries(c.var.context, c.req.valid('param').endpoint_id, range);
    return c.json({ replayed, next_from: nullableTimestamp(nextFrom) }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    await endpoints.deleteEndpoint(c.var.context, c.req.valid('param').endpoint_id);
    return c.json({ status: 'deleted' as const }, 200);
  });
