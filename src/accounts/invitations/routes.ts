import { createRoute, z } from '@hono/zod-openapi';
import { apiOrigin } from '../../http/public-url.ts';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { invite, listInvitations, revokeInvitation } from './invitations.ts';
import { InvitationList, IssuedInvitationRecord, NewInvitationBody, type InvitationRecord } from './schemas.ts';
import type { InvitationRow } from './store.ts';

const createInvitationRoute = createRoute({
  method: 'post',
  path: '/organizations/invitations',
  operationId: 'invitations.create',
  summary: 'Invite a person by a link that works once; it is shown this once',
  request: { body: jsonBody(NewInvitationBody) },
  responses: { 200: jsonResponse(IssuedInvitationRecord), ...errorResponses(400, 403, 409, 413, 415) },
});
const listRoute = createRoute({
  method: 'get',
  path: '/organizations/invitations',
  operationId: 'invitations.list',
  summary: 'List the open invitations',
  responses: { 200: jsonResponse(InvitationList), ...errorResponses(400, 403) },
});
const revokeRoute = createRoute({
  method: 'delete',
  path: '/organizations/invitations/{invitation_id}',
  operationId: 'invitations.revoke',
  summary: 'Revoke an open invitation; its link stops working',
  request: { params: z.object({ invitation_id: pathId }) },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 403, 404) },
});

const invitationRecord = (row: InvitationRow): z.infer<typeof InvitationRecord> => ({
  id: row.id,
  role: row.role,
  email: row.email,
  created_by: row.createdBy,
  created_at: toTimestamp(row.createdAt),
  expires_at: toTimestamp(row.expiresAt),
});

export const invitationRoutes = createRouter()
  .openapi(createInvitationRoute, async (c) => {
    const from = { origin: apiOrigin(c), address: c.req.header('cf-connecting-ip') };
    const { row, token, url, delivery } = await invite(c.var.context, c.var.caller, from, c.req.valid('json'));
    return c.json({ ...invitationRecord(row), token, url, delivery }, 200);
  })
  .openapi(listRoute, async (c) => {
    const invitations = (await listInvitations(c.var.context)).map(invitationRecord);
    return c.json({ invitations, total: invitations.length }, 200);
  })
  .openapi(revokeRoute, async (c) => {
    await revokeInvitation(c.var.context, c.var.caller, c.req.valid('param').invitation_id);
    return c.json({ status: 'deleted' as const }, 200);
  });
