import { createRoute } from '@hono/zod-openapi';
import { createRouter, errorResponses, jsonBody, jsonResponse } from '../../http/router.ts';
import { changeOrganization, readOrganization } from './organization-settings.ts';
import { deleteOrganization } from '../deletion/delete-organization.ts';
import { deletionRecord, organizationRecord } from '../records.ts';
import { DeleteOrganizationQuery, DeletionRecord, OrganizationRecord, OrganizationSettingsBody } from '../schemas.ts';

const getOrganizationRoute = createRoute({
  method: 'get',
  path: '/organizations/current',
  operationId: 'organization.get',
  summary: 'The organization, its settings and its plan',
  responses: { 200: jsonResponse(OrganizationRecord), ...errorResponses(400) },
});
const patchOrganizationRoute = createRoute({
  method: 'patch',
  path: '/organizations/current',
  operationId: 'organization.update',
  summary: 'Change name, default country, time zone or the hours between two calls',
  request: { body: jsonBody(OrganizationSettingsBody) },
  responses: { 200: jsonResponse(OrganizationRecord), ...errorResponses(400, 403, 413, 415) },
});

const deleteOrganizationRoute = createRoute({
  method: 'delete',
  path: '/organizations/current',
  operationId: 'organization.delete',
  summary: 'Delete the organization and everything of its; keys and sessions end at once',
  request: { query: DeleteOrganizationQuery },
  responses: { 200: jsonResponse(DeletionRecord), ...errorResponses(400, 403, 404) },
});

export const organizationRoutes = createRouter()
  .openapi(getOrganizationRoute, async (c) => c.json(organizationRecord(await readOrganization(c.var.context), c.var.settings), 200))
  .openapi(patchOrganizationRoute, async (c) => {
    const row = await changeOrganization(c.var.context, c.req.valid('json'));
    return c.json(organizationRecord(row, c.var.settings), 200);
  })
  .openapi(deleteOrganizationRoute, async (c) =>
    c.json(deletionRecord(await deleteOrganization(c.var.context, c.var.caller, c.req.valid('query').confirm_name)), 200),
  );
