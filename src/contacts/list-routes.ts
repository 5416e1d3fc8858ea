import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { toListBody } from '../http/pagination.ts';
import { listContacts } from './contacts/list-contacts.ts';
import * as schemas from './lists/schemas.ts';
import { createList, deleteList, listLists, readList, updateList } from './lists/lists.ts';
import { addMembers, removeMember } from './lists/members.ts';
import { toContactRecord } from './contacts/records.ts';
import { toListRecord } from './lists/records.ts';
import { ContactPage, MemberQuery } from './contacts/schemas.ts';

const listId = z.object({ list_id: pathId });

const listListsRoute = createRoute({
  method: 'get',
  path: '/contacts/lists',
  operationId: 'contactLists.list',
  summary: 'List contact lists, newest first, with their number of contacts',
  request: { query: schemas.ListQuery },
  responses: { 200: jsonResponse(schemas.ListPage), ...errorResponses(400) },
});
const createListRoute = createRoute({
  method: 'post',
  path: '/contacts/lists',
  operationId: 'contactLists.create',
  summary: 'Create a list; names are unique without regard to case',
  request: { body: jsonBody(schemas.NewList) },
  responses: { 201: jsonResponse(schemas.ContactListRecord), ...errorResponses(400, 409) },
});
const readListRoute = createRoute({
  method: 'get',
  path: '/contacts/lists/{list_id}',
  operationId: 'contactLists.get',
  summary: 'Get a list',
  request: { params: listId },
  responses: { 200: jsonResponse(schemas.ContactListRecord), ...errorResponses(400, 404) },
});
const updateListRoute = createRoute({
  method: 'put',
  path: '/contacts/lists/{list_id}',
  operationId: 'contactLists.update',
  summary: 'Update a list: absent fields stay, null clears',
  request: { params: listId, body: jsonBody(schemas.ListChange) },
  responses: { 200: jsonResponse(schemas.ContactListRecord), ...errorResponses(400, 404, 409) },
});
const deleteListRoute = createRoute({
  method: 'delete',
  path: '/contacts/lists/{list_id}',
  operationId: 'contactLists.delete',
  summary: 'Delete a list; its contacts stay',
  request: { params: listId },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});
const membersRoute = createRoute({
  method: 'get',
  path: '/contacts/lists/{list_id}/contacts',
  operationId: 'contactLists.listContacts',
  summary: 'Contacts in a list, with search and filters',
  request: { params: listId, query: MemberQuery },
  responses: { 200: jsonResponse(ContactPage), ...errorResponses(400, 404) },
});
const addMembersRoute = createRoute({
  method: 'post',
  path: '/contacts/lists/{list_id}/contacts',
  operationId: 'contactLists.addContacts',
  summary: 'Add existing contacts to a list',
  request: { params: listId, body: jsonBody(schemas.MembersBody) },
  responses: { 200: jsonResponse(schemas.MembersResult), ...errorResponses(400, 404) },
});
const removeMemberRoute = createRoute({
  method: 'delete',
  path: '/contacts/lists/{list_id}/contacts/{contact_id}',
  operationId: 'contactLists.removeContact',
  summary: 'Remove a contact from a list; the contact stays',
  request: { params: z.object({ list_id: pathId, contact_id: pathId }) },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 404) },
});

export const contactListRoutes = createRouter()
  .openapi(listListsRoute, async (c) => {
    const query = c.req.valid('query');
    return c.json(toListBody('lists', query, await listLists(c.var.context, query), toListRecord), 200);
  })
  .openapi(createListRoute, async (c) => c.json(toListRecord(await createList(c.var.context, c.req.valid('json'))), 201))
  .openapi(readListRoute, async (c) => c.json(toListRecord(await readList(c.var.context, c.req.valid('param').list_id)), 200))
  .openapi(updateListRoute, async (c) =>
    c.json(toListRecord(await updateList(c.var.context, c.req.valid('param').list_id, c.req.valid('json'))), 200),
  )
  .openapi(deleteListRoute, async (c) => {
    await deleteList(c.var.context, c.req.valid('param').list_id);
    return c.json({ status: 'deleted' as const }, 200);
  })
  .openapi(membersRoute, async (c) => {
    const query = c.req.valid('query');
    const found = await listContacts(c.var.context, { ...query, list_id: c.req.valid('param').list_id });
    return c.json(toListBody('contacts', query, found, toContactRecord), 200);
  })
  .openapi(addMembersRoute, async (c) =>
    c.json(await addMembers(c.var.context, c.req.valid('param').list_id, c.req.valid('json').contact_ids), 200),
  )
  .openapi(removeMemberRoute, async (c) => {
    const { list_id, contact_id } = c.req.valid('param');
    await removeMember(c.var.context, list_id, contact_id);
    return c.json({ status: 'deleted' as const }, 200);
  });
