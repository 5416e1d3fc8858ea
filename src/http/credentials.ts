import type { Context as HonoContext } from 'hono';
import { getCookie } from 'hono/cookie';
import { createMiddleware } from 'hono/factory';
import { requireScope } from '../accounts/api-keys.ts';
import { authenticateKey, authenticateSession } from '../accounts/authenticate.ts';
import { shard } from '../database/shards.ts';
import { systemClock } from '../library/clock.ts';
import { badRequest, unauthorized } from '../library/errors.ts';
import type { HttpEnvironment } from './environment.ts';
import { enforceRateLimit } from './rate-limit.ts';

/** The session token of a request: bearer or cookie. */
export function tokenOf(c: HonoContext<HttpEnvironment>): string | undefined {
  const bearer = /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1];
  return bearer ?? getCookie(c, 'session');
}

/** Paths that a signed-in user without an organization may call. */
const withoutOrganization = /\/auth\/(logout|me|organizations?)\/?$/;

/** Finds out who is calling and for which organization: 401, 403 for the scope, 429, or 400 without organization. */
export const authenticate = createMiddleware<HttpEnvironment>(async (c, next) => {
  const now = systemClock();
  const key = c.req.header('x-api-key');
  const token = key ? undefined : tokenOf(c);
  if (!key && !token) throw unauthorized('Missing credentials; send an X-API-Key header, or log in');
  const { caller, organization } = key ? await authenticateKey(c.env, key, now) : await authenticateSession(c.env, token!, now);
  c.set('caller', caller);
  await enforceRateLimit(c.env, c.var.settings.RATE_LIMIT_REQUESTS, caller.credential, now);
  requireScope(caller.scopes, c.req.method, c.req.path);
  if (organization) {
    const log = c.var.log.with({ organization_id: organization.id });
    c.set('log', log);
    c.set('context', {
      organization,
      database: shard(c.env, organization.shard),
      bindings: c.env,
      settings: c.var.settings,
      clock: systemClock,
      log,
      defer: (work) => c.executionCtx.waitUntil(work.catch((error: unknown) => log.error('deferred work failed', error))),
    });
  } else if (!withoutOrganization.test(c.req.path)) {
    throw badRequest('No organization selected');
  }
  return next();
});
