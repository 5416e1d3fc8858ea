import { createRoute, z } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonBody, jsonResponse, pathId } from '../http/router.ts';
import { listOrganizations, selectOrganization } from './books/organizations.ts';
import { updateSettings } from './update-settings.ts';
import { connect } from './connection/connect.ts';
import { disconnect } from './connection/disconnect.ts';
import { finalize } from './connection/finalize.ts';
import { dataSources } from './contract.ts';
import { existingIntegration } from './existing-integration.ts';
import { readMapping } from './mapping/read-mapping.ts';
import { replaceMapping } from './mapping/replace-mapping.ts';
import { listChannels, listIssueTypes, listProjects } from './list-options.ts';
import { toIntegrationRecord, listIntegrationRecords } from './records.ts';
import { resync } from './sync/start-sync.ts';
import * as schemas from './schemas.ts';
import { previewSheet } from './sheet/preview-sheet.ts';
import { searchSheets } from './sheet/search-sheets.ts';
import { selectSheet } from './sheet/select-sheet.ts';
import { readStatus } from './status.ts';
import { pushContact } from './sync/push/push-contact.ts';

const params = z.object({ integration_id: pathId });

const listRoute = createRoute({
  method: 'get',
  path: '/integration',
  operationId: 'integrations.list',
  summary: 'List the integrations of the organization, without those that were disconnected',
  responses: { 200: jsonResponse(schemas.IntegrationArray), ...errorResponses(400) },
});
const connectRoute = createRoute({
  method: 'post',
  path: '/integration/connect',
  operationId: 'integrations.connect',
  summary: 'Begin to connect a provider; a person consents at redirect_url',
  request: { body: jsonBody(schemas.ConnectBody) },
  responses: { 200: jsonResponse(schemas.Connecting), ...errorResponses(400, 502) },
});
const finalizeRoute = createRoute({
  method: 'post',
  path: '/integration/connect/finalize',
  operationId: 'integrations.finalize',
  summary: 'Make the integration of a connection to which somebody has consented; repeatable',
  request: { body: jsonBody(schemas.FinalizeBody) },
  responses: { 200: jsonResponse(schemas.IntegrationRecord), ...errorResponses(400, 404, 409, 502) },
});
const channelsRoute = createRoute({
  method: 'get',
  path: '/integration/chatapp/channels',
  operationId: 'integrations.listChannels',
  summary: 'List the channels of the connected chat workspace',
  responses: { 200: jsonResponse(schemas.Channels), ...errorResponses(400, 403, 404, 502) },
});
const projectsRoute = createRoute({
  method: 'get',
  path: '/integration/tracker/projects',
  operationId: 'integrations.listProjects',
  summary: 'List the projects of the connected tracker site',
  responses: { 200: jsonResponse(schemas.Projects), ...errorResponses(400, 403, 404, 502) },
});
const issueTypesRoute = createRoute({
  method: 'get',
  path: '/integration/tracker/issue-types',
  operationId: 'integrations.listIssueTypes',
  summary: 'List the issue types of a project, or of the whole connected tracker site',
  request: { query: schemas.IssueTypesQuery },
  responses: { 200: jsonResponse(schemas.IssueTypes), ...errorResponses(400, 403, 404, 502) },
});
const statusRoute = createRoute({
  method: 'get',
  path: '/integration/{provider}/status',
  operationId: 'integrations.getStatus',
  summary: 'Whether the organization has an active integration of a provider; 404 not_connected when it has none',
  request: { params: z.object({ provider: z.string().openapi({ example: 'sheet' }) }) },
  responses: { 200: jsonResponse(schemas.IntegrationStatus), ...errorResponses(400, 404) },
});
const disconnectRoute = createRoute({
  method: 'post',
  path: '/integration/{integration_id}/disconnect',
  operationId: 'integrations.disconnect',
  summary: 'Revoke the grant and remove the integration',
  request: { params },
  responses: { 200: jsonResponse(schemas.Disconnected), ...errorResponses(400, 404, 502) },
});
const changeRoute = createRoute({
  method: 'put',
  path: '/integration/{integration_id}',
  operationId: 'integrations.update',
  summary: 'Change which calls are posted to an action target, and where; of a sheet, select the file to read (legacy)',
  request: { params, body: jsonBody(schemas.IntegrationPatchBody) },
  responses: { 200: jsonResponse(schemas.IntegrationRecord), ...errorResponses(400, 403, 404, 502) },
});
const organizationsRoute = createRoute({
  method: 'get',
  path: '/integration/{integration_id}/books/organizations',
  operationId: 'integrations.listBooksOrganizations',
  summary: 'List the organizations of the connected books account',
  request: { params },
  responses: { 200: jsonResponse(schemas.BooksOrganizations), ...errorResponses(400, 403, 404, 502) },
});
const selectOrganizationRoute = createRoute({
  method: 'post',
  path: '/integration/{integration_id}/books/organization',
  operationId: 'integrations.selectBooksOrganization',
  summary: 'Select which books organization to sync',
  request: { params, body: jsonBody(schemas.BooksOrganizationBody) },
  responses: { 200: jsonResponse(schemas.IntegrationRecord), ...errorResponses(400, 403, 404, 502) },
});
const readMappingRoute = createRoute({
  method: 'get',
  path: '/integration/{integration_id}/field-mapping',
  operationId: 'integrations.getFieldMapping',
  summary: 'Get the field mapping of a data source, and what can be mapped to what',
  request: { params },
  responses: { 200: jsonResponse(schemas.ShownMapping), ...errorResponses(400, 403, 404, 502) },
});
const replaceMappingRoute = createRoute({
  method: 'put',
  path: '/integration/{integration_id}/field-mapping',
  operationId: 'integrations.replaceFieldMapping',
  summary: 'Replace the field mapping of a data source as a whole; a sync under it begins',
  request: { params, body: jsonBody(schemas.MappingBody) },
  responses: { 200: jsonResponse(schemas.ShownMapping), ...errorResponses(400, 403, 404, 409, 502) },
});
const pushRoute = createRoute({
  method: 'post',
  path: '/integration/{integration_id}/contacts/{contact_id}/push',
  operationId: 'integrations.pushContact',
  summary: 'Send the outbound fields of a contact to the connected system',
  request: { params: params.extend({ contact_id: pathId }) },
  responses: { 200: jsonResponse(schemas.Pushed), ...errorResponses(400, 403, 404, 409, 502) },
});
const resyncRoute = createRoute({
  method: 'post',
  path: '/integration/{integration_id}/resync',
  operationId: 'integrations.resync',
  summary: 'Read a data source now; the sync that is under way when there is one',
  request: { params },
  responses: { 200: jsonResponse(schemas.Resync), ...errorResponses(400, 404, 409) },
});
const searchRoute = createRoute({
  method: 'get',
  path: '/integration/{integration_id}/sheet/search',
  operationId: 'integrations.searchSheets',
  summary: 'Search the spreadsheets that the connected account sees, the last changed first',
  request: { params, query: schemas.SheetSearchQuery },
  responses: { 200: jsonResponse(schemas.SheetFiles), ...errorResponses(400, 403, 404, 502) },
});
const headersRoute = createRoute({
  method: 'get',
  path: '/integration/{integration_id}/sheet/headers',
  operationId: 'integrations.previewSheet',
  summary: 'Preview the headers and first rows of a sheet, with the mapping that they suggest',
  request: { params, query: schemas.SheetHeadersQuery },
  responses: { 200: jsonResponse(schemas.SheetPreview), ...errorResponses(400, 403, 404, 502) },
});
const selectRoute = createRoute({
  method: 'post',
  path: '/integration/{integration_id}/sheet/select',
  operationId: 'integrations.selectSheet',
  summary: 'Select the sheet to read, the list that its rows go into and the mapping of its columns; a first sync begins',
  request: { params, body: jsonBody(schemas.SelectSheetBody) },
  responses: { 200: jsonResponse(schemas.IntegrationRecord), ...errorResponses(400, 403, 404, 502) },
});

export const integrationRoutes = createRouter()
  .openapi(listRoute, async (c) => c.json(await listIntegrationRecords(c.var.context), 200))
  .openapi(connectRoute, async (c) => c.json(await connect(c.var.context, c.var.caller.userId, c.req.valid('json')), 200))
  .openapi(finalizeRoute, async (c) => {
    const integration = await finalize(c.var.context, c.var.caller.userId, c.req.valid('json'));
    return c.json(await toIntegrationRecord(c.var.context, integration), 200);
  })
  .openapi(channelsRoute, async (c) => c.json({ channels: await listChannels(c.var.context) }, 200))
  .openapi(projectsRoute, async (c) => c.json({ projects: await listProjects(c.var.context) }, 200))
  .openapi(issueTypesRoute, async (c) => c.json({ issue_types: await listIssueTypes(c.var.context, c.req.valid('query').project) }, 200))
  .openapi(statusRoute, async (c) => c.json(await readStatus(c.var.context, c.req.valid('param').provider), 200))
  .openapi(disconnectRoute, async (c) => {
    await disconnect(c.var.context, c.req.valid('param').integration_id);
    return c.json({ status: 'disconnected' as const }, 200);
  })
  .openapi(changeRoute, async (c) => {
    const integration = await updateSettings(c.var.context, c.req.valid('param').integration_id, c.req.valid('json'));
    return c.json(await toIntegrationRecord(c.var.context, integration), 200);
  })
  .openapi(organizationsRoute, async (c) =>
    c.json({ organizations: await listOrganizations(c.var.context, c.req.valid('param').integration_id) }, 200),
  )
  .openapi(selectOrganizationRoute, async (c) => {
    const { organization_id } = c.req.valid('json');
    const integration = await selectOrganization(c.var.context, c.req.valid('param').integration_id, organization_id);
    return c.json(await toIntegrationRecord(c.var.context, integration), 200);
  })
  .openapi(readMappingRoute, async (c) => c.json(await readMapping(c.var.context, c.req.valid('param').integration_id), 200))
  .openapi(replaceMappingRoute, async (c) => {
    const { field_mapping } = c.req.valid('json');
    return c.json(await replaceMapping(c.var.context, c.req.valid('param').integration_id, field_mapping), 200);
  })
  .openapi(pushRoute, async (c) => {
    const { integration_id, contact_id } = c.req.valid('param');
    const integration = await existingIntegration(c.var.context, integration_id, dataSources);
    return c.json(await pushContact(c.var.context, integration, contact_id), 200);
  })
  .openapi(resyncRoute, async (c) => c.json(await resync(c.var.context, c.req.valid('param').integration_id), 200))
  .openapi(searchRoute, async (c) =>
    c.json(await searchSheets(c.var.context, c.req.valid('param').integration_id, c.req.valid('query')), 200),
  )
  .openapi(headersRoute, async (c) =>
    c.json(await previewSheet(c.var.context, c.req.valid('param').integration_id, c.req.valid('query')), 200),
  )
  .openapi(selectRoute, async (c) => {
    const integration = await selectSheet(c.var.context, c.req.valid('param').integration_id, c.req.valid('json'));
    return c.json(await toIntegrationRecord(c.var.context, integration), 200);
  });
