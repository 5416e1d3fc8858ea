import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { pageQuery, toListBody } from '../http/pagination.ts';
import { acceptEvent } from './accept.ts';
import { retryEvent } from './handling.ts';
import { listContactEvents, listEvents } from './list.ts';
import { toEventRecords } from './records.ts';
import { EventAccepted, EventBody, EventList, EventQuery, EventRetried } from './schemas.ts';

const acceptRoute = createRoute({
  method: 'post',
  path: '/events',
  operationId: 'events.create',
  summary: 'Ingest an event; matching journeys follow asynchronously, each exactly once',
  request: { body: jsonBody(EventBody) },
  responses: { 201: jsonResponse(EventAccepted, 'Stored'), ...errorResponses(400, 413, 415) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/events',
  operationId: 'events.list',
  summary: 'List events, newest first',
  request: { query: EventQuery },
  responses: { 200: jsonResponse(EventList), ...errorResponses(400) },
});
const retryRoute = createRoute({
  method: 'post',
  path: '/events/{event_id}/retry',
  operationId: 'events.retry',
  summary: 'Send an event again that was given up or is still open',
  request: { params: z.object({ event_id: pathId }) },
  responses: { 200: jsonResponse(EventRetried, 'Sent again'), ...errorResponses(400, 404, 409) },
});

const contactEventsRoute = createRoute({
  method: 'get',
  path: '/contacts/{contact_id}/events',
  operationId: 'contacts.listEvents',
  summary: 'Inbound events of the contact, newest first',
  request: { params: z.object({ contact_id: pathId }), query: z.object(pageQuery) },
  responses: { 200: jsonResponse(EventList), ...errorResponses(400, 404) },
});

export const eventRoutes = createRouter()
  .openapi(acceptRoute, async (c) => {
    const body = c.req.valid('json');
    const { id, contactId } = await acceptEvent(c.var.context, { ...body, event_id: body.event_id ?? c.req.header('idempotency-key') });
    return c.json({ event_id: id, contact_id: contactId, triggered_workflows: 0 as const }, 201);
  })
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    const found = await listEvents(c.var.context, query);
    const records = await toEventRecords(c.env.FILES, found.rows);
    return c.json(
      toListBody('events', query, { ...found, rows: records }, (record) => record),
      200,
    );
  })
  .openapi(retryRoute, async (c) => {
    const { event_id } = c.req.valid('param');
    await retryEvent(c.var.context, event_id);
    return c.json({ event_id, state: 'open' as const }, 200);
  })
  .openapi(contactEventsRoute, async (c) => {
    const page = c.req.valid('query');
    const found = await listContactEvents(c.var.context, c.req.valid('param').contact_id, page);
    return c.json(
      toListBody('events', page, found, (record) => record),
      200,
    );
  });
