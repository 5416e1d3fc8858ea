import { createRoute, z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { deleteCookie } from 'hono/cookie';
import { catalog } from '../../database/shards.ts';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse } from '../../http/router.ts';
import { sessionCookie } from '../authentication/authenticate-request.ts';
import type { HttpEnvironment } from '../../http/environment.ts';
import { systemClock } from '../../library/time/clock.ts';
import { badRequest, notFound } from '../../library/errors.ts';
import { changePassword } from '../passwords/change-password.ts';
import { deleteUser } from '../members/delete-user.ts';
import { organizationRecord, userRecord } from '../records.ts';
import {
  ChangePasswordBody,
  DeleteAccountBody,
  MeRecord,
  OrganizationNameBody,
  OrganizationRecord,
  passwordChanged,
  SelectOrganizationBody,
} from '../schemas.ts';
import { createOrganization, logOut, logOutEverywhere, selectOrganization } from './sessions.ts';
import * as store from '../store.ts';

const loggedOut = z
  .object({ status: z.literal('logged_out').describe('Always `logged_out`.') })
  .describe('The session is over; its token works no more.');

const logOutRoute = createRoute({
  method: 'post',
  path: '/auth/logout',
  operationId: 'auth.logOut',
  summary: 'End the session',
  responses: { 200: jsonResponse(loggedOut), ...errorResponses(400) },
});
const logOutEverywhereRoute = createRoute({
  method: 'delete',
  path: '/auth/sessions',
  operationId: 'auth.logOutEverywhere',
  summary: 'End all sessions of the person, this one included',
  responses: { 200: jsonResponse(loggedOut), ...errorResponses(400) },
});
const changePasswordRoute = createRoute({
  method: 'post',
  path: '/auth/password',
  operationId: 'auth.changePassword',
  summary: 'Change the password; all other sessions of the person end',
  request: { body: jsonBody(ChangePasswordBody) },
  responses: { 200: jsonResponse(passwordChanged), ...errorResponses(400, 413, 415) },
});
const deleteAccountRoute = createRoute({
  method: 'post',
  path: '/auth/me/delete',
  operationId: 'auth.deleteAccount',
  summary: 'Delete the account of the person; the keys that they have made are revoked',
  request: { body: jsonBody(DeleteAccountBody) },
  responses: { 200: jsonResponse(deletedStatus), ...errorResponses(400, 409, 413, 415) },
});
const meRoute = createRoute({
  method: 'get',
  path: '/auth/me',
  operationId: 'auth.me',
  summary: 'Who is calling, and for which organization',
  responses: { 200: jsonResponse(MeRecord), ...errorResponses() },
});
const createOrganizationRoute = createRoute({
  method: 'post',
  path: '/auth/organizations',
  operationId: 'auth.createOrganization',
  summary: 'Create an organization and select it',
  request: { body: jsonBody(OrganizationNameBody) },
  responses: { 200: jsonResponse(OrganizationRecord), ...errorResponses(400, 403, 409, 413, 415) },
});
const selectOrganizationRoute = createRoute({
  method: 'post',
  path: '/auth/organization',
  operationId: 'auth.selectOrganization',
  summary: 'Select the organization that the session works in',
  request: { body: jsonBody(SelectOrganizationBody) },
  responses: { 200: jsonResponse(OrganizationRecord), ...errorResponses(400, 403, 404, 413, 415) },
});

/** The caller's session; an API key has none. */
function requireSession(c: HonoContext<HttpEnvironment>): { token: string; userId: number } {
  const { session, caller } = c.var;
  if (!session) throw badRequest('This call needs a session, not an API key; log in first');
  return { token: session.token, userId: caller.userId };
}

export const sessionRoutes = createRouter()
  .openapi(logOutRoute, async (c) => {
    await logOut(c.env, requireSession(c).token);
    deleteCookie(c, sessionCookie, { path: '/', secure: true });
    return c.json({ status: 'logged_out' as const }, 200);
  })
  .openapi(logOutEverywhereRoute, async (c) => {
    await logOutEverywhere(c.env, requireSession(c).userId);
    deleteCookie(c, sessionCookie, { path: '/', secure: true });
    return c.json({ status: 'logged_out' as const }, 200);
  })
  .openapi(changePasswordRoute, async (c) => {
    await changePassword(c.env, requireSession(c), c.req.valid('json'), systemClock());
    return c.json({ status: 'changed' as const }, 200);
  })
  .openapi(deleteAccountRoute, async (c) => {
    await deleteUser(c.env, requireSession(c).userId, c.req.valid('json').password, systemClock());
    deleteCookie(c, sessionCookie, { path: '/', secure: true });
    return c.json({ status: 'deleted' as const }, 200);
  })
  .openapi(meRoute, async (c) => {
    const { caller, context, settings } = c.var;
    const found = await store.findUserAndOrganization(catalog(c.env), caller.userId, context?.organization.id ?? null);
    if (!found) throw notFound('User');
    const organization = found.organization && organizationRecord(found.organization, settings);
    return c.json({ user: userRecord(found.user), organization }, 200);
  })
  .openapi(createOrganizationRoute, async (c) => {
    const row = await createOrganization(c.env, requireSession(c), c.req.valid('json').name, systemClock());
    return c.json(organizationRecord(row, c.var.settings), 200);
  })
  .openapi(selectOrganizationRoute, async (c) => {
    const row = await selectOrganization(c.env, requireSession(c), c.req.valid('json').organization_id);
    return c.json(organizationRecord(row, c.var.settings), 200);
  });
