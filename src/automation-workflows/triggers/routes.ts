import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { decodeCursor, toListBody } from '../../http/pagination.ts';
import { apiUrl } from '../../http/public-url.ts';
import { runRecords } from '../runs/queries/records.ts';
import * as schemas from './schemas.ts';
import { existingWorkflow } from '../definitions/existing-workflow.ts';
import { archiveTrigger, createTrigger, patchTrigger } from './change-trigger.ts';
import { describeTriggers, eventSamples } from './descriptions.ts';
import { fireTrigger } from './manual/fire-trigger.ts';
import { internalEvents } from '../internal-events.ts';
import { triggerRecord, webhookUrl } from './records.ts';
import { listDeliveries, readDelivery } from './webhooks/deliveries/list-deliveries.ts';
import { DeliveryDetail, DeliveryList, DeliveryQuery } from './webhooks/deliveries/schemas.ts';
import { retryDelivery } from './webhooks/retry-delivery.ts';
import { listSeenEventTypes, listTriggers } from './store.ts';

const ofWorkflow = z.object({ workflow_id: pathId });
const ofTrigger = z.object({ trigger_id: pathId });

const createTriggerRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/{workflow_id}/triggers',
  operationId: 'triggers.create',
  summary: 'Add a trigger',
  request: { params: ofWorkflow, body: jsonBody(schemas.NewTriggerBody) },
  responses: { 201: jsonResponse(schemas.TriggerRecord), ...errorResponses(400, 404, 409) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/triggers',
  operationId: 'triggers.list',
  summary: 'List the triggers of a journey',
  request: { params: ofWorkflow, query: schemas.TriggerQuery },
  responses: { 200: jsonResponse(schemas.TriggerList), ...errorResponses(400, 404) },
});
const patchRoute = createRoute({
  method: 'patch',
  path: '/automation-workflows/triggers/{trigger_id}',
  operationId: 'triggers.update',
  summary: 'Change the name, config or state of a trigger',
  request: { params: ofTrigger, body: jsonBody(schemas.TriggerPatchBody) },
  responses: { 200: jsonResponse(schemas.TriggerRecord), ...errorResponses(400, 404, 409) },
});
const archiveRoute = createRoute({
  method: 'delete',
  path: '/automation-workflows/triggers/{trigger_id}',
  operationId: 'triggers.archive',
  summary: 'Archive a trigger; it never fires again',
  request: { params: ofTrigger },
  responses: { 200: jsonResponse(schemas.TriggerRecord), ...errorResponses(400, 404) },
});
const metaRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/trigger-meta',
  operationId: 'triggers.describe',
  summary: 'What a form for triggers needs: the types with their config schemas, and what has been seen',
  request: { params: ofWorkflow },
  responses: { 200: jsonResponse(schemas.TriggerMeta), ...errorResponses(400, 404) },
});
const fireRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/{workflow_id}/triggers/{trigger_id}/fire',
  operationId: 'triggers.fire',
  summary: 'Fire a manual trigger: one run for each contact, or one without contact',
  request: { params: z.object({ workflow_id: pathId, trigger_id: pathId }), body: jsonBody(schemas.FireBody) },
  responses: { 200: jsonResponse(schemas.FireAnswer), ...errorResponses(400, 404, 409) },
});
const ofDelivery = z.object({
  workflow_id: pathId,
  trigger_id: pathId,
  delivery_id: z.string().min(1).max(255).describe('The `delivery_id` that the sender was answered.'),
});
const listDeliveriesRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/triggers/{trigger_id}/deliveries',
  operationId: 'triggers.listDeliveries',
  summary: 'List the webhook requests that a trigger has accepted, newest first, each with its run or why there is none',
  request: { params: z.object({ workflow_id: pathId, trigger_id: pathId }), query: DeliveryQuery },
  responses: { 200: jsonResponse(DeliveryList), ...errorResponses(400, 404) },
});
const getDeliveryRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/{workflow_id}/triggers/{trigger_id}/deliveries/{delivery_id}',
  operationId: 'triggers.getDelivery',
  summary: 'Get a webhook request that a trigger has accepted, with its payload and its run',
  request: { params: ofDelivery },
  responses: { 200: jsonResponse(DeliveryDetail), ...errorResponses(400, 404) },
});
const retryDeliveryRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/{workflow_id}/triggers/{trigger_id}/deliveries/{delivery_id}/retry',
  operationId: 'triggers.retryDelivery',
  summary: 'Send a webhook delivery again that was given up or is still open',
  request: { params: ofDelivery },
  responses: { 200: jsonResponse(schemas.DeliveryRetried, 'Sent again'), ...errorResponses(400, 404, 409) },
});

export const triggerRoutes = createRouter()
  .openapi(createTriggerRoute, async (c) => {
    const row = await createTrigger(c.var.context, c.req.valid('param').workflow_id, c.req.valid('json'));
    return c.json(triggerRecord(row, apiUrl(c)), 201);
  })
  .openapi(listRoute, async (c) => {
    const { status, search, ...page } = c.req.valid('query');
    const { id } = await existingWorkflow(c.var.context, c.req.valid('param').workflow_id);
    const found = await listTriggers(c.var.context.database, id, { status, search }, { ...page, after: decodeCursor(page.cursor) });
    return c.json(
      toListBody('triggers', page, found, (row) => triggerRecord(row, apiUrl(c))),
      200,
    );
  })
  .openapi(patchRoute, async (c) => {
    const row = await patchTrigger(c.var.context, c.req.valid('param').trigger_id, c.req.valid('json'));
    return c.json(triggerRecord(row, apiUrl(c)), 200);
  })
  .openapi(archiveRoute, async (c) =>
    c.json(triggerRecord(await archiveTrigger(c.var.context, c.req.valid('param').trigger_id), apiUrl(c)), 200),
  )
  .openapi(metaRoute, async (c) => {
    await existingWorkflow(c.var.context, c.req.valid('param').workflow_id);
    const meta = {
      trigger_types: describeTriggers(),
      event_types_seen: await listSeenEventTypes(c.var.context.database, c.var.context.organization.id),
      internal_events: [...internalEvents],
      internal_event_samples: eventSamples,
      webhook_url_template: webhookUrl(apiUrl(c), '{trigger_uuid}'),
    };
    return c.json(meta, 200);
  })
  .openapi(fireRoute, async (c) => {
    const { workflow_id, trigger_id } = c.req.valid('param');
    const { rows, refused } = await fireTrigger(
      c.var.context,
      workflow_id,
      trigger_id,
      c.req.valid('json'),
      c.req.header('idempotency-key'),
    );
    const refusals = refused.map(({ candidate, rule, message }) => ({ contact_id: candidate.contactId, rule, message }));
    return c.json({ triggered: rows.length, runs: await runRecords(c.env.FILES, rows), refused: refusals }, 200);
  })
  .openapi(listDeliveriesRoute, async (c) => {
    const { workflow_id, trigger_id } = c.req.valid('param');
    const query = c.req.valid('query');
    const { deliveries, nextCursor } = await listDeliveries(c.var.context, workflow_id, trigger_id, query);
    return c.json({ deliveries, limit: query.limit, next_cursor: nextCursor }, 200);
  })
  .openapi(getDeliveryRoute, async (c) => {
    const { workflow_id, trigger_id, delivery_id } = c.req.valid('param');
    return c.json(await readDelivery(c.var.context, workflow_id, trigger_id, delivery_id), 200);
  })
  .openapi(retryDeliveryRoute, async (c) => {
    const { workflow_id, trigger_id, delivery_id } = c.req.valid('param');
    await retryDelivery(c.var.context, workflow_id, trigger_id, delivery_id);
    return c.json({ delivery_id, state: 'open' as const }, 200);
  });
