import { createRoute, z } from '@hono/zod-openapi';
import { catalog } from '../../database/shards.ts';
import { createRouter, deletedStatus, errorResponses, jsonResponse, pathId } from '../../http/router.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import { removeMember } from './delete-user.ts';
import { emailFromHandle } from './email-handles.ts';
import { listMembers } from './store.ts';
import { createPasswordReset } from '../passwords/reset-password.ts';
import { MemberList, ResetRecord } from '../schemas.ts';

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

export const memberRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const { bindings, organization } = c.var.context;
    const rows = await listMembers(catalog(bindings), organization.id);
    const members = rows.map(({ id, email, name, joinedAt }) => ({
      user_id: id,
      email: emailFromHandle(email),
      name,
      joined_at: toTimestamp(joinedAt),
    }));
    return c.json({ members, total: members.length }, 200);
  })
  .openapi(resetRoute, async (c) => {
    const { token, expiresAt } = await createPasswordReset(c.var.context, c.var.caller, c.req.valid('param').user_id);
    return c.json({ token, expires_at: toTimestamp(expiresAt) }, 200);
  })
  .openapi(removeRoute, async (c) => {
    await removeMember(c.var.context, c.req.valid('param').user_id);
    return c.json({ status: 'deleted' as const }, 200);
  });
