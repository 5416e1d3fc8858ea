import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import type { HttpEnvironment } from '../environment.ts';

const exposedHeaders = ['X-Request-Id', 'Retry-After', 'Idempotency-Replayed', 'Warning', 'Location'];
const preflightSeconds = 600;

/**
 * Lets pages of the origins in CORS_ALLOWED_ORIGINS call the API from a browser, by a key or a session's token. The session's cookie is the
 * service's own pages' alone, so credentials are not allowed. Preflights are answered here, without credentials.
 */
export const allowOrigins = createMiddleware<HttpEnvironment>((c, next) => {
  const allowed = c.get('settings').CORS_ALLOWED_ORIGINS;
  if (allowed.length === 0) return next();
  return cors({ origin: allowed, exposeHeaders: exposedHeaders, maxAge: preflightSeconds })(c, next);
});
