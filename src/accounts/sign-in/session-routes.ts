import { createRoute, z } from '@hono/zod-openapi';
import { deleteCookie } from 'hono/cookie';
import { catalog } from '../../database/shards.ts';
import { createRouter, deletedStatus, errorResponses, jsonBody, jsonResponse } from '../../http/router.ts';
import { sessionCookie } from '../authentication/authenticate-request.ts';
import { systemClock, toTimestamp } from '../../library/time/clock.ts';
import { forbidden, notFound } from '../../library/errors.ts';
import { changePassword } from '../passwords/change-password.ts';
import { deleteUser } from '../members/delete-user.ts';
import { organizationRecord, sessionRecord, userRecord } from '../records.ts';
import {
  ChangePasswordBody,
  DeleteAccountBody,
  MeRecord,
  OrganizationNameBody,
  OrganizationRecord,
  passwordChanged,
  SelectOrganizationBody,
  SessionList,
  SignInLink,
} from '../schemas.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import { joinByInvitation } from '../invitations/accept.ts';
import { InvitationTokenBody } from '../invitations/schemas.ts';
import { apiOrigin } from '../../http/public-url.ts';
import { createSignInLink } from './sign-in-link.ts';
import { requireSession } from './require-session.ts';
import { toSessionId } from './session-id.ts';
import { createOrganization, endSession, listSessions, logOut, logOutEverywhere, selectOrganization } from './sessions.ts';
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
const listSessionsRoute = createRoute({
  method: 'get',
  path: '/auth/sessions',
  operationId: 'auth.listSessions',
  summary: 'List the sessions of the person',
  responses: { 200: jsonResponse(SessionList), ...errorResponses(400) },
});
const endSessionRoute = createRoute({
  method: 'delete',
  path: '/auth/sessions/{session_id}',
  operationId: 'auth.endSession',
  summary: 'End one session of the person; it is refused at once',
  request: {
    params: z.object({ session_id: z.string().regex(/^[0-9a-f]{16}$/, 'Not an id of a session; GET /auth/sessions lists them') }),
  },
  responses: { 200: jsonResponse(loggedOut), ...errorResponses(400, 404) },
});
const signInLinkRoute = createRoute({
  method: 'post',
  path: '/auth/sign-in-links',
  operationId: 'auth.createSignInLink',
  summary:
    'Make a link that logs in the same person in another browser, once; needs the token of a session, which no page of the console has',
  responses: { 200: jsonResponse(SignInLink), ...errorResponses(400, 403) },
});
const joinRoute = createRoute({
  method: 'post',
  path: '/auth/invitations/join',
  operationId: 'invitations.join',
  summary: 'Become a member by an invitation, as the person who is logged in; the organization is selected',
  request: { body: jsonBody(InvitationTokenBody) },
  responses: { 200: jsonResponse(OrganizationRecord), ...errorResponses(400, 404, 409, 413, 415) },
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
  .openapi(listSessionsRoute, async (c) => {
    const { token, userId } = requireSession(c);
    const own = toSessionId(sha256Hex(token));
    const sessions = (await listSessions(c.env, userId, systemClock())).map((row) => sessionRecord(row, own));
    return c.json({ sessions, total: sessions.length }, 200);
  })
  .openapi(endSessionRoute, async (c) => {
    await endSession(c.env, requireSession(c).userId, c.req.valid('param').session_id);
    return c.json({ status: 'logged_out' as const }, 200);
  })
  .openapi(signInLinkRoute, async (c) => {
    const { token } = requireSession(c);
    // A page, whatever runs in it, cannot carry its session away: it has the cookie alone.
    if (c.var.session?.isCookie) throw forbidden('A browser makes no such link; send the token of a session as Authorization: Bearer');
    const link = await createSignInLink(c.env, token, apiOrigin(c), systemClock());
    return c.json({ url: link.url, token: link.token, expires_at: toTimestamp(link.expiresAt) }, 200);
  })
  .openapi(joinRoute, async (c) => {
    const { token } = c.req.valid('json');
    const input = { token, address: c.req.header('cf-connecting-ip') };
    const row = await joinByInvitation(c.env, requireSession(c), input, systemClock());
    return c.json(organizationRecord(row, c.var.settings), 200);
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
    return c.json({ user: userRecord(found.user), organization, role: caller.role, scopes: caller.scopes }, 200);
  })
  .openapi(createOrganizationRoute, async (c) => {
    const row = await createOrganization(c.env, requireSession(c), c.req.valid('json').name, systemClock());
    return c.json(organizationRecord(row, c.var.settings), 200);
  })
  .openapi(selectOrganizationRoute, async (c) => {
    const row = await selectOrganization(c.env, requireSession(c), c.req.valid('json').organization_id);
    return c.json(organizationRecord(row, c.var.settings), 200);
  });
