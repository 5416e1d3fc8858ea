import { createRoute, z } from '@hono/zod-openapi';
import { catalog } from '../../database/shards.ts';
import { apiOrigin } from '../../http/public-url.ts';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse, pathId } from '../../http/router.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { badRequest } from '../../library/errors.ts';
import type { Context } from '../../context.ts';
import { toLinkUrl } from '../link-url.ts';
import { changeRole, endMemberSessions, transferOwnership } from './change-role.ts';
import { leaveOrganization, removeMember } from './delete-user.ts';
import { emailFromHandle } from './email-handles.ts';
import { listMembers } from './store.ts';
import { createPasswordReset } from '../passwords/reset-password.ts';
import { EndedSessions, MemberList, OwnershipBody, ResetRecord, RoleBody } from '../schemas.ts';

const request = { params: z.object({ user_id: pathId }) };

const listRoute = createRoute({
  method: 'get',
  path: '/organizations/members',
  operationId: 'members.list',
  summary: 'List the people of the organization',
  responses: { 200: jsonResponse(MemberList), ...errorResponses(400, 403) },
});
const resetRoute = createRoute({
  method: 'post',
  path: '/organizations/members/{user_id}/password-reset',
  operationId: 'members.offerReset',
  summary: 'Let a member choose a new password; the token for it is shown this once',
  request,
  responses: { 200: jsonResponse(ResetRecord), ...errorResponses(400, 403, 404, 409) },
});

const removeRoute = createRoute({
  method: 'delete',
  path: '/organizations/members/{user_id}',
  operationId: 'members.remove',
  summary: 'Take a person out of the organization; the keys that they have made are revoked',
  request,
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 403, 404, 409) },
});
const changeRoleRoute = createRoute({
  method: 'patch',
  path: '/organizations/members/{user_id}',
  operationId: 'members.changeRole',
  summary: 'Give a member another role, none above your own; their keys do no more than it, within 5 seconds',
  request: { ...request, body: jsonBody(RoleBody) },
  responses: { 200: jsonResponse(MemberList), ...errorResponses(400, 403, 404, 409, 413, 415) },
});
const endSessionsRoute = createRoute({
  method: 'delete',
  path: '/organizations/members/{user_id}/sessions',
  operationId: 'members.endSessions',
  summary: 'End the sessions that a member has in the organization; they are refused at once',
  request,
  responses: { 200: jsonResponse(EndedSessions), ...errorResponses(400, 403, 404) },
});
const transferRoute = createRoute({
  method: 'post',
  path: '/organizations/ownership',
  operationId: 'members.transferOwnership',
  summary: 'Make another member an owner and become an admin; an organization always has an owner',
  request: { body: jsonBody(OwnershipBody) },
  responses: { 200: jsonResponse(MemberList), ...errorResponses(400, 403, 404, 413, 415) },
});
const leaveRoute = createRoute({
  method: 'post',
  path: '/organizations/leave',
  operationId: 'members.leave',
  summary: 'Leave the organization; the account stays, and the keys that you have made are revoked',
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 409) },
});

async function readMembers({ bindings, organization }: Context): Promise<z.infer<typeof MemberList>> {
  const rows = await listMembers(catalog(bindings), organization.id);
  const members = rows.map(({ id, email, name, role, joinedAt }) => ({
    user_id: id,
    email: emailFromHandle(email),
    name,
    role,
    joined_at: toTimestamp(joinedAt),
  }));
  return { members, total: members.length };
}

export const memberRoutes = createRouter()
  .openapi(listRoute, async (c) => c.json(await readMembers(c.var.context), 200))
  .openapi(resetRoute, async (c) => {
    const { token, expiresAt } = await createPasswordReset(c.var.context, c.var.caller, c.req.valid('param').user_id);
    const url = toLinkUrl(c.var.settings, apiOrigin(c), 'password-reset', token);
    return c.json({ token, url, expires_at: toTimestamp(expiresAt) }, 200);
  })
  .openapi(changeRoleRoute, async (c) => {
    await changeRole(c.var.context, c.var.caller, c.req.valid('param').user_id, c.req.valid('json').role);
    return c.json(await readMembers(c.var.context), 200);
  })
  .openapi(endSessionsRoute, async (c) =>
    c.json({ ended: await endMemberSessions(c.var.context, c.var.caller, c.req.valid('param').user_id) }, 200),
  )
  .openapi(transferRoute, async (c) => {
    await transferOwnership(c.var.context, c.var.caller, c.req.valid('json').user_id);
    return c.json(await readMembers(c.var.context), 200);
  })
  .openapi(leaveRoute, async (c) => {
    if (!c.var.session) throw badRequest('This call needs a session, not an API key; log in first');
    await leaveOrganization(c.var.context, c.var.caller);
    return c.json({ status: 'deleted' as const }, 200);
  })
  .openapi(removeRoute, async (c) => {
    await removeMember(c.var.context, c.var.caller, c.req.valid('param').user_id);
    return c.json({ status: 'deleted' as const }, 200);
  });
