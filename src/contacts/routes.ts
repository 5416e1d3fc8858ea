import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { toListBody } from '../http/pagination.ts';
import { toTimestamp } from '../library/time/clock.ts';
import { bulkUpsertContacts } from './upsert/bulk-upsert.ts';
import { createContact, deleteContact, readContact } from './contacts/contacts.ts';
import { listEditableColumns } from './contacts/custom-fields.ts';
import { listContacts } from './contacts/list-contacts.ts';
import { contactListRoutes } from './list-routes.ts';
import { ListsOfContact, PageQuery } from './lists/schemas.ts';
import { listListsOfContact } from './lists/lists.ts';
import { toContactRecord } from './contacts/records.ts';
import { toListRecord } from './lists/records.ts';
import * as schemas from './contacts/schemas.ts';
import { suppressionRoutes } from './suppressions/routes.ts';
import { updateContact } from './contacts/update-contact.ts';
import { upsertIntoList } from './upsert/upsert-contact.ts';

const contactId = z.object({ contact_id: pathId });

const listRoute = createRoute({
  method: 'get',
  path: '/contacts',
  operationId: 'contacts.list',
  summary: 'List contacts, newest first, with search, filters and order',
  request: { query: schemas.ContactQuery },
  responses: { 200: jsonResponse(schemas.ContactPage), ...errorResponses(400, 404) },
});
const createContactRoute = createRoute({
  method: 'post',
  path: '/contacts',
  operationId: 'contacts.create',
  summary: 'Create a contact',
  request: { body: jsonBody(schemas.ContactBody) },
  responses: { 201: jsonResponse(schemas.ContactRecord), ...errorResponses(400, 403, 409) },
});
const bulkUpsertRoute = createRoute({
  method: 'post',
  path: '/contacts/bulk-upsert',
  operationId: 'contacts.bulkUpsert',
  summary: 'Upsert up to 5000 contacts into a named list',
  description:
    'Each row is matched by phone, then by external_id; rows of one person are folded in order. A row that cannot be used is listed in `errors`, the others come in. The body may have 16 MiB.',
  request: { body: jsonBody(schemas.BulkUpsertBody) },
  responses: { 200: jsonResponse(schemas.BulkUpsertResult), ...errorResponses(400, 413) },
});
const upsertRoute = createRoute({
  method: 'post',
  path: '/contacts/upsert',
  operationId: 'contacts.upsert',
  summary: 'Upsert one contact and add it to a named list',
  description: 'Matched by phone, else by external_id, else created. Fields that are not standard become custom fields.',
  request: { body: jsonBody(schemas.UpsertBody) },
  responses: { 200: jsonResponse(schemas.UpsertResult), ...errorResponses(400, 403, 409) },
});
const customFieldKeysRoute = createRoute({
  method: 'get',
  path: '/contacts/custom-field-keys',
  operationId: 'contacts.listFieldKeys',
  summary: 'All editable columns: the standard ones, then every custom field seen',
  responses: { 200: jsonResponse(schemas.CustomFieldKeys), ...errorResponses(400) },
});
const readRoute = createRoute({
  method: 'get',
  path: '/contacts/{contact_id}',
  operationId: 'contacts.get',
  summary: 'Get a contact with the lists that it is on',
  request: { params: contactId },
  responses: { 200: jsonResponse(schemas.ContactWithLists), ...errorResponses(400, 404) },
});
const updateRoute = createRoute({
  method: 'put',
  path: '/contacts/{contact_id}',
  operationId: 'contacts.update',
  summary: 'Update a contact: absent fields stay, null clears, custom_fields merge, tags are replaced',
  request: { params: contactId, body: jsonBody(schemas.ContactBody) },
  responses: { 200: jsonResponse(schemas.ContactRecord), ...errorResponses(400, 404, 409) },
});
const deleteRoute = createRoute({
  method: 'delete',
  path: '/contacts/{contact_id}',
  operationId: 'contacts.delete',
  summary: 'Delete a contact and its personal data; phone and external id are free at once',
  request: { params: contactId },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});
const listsOfContactRoute = createRoute({
  method: 'get',
  path: '/contacts/{contact_id}/lists',
  operationId: 'contacts.listLists',
  summary: 'Lists that the contact is on',
  request: { params: contactId, query: PageQuery },
  responses: { 200: jsonResponse(ListsOfContact), ...errorResponses(400, 404) },
});

const routes = createRouter()
  // Paths with a name in them win over /contacts/{contact_id} because they come first.
  .route('/', contactListRoutes)
  .route('/', suppressionRoutes)
  .openapi(customFieldKeysRoute, async (c) => c.json({ keys: await listEditableColumns(c.var.context) }, 200))
  .openapi(bulkUpsertRoute, async (c) => {
    const { list_name, contacts } = c.req.valid('json');
    return c.json(await bulkUpsertContacts(c.var.context, list_name, contacts), 200);
  })
  .openapi(upsertRoute, async (c) => {
    const { list_name, ...fields } = c.req.valid('json');
    return c.json(await upsertIntoList(c.var.context, fields, list_name), 200);
  })
  .openapi(listRoute, async (c) => {
    const query = c.req.valid('query');
    return c.json(toListBody('contacts', query, await listContacts(c.var.context, query), toContactRecord), 200);
  })
  .openapi(createContactRoute, async (c) => c.json(await createContact(c.var.context, c.req.valid('json')), 201))
  .openapi(readRoute, async (c) => c.json(await readContact(c.var.context, c.req.valid('param').contact_id), 200))
  .openapi(updateRoute, async (c) => c.json(await updateContact(c.var.context, c.req.valid('param').contact_id, c.req.valid('json')), 200))
  .openapi(deleteRoute, async (c) => {
    await deleteContact(c.var.context, c.req.valid('param').contact_id);
    return c.json({ status: 'deleted' as const }, 200);
  })
  .openapi(listsOfContactRoute, async (c) => {
    const page = c.req.valid('query');
    const found = await listListsOfContact(c.var.context, c.req.valid('param').contact_id, page);
    return c.json(
      toListBody('lists', page, found, (list) => ({ ...toListRecord(list), added_at: toTimestamp(list.added_at) })),
      200,
    );
  });

// The handler validates each row of a bulk request by itself, so the request's schema only refers to the row's schema by name.
routes.openAPIRegistry.register('UpsertRow', schemas.UpsertRow);

export const contactRoutes = routes;
