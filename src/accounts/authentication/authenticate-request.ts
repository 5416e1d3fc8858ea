import type { Context as HonoContext } from 'hono';
import { getCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import { matchedRoutes } from 'hono/route';
import { authenticateKey, authenticateSession } from './identity.ts';
import { requireScope } from './scopes.ts';
import { shard } from '../../database/shards.ts';
import { systemClock } from '../../library/time/clock.ts';
import { badRequest, isServiceError, unauthorized } from '../../library/errors.ts';
import type { HttpEnvironment, SessionToken } from '../../http/environment.ts';
import { enforceRateLimit } from '../../http/middleware/rate-limit.ts';

export const sessionCookie = 'session';

/** Paths that a signed-in user without an organization may call. */
const withoutOrganization =
  /^\/api\/v1\/auth\/(logout|me|me\/delete|organizations?|password|sessions|sessions\/[0-9a-f]+|invitations\/join|sign-in-links|passkeys|passkeys\/(options|\d+))$/;

/** Authenticates the caller and finds the organization. Throws 401, 403 for a missing scope, 429, or 400 without an organization. */
export const authenticate = createMiddleware<HttpEnvironment>(async (c, next) => {
  const now = systemClock();
  const { method, path } = c.req;
  const key = c.req.header('x-api-key');
  const session = key ? undefined : readSessionToken(c);
  const { caller, organization } = key
    ? await authenticateKey(c.env, key, now)
    : await authenticateSession(c.env, requireToken(session), now);
  const settings = c.get('settings');
  let log = c.get('log');
  c.set('caller', caller);
  c.set('session', session);
  await enforceRateLimit(c.env, settings.RATE_LIMIT_REQUESTS, caller.credential, organization, now, log);
  if (organization) {
    if (isOperation(c)) requireScope(caller.scopes, method, path);
    log = log.with({ organization_id: organization.id });
    c.set('log', log);
    c.set('context', {
      organization,
      database: shard(c.env, organization.shard),
      bindings: c.env,
      settings,
      clock: systemClock,
      log,
      defer: (work) => c.executionCtx.waitUntil(work.catch((error: unknown) => log.error('deferred work failed', error))),
    });
  } else if (!withoutOrganization.test(path)) {
    throw badRequest('No organization selected');
  }
  return next();
});

/** Whether there is an operation at the path; what is none is answered as not found, whoever asks. Middleware is there for all methods. */
const isOperation = (c: HonoContext<HttpEnvironment>): boolean => matchedRoutes(c).some(({ method }) => method !== 'ALL');

/** Whether a request to a route without authentication carries the credentials of an admin. Invalid credentials count as none. */
export async function isAdmin(c: HonoContext<HttpEnvironment>): Promise<boolean> {
  try {
    const key = c.req.header('x-api-key');
    const now = systemClock();
    const session = key ? undefined : readSessionToken(c);
    if (!key && !session) return false;
    const { caller } = key ? await authenticateKey(c.env, key, now) : await authenticateSession(c.env, requireToken(session), now);
    return caller.scopes.includes('admin');
  } catch (error) {
    if (isServiceError(error)) return false;
    throw error;
  }
}

function readSessionToken(c: HonoContext<HttpEnvironment>): SessionToken | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1];
  if (bearer?.startsWith('vaa_')) throw unauthorized('An API key goes into the X-API-Key header, not into Authorization');
  if (bearer) return { token: bearer, isCookie: false };
  const cookie = c.req.header('cookie') && getCookie(c, sessionCookie);
  return cookie && !isCrossSite(c) ? { token: cookie, isCookie: true } : undefined;
}

/**
 * Whether the browser reports that a page of another site sent this change. The session cookie then does not prove that the user wants the
 * change.
 */
function isCrossSite(c: HonoContext<HttpEnvironment>): boolean {
  const site = c.req.header('sec-fetch-site');
  return c.req.method !== 'GET' && c.req.method !== 'HEAD' && (site === 'cross-site' || site === 'same-site');
}

function requireToken(session: SessionToken | undefined): string {
  if (session) return session.token;
  throw unauthorized('Missing credentials; send an X-API-Key header, or log in');
}
