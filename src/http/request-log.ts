import { createMiddleware } from 'hono/factory';
import { Logger } from '../library/log.ts';
import { settingsOf } from '../settings.ts';
import type { HttpEnvironment } from './environment.ts';

const usable = /^[\w.-]{1,64}$/;

/** Gives the request its id and logger, and logs how it ended: method, path and status, never bodies or credentials. */
export const logRequest = createMiddleware<HttpEnvironment>(async (c, next) => {
  const startedAt = Date.now();
  const given = c.req.header('x-request-id');
  const requestId = given && usable.test(given) ? given : crypto.randomUUID();
  c.set('requestId', requestId);
  const settings = settingsOf(c.env);
  c.set('settings', settings);
  c.set('log', new Logger(settings.LOG_LEVEL, { request_id: requestId }));
  await next();
  c.header('X-Request-Id', requestId);
  const fields = { method: c.req.method, path: loggedPath(c.req.path), status: c.res.status, duration_ms: Date.now() - startedAt };
  if (c.res.status >= 500) c.var.log.warn('request', fields);
  else c.var.log.info('request', fields);
});

/** A webhook's path is its secret when its trigger has no other. */
const loggedPath = (path: string) => path.replace(/(\/automation-workflows\/webhook\/)[^/]+/, '$1…');
