import { createRoute } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { setCookie } from 'hono/cookie';
import { createArea, errorResponses, jsonBody, jsonResponse } from '../http/area.ts';
import { sessionCookie } from '../http/credentials.ts';
import type { HttpEnvironment } from '../http/environment.ts';
import { readJsonBody } from '../http/read-body.ts';
import { systemClock } from '../library/clock.ts';
import { organizationRecord, userRecord } from './records.ts';
import { LoginBody, SessionRecord, SignUpBody } from './schemas.ts';
import { logIn, sessionDays, signUp, type SignedIn } from './sign-in.ts';

const signUpRoute = createRoute({
  method: 'post',
  path: '/auth/signup',
  operationId: 'auth.signUp',
  summary: 'Sign up, with a first organization when one is named',
  security: [],
  middleware: readJsonBody,
  request: { body: jsonBody(SignUpBody) },
  responses: { 200: jsonResponse(SessionRecord), ...errorResponses(400, 403, 409, 413, 415) },
});
const logInRoute = createRoute({
  method: 'post',
  path: '/auth/login',
  operationId: 'auth.logIn',
  summary: 'Log in',
  security: [],
  middleware: readJsonBody,
  request: { body: jsonBody(LoginBody) },
  responses: { 200: jsonResponse(SessionRecord), ...errorResponses(400, 413, 415) },
});

const callerAddress = (c: HonoContext<HttpEnvironment>) => c.req.header('cf-connecting-ip');

function signedIn(c: HonoContext<HttpEnvironment>, { token, user, organization }: SignedIn) {
  setCookie(c, sessionCookie, token, { httpOnly: true, secure: true, sameSite: 'Lax', path: '/', maxAge: sessionDays * 86_400 });
  return { token, user: userRecord(user), organization: organization && organizationRecord(organization, c.var.settings) };
}

/** Open without credentials: mounted before authentication. */
export const signInRoutes = createArea()
  .openapi(signUpRoute, async (c) => c.json(signedIn(c, await signUp(c.env, c.req.valid('json'), callerAddress(c), systemClock())), 200))
  .openapi(logInRoute, async (c) => c.json(signedIn(c, await logIn(c.env, c.req.valid('json'), callerAddress(c), systemClock())), 200));
