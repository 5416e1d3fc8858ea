import { createRoute, z } from '@hono/zod-openapi';
import { findContacts } from '../../contacts/contacts/find-contacts.ts';
import { decodeCursor, listSchema, pageQuery, toListBody } from '../../http/pagination.ts';
import { apiUrl } from '../../http/public-url.ts';
import { createRouter, errorResponses, jsonResponse, pathId } from '../../http/router.ts';
import { notFound } from '../../library/errors.ts';
import { AgentRunRecordSchema } from './schemas.ts';
import { listContactCalls } from './list-contact-calls.ts';

const contactCallsRoute = createRoute({
  method: 'get',
  path: '/contacts/{contact_id}/calls',
  operationId: 'contacts.listCalls',
  summary: 'Voice calls placed to the contact, newest first',
  request: { params: z.object({ contact_id: pathId }), query: z.object(pageQuery) },
  responses: { 200: jsonResponse(listSchema('calls', AgentRunRecordSchema)), ...errorResponses(400, 404) },
});

export const contactCallRoutes = createRouter().openapi(contactCallsRoute, async (c) => {
  const { context } = c.var;
  const { contact_id } = c.req.valid('param');
  const query = c.req.valid('query');
  if (!(await findContacts(context, [contact_id])).size) throw notFound('Contact');
  const page = { limit: query.limit, offset: query.offset, after: decodeCursor(query.cursor) };
  const found = await listContactCalls(context, apiUrl(c), contact_id, page);
  return c.json(
    toListBody('calls', query, found, (record) => record),
    200,
  );
});
