import { createRoute } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { createRouter, errorResponses, jsonBody, jsonResponse } from '../../http/router.ts';
import { sessionCookie } from '../authentication/authenticate-request.ts';
import type { HttpEnvironment } from '../../http/environment.ts';
import { readJsonBody } from '../../http/middleware/read-body.ts';
import { systemClock, toTimestamp } from '../../library/time/clock.ts';
import { organizationRecord, userRecord } from '../records.ts';
import { resetPassword } from '../passwords/reset-password.ts';
import { acceptInvitation, describeInvitation } from '../invitations/accept.ts';
import { AcceptInvitationBody, InvitationPreview, InvitationTokenBody } from '../invitations/schemas.ts';
import { forgotPassword } from '../passwords/forgot-password.ts';
import {
  ForgotPasswordBody,
  LoginBody,
  mailRequested,
  passwordChanged,
  ResetPasswordBody,
  SessionRecord,
  SignInLinkBody,
  SignUpBody,
} from '../schemas.ts';
import { logInByPasskey, startPasskeyLogIn } from '../passkeys/log-in-by-passkey.ts';
import { PasskeyLogInBody, RequestOptions } from '../passkeys/schemas.ts';
import { signInByLink } from './sign-in-link.ts';
import { logIn, sessionDays, signUp, type SignedIn, type Visitor } from './sign-in.ts';

const signUpRoute = createRoute({
  method: 'post',
  path: '/auth/signup',
  operationId: 'auth.signUp',
  summary: 'Sign up, with a first organization when one is named',
  security: [],
  middleware: readJsonBody(),
  request: { body: jsonBody(SignUpBody) },
  responses: { 200: jsonResponse(SessionRecord), ...errorResponses(400, 403, 409, 413, 415) },
});
const logInRoute = createRoute({
  method: 'post',
  path: '/auth/login',
  operationId: 'auth.logIn',
  summary: 'Log in',
  security: [],
  middleware: readJsonBody(),
  request: { body: jsonBody(LoginBody) },
  responses: { 200: jsonResponse(SessionRecord), ...errorResponses(400, 413, 415) },
});

const startPasskeyLogInRoute = createRoute({
  method: 'post',
  path: '/auth/passkeys/login/options',
  operationId: 'passkeys.startLogIn',
  summary: 'Begin to log in by a passkey: what the browser needs to ask for one',
  security: [],
  responses: { 200: jsonResponse(RequestOptions), ...errorResponses(409) },
});
const logInByPasskeyRoute = createRoute({
  method: 'post',
  path: '/auth/passkeys/login',
  operationId: 'passkeys.logIn',
  summary: 'Log in by a passkey',
  security: [],
  middleware: readJsonBody(),
  request: { body: jsonBody(PasskeyLogInBody) },
  responses: { 200: jsonResponse(SessionRecord), ...errorResponses(400, 409, 413, 415) },
});

const resetPasswordRoute = createRoute({
  method: 'post',
  path: '/auth/password/reset',
  operationId: 'members.resetPassword',
  summary: 'Choose a new password with the token that an admin has made; all sessions of the person end',
  security: [],
  middleware: readJsonBody(),
  request: { body: jsonBody(ResetPasswordBody) },
  responses: { 200: jsonResponse(passwordChanged), ...errorResponses(400, 413, 415) },
});

const forgotPasswordRoute = createRoute({
  method: 'post',
  path: '/auth/password/forgot',
  operationId: 'auth.forgotPassword',
  summary: 'Have a link mailed with which to choose a new password; without a mail sender an admin makes the link',
  security: [],
  middleware: readJsonBody(),
  request: { body: jsonBody(ForgotPasswordBody) },
  responses: { 200: jsonResponse(mailRequested), ...errorResponses(400, 409, 413, 415) },
});
const describeInvitationRoute = createRoute({
  method: 'post',
  path: '/auth/invitations/preview',
  operationId: 'invitations.preview',
  summary: 'See what an invitation is for; it stays open',
  security: [],
  middleware: readJsonBody(),
  request: { body: jsonBody(InvitationTokenBody) },
  responses: { 200: jsonResponse(InvitationPreview), ...errorResponses(400, 413, 415) },
});
const acceptInvitationRoute = createRoute({
  method: 'post',
  path: '/auth/invitations/accept',
  operationId: 'invitations.accept',
  summary: 'Become a member by an invitation, with a new account or that of the address and password; also where sign-up is closed',
  security: [],
  middleware: readJsonBody(),
  request: { body: jsonBody(AcceptInvitationBody) },
  responses: { 200: jsonResponse(SessionRecord), ...errorResponses(400, 409, 413, 415) },
});

const signInByLinkRoute = createRoute({
  method: 'post',
  path: '/auth/sign-in-links/use',
  operationId: 'auth.signInByLink',
  summary: 'Log in by a link that the same person has made',
  security: [],
  middleware: readJsonBody(),
  request: { body: jsonBody(SignInLinkBody) },
  responses: { 200: jsonResponse(SessionRecord), ...errorResponses(400, 413, 415) },
});

/** A year and a month, the longest that browsers keep a cookie. */
const deviceDays = 400;
const deviceCookie = 'device';

const toVisitor = (c: HonoContext<HttpEnvironment>): Visitor => ({
  address: c.req.header('cf-connecting-ip'),
  deviceToken: c.req.header('cookie') && getCookie(c, deviceCookie),
  userAgent: c.req.header('user-agent'),
});

function startSession(c: HonoContext<HttpEnvironment>, { token, user, organization, deviceToken: deviceMark }: SignedIn) {
  const options = { httpOnly: true, secure: true, sameSite: 'Lax', path: '/' } as const;
  setCookie(c, sessionCookie, token, { ...options, maxAge: sessionDays * 86_400 });
  if (deviceMark) setCookie(c, deviceCookie, deviceMark, { ...options, path: '/api/v1/auth', maxAge: deviceDays * 86_400 });
  return { token, user: userRecord(user), organization: organization && organizationRecord(organization, c.var.settings) };
}

/** Open without credentials: mounted before authentication. */
export const signInRoutes = createRouter()
  .openapi(signUpRoute, async (c) => c.json(startSession(c, await signUp(c.env, c.req.valid('json'), toVisitor(c), systemClock())), 200))
  .openapi(logInRoute, async (c) => c.json(startSession(c, await logIn(c.env, c.req.valid('json'), toVisitor(c), systemClock())), 200))
  .openapi(startPasskeyLogInRoute, async (c) => c.json({ ...(await startPasskeyLogIn(c.env, c.req.url, systemClock())) }, 200))
  .openapi(logInByPasskeyRoute, async (c) => {
    const from = { requestUrl: c.req.url, visitor: toVisitor(c) };
    return c.json(startSession(c, await logInByPasskey(c.env, c.req.valid('json'), from, systemClock())), 200);
  })
  .openapi(signInByLinkRoute, async (c) =>
    c.json(startSession(c, await signInByLink(c.env, c.req.valid('json').token, toVisitor(c), systemClock())), 200),
  )
  .openapi(resetPasswordRoute, async (c) => {
    await resetPassword(c.env, c.req.valid('json'), c.req.header('cf-connecting-ip'), systemClock());
    return c.json({ status: 'changed' as const }, 200);
  })
  .openapi(forgotPasswordRoute, async (c) => {
    const request = { email: c.req.valid('json').email, address: c.req.header('cf-connecting-ip') };
    const later = (work: Promise<void>) => c.executionCtx.waitUntil(work);
    await forgotPassword(c.env, request, { log: c.var.log, later }, systemClock());
    return c.json({ status: 'requested' as const }, 200);
  })
  .openapi(describeInvitationRoute, async (c) => {
    const found = await describeInvitation(c.env, c.req.valid('json').token, systemClock());
    const { organizationName, role, email, expiresAt } = found;
    return c.json({ organization_name: organizationName, role, email, expires_at: toTimestamp(expiresAt) }, 200);
  })
  .openapi(acceptInvitationRoute, async (c) =>
    c.json(startSession(c, await acceptInvitation(c.env, c.req.valid('json'), toVisitor(c), systemClock())), 200),
  );
