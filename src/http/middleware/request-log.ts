import { createMiddleware } from 'hono/factory';
import { Logger } from '../../library/platform/log.ts';
import { getSettings } from '../../settings.ts';
import type { HttpEnvironment } from '../environment.ts';

const requestIdPattern = /^[\w.-]{1,64}$/;

/** Gives the request its id and logger, and logs how it ended: method, path and status, never bodies or credentials. */
export const logRequest = createMiddleware<HttpEnvironment>(async (c, next) => {
  const startedAt = Date.now();
  const given = c.req.header('x-request-id');
  const requestId = given && requestIdPattern.test(given) ? given : crypto.randomUUID();
  c.set('requestId', requestId);
  // Set before the handler answers: setting a header on a finished answer copies the whole answer.
  c.header('X-Request-Id', requestId);
  // A logger that needs no settings, so that wrong settings can be logged.
  c.set('log', new Logger('error', { request_id: requestId }));
  const settings = getSettings(c.env);
  c.set('settings', settings);
  c.set('log', new Logger(settings.LOG_LEVEL, { request_id: requestId }));
  await next();
  if (!c.res.headers.has('X-Request-Id')) c.header('X-Request-Id', requestId);
  const { status } = c.res;
  const fields = { method: c.req.method, path: redactPath(c.req.path), status, duration_ms: Date.now() - startedAt };
  const log = c.get('log');
  if (status >= 500) log.warn('request', fields);
  else log.info('request', fields);
});

/**
 * The path of a webhook is a secret when its trigger has no other. The paths of a call's socket and of message callbacks contain a token.
 */
export const redactPath = (path: string): string =>
  path
    .replace(/(\/automation-workflows\/webhook\/)[^/]+/, '$1…')
    .replace(/(\/telephony\/.*\/relay\/).*$/, '$1****')
    .replace(/(\/messaging-config\/callbacks\/[^/]*\/).*$/, '$1****');
