import { Hono, type Context as HonoContext } from 'hono';
import { authenticateKey, authenticateSession, type Identity } from '../accounts/authentication/identity.ts';
import { answerError } from '../http/errors.ts';
import type { HttpEnvironment } from '../http/environment.ts';
import { enforceRateLimit } from '../http/middleware/rate-limit.ts';
import { systemClock } from '../library/time/clock.ts';
import { lazyModule } from '../library/lazy-module.ts';
import { badRequest, forbidden, isServiceError, unauthorized } from '../library/errors.ts';
import type { ServedApi } from './serve-message.ts';

/**
 * The Model Context Protocol over streamable HTTP, without sessions: every message stands alone and carries the API key, as
 * `Authorization: Bearer` or `X-API-Key`. A tool is called by a request to the API itself with the same key, so that its scope, rate limit,
 * checks and idempotency keys hold here too. Cookies count for nothing, so no page can call it in its visitor's name.
 */
const messages = lazyModule(() => import('./serve-message.ts'));

export function mcpRoutes(api: ServedApi) {
  const routes = new Hono<HttpEnvironment>();
  routes.all('/mcp', async (c) => {
    requireAllowedOrigin(c);
    const credentials = parseCredentials(c);
    const { caller, organization } = await authenticate(c, credentials).catch((error: unknown) => {
      if (isServiceError(error) && error.code === 'unauthorized') c.header('WWW-Authenticate', 'Bearer error="invalid_token"');
      throw error;
    });
    if (!organization) throw badRequest('No organization selected');
    await enforceRateLimit(c.env, c.var.settings.RATE_LIMIT_REQUESTS, caller.credential, organization, systemClock(), c.var.log);
    const address = c.req.header('cf-connecting-ip');
    const headers = { ...credentials, 'X-Request-Id': c.var.requestId, ...(address && { 'CF-Connecting-IP': address }) };
    const requestContext = { origin: new URL(c.req.url).origin, headers };
    const { serveMessage } = await messages();
    return serveMessage(api, c, caller.scopes, requestContext);
  });
  routes.onError((error, c) => answerError(error, c));
  return routes;
}

type Credentials = { 'X-API-Key': string } | { Authorization: string };

/** As the API takes them. Throws 401. */
function parseCredentials(c: HonoContext<HttpEnvironment>): Credentials {
  const bearer = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '')?.[1];
  const key = c.req.header('x-api-key') ?? (bearer?.startsWith('vaa_') ? bearer : undefined);
  if (key) return { 'X-API-Key': key };
  if (bearer) return { Authorization: `Bearer ${bearer}` };
  c.header('WWW-Authenticate', 'Bearer');
  throw unauthorized('Missing credentials; send the API key as "Authorization: Bearer vaa_..."');
}

function authenticate(c: HonoContext<HttpEnvironment>, credentials: Credentials): Promise<Identity> {
  if ('X-API-Key' in credentials) return authenticateKey(c.env, credentials['X-API-Key'], systemClock());
  return authenticateSession(c.env, credentials.Authorization.slice('Bearer '.length), systemClock());
}

/** The protocol asks servers to refuse pages of sites that are not allowed, which a browser names in `Origin`. */
function requireAllowedOrigin(c: HonoContext<HttpEnvironment>): void {
  const origin = c.req.header('origin');
  const allowed = [new URL(c.req.url).origin, ...c.var.settings.CORS_ALLOWED_ORIGINS];
  if (origin !== undefined && !allowed.includes(origin))
    throw forbidden(`Pages of ${origin} may not call this address; CORS_ALLOWED_ORIGINS names those that may`);
}
