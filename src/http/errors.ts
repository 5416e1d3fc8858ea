import type { Hook } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { isServiceError, type ErrorCode, type Issue, type ServiceError } from '../library/errors.ts';
import { toIssues } from '../library/json/zod-issues.ts';
import {
  classifyPlatformError,
  type PlatformError,
  type PlatformErrorKind,
  type PlatformComponent,
} from '../library/platform/platform-errors.ts';
import { isValueTooLarge } from '../database/d1-limits.ts';

import type { HttpEnvironment } from './environment.ts';
import { redactPath } from './middleware/request-log.ts';

const statuses: Record<ErrorCode, ContentfulStatusCode> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  invalid: 422,
  rate_limited: 429,
  provider_failed: 502,
};

export function answerError(error: unknown, c: HonoContext<HttpEnvironment>): Response {
  if (isServiceError(error)) {
    if (error.retryAfterSeconds !== undefined) c.header('Retry-After', String(error.retryAfterSeconds));
    return c.json(toErrorBody(error), statuses[error.code]);
  }
  if (isValueTooLarge(error)) return c.json({ detail: [valueTooLargeIssue] }, 422);
  const trouble = classifyPlatformError(error);
  if (trouble) return answerPlatformError(error, trouble, c);
  if (error instanceof HTTPException) return c.json({ detail: error.message || 'Bad request' }, error.status as ContentfulStatusCode);
  c.get('log').error('request failed', error, { method: c.req.method, path: redactPath(c.req.path) });
  return c.json({ detail: 'Internal server error' }, 500);
}

/** The error for a value that the checks of its fields did not find too large. */
const valueTooLargeIssue: Issue = {
  loc: ['body'],
  msg: 'Becomes more than the 2 MB that the database takes as one value, and nothing was stored; shorten it, or send less in one request',
  type: 'too_large',
};

const componentNames: Record<PlatformComponent, string> = {
  database: 'The database',
  object: 'A part of the service',
  file_store: 'The file store',
  queue: 'The queue',
  platform: 'The platform',
};

const kindMessages: Record<PlatformErrorKind, string> = {
  refused: 'did not take the request at the moment; send it again',
  lost: 'lost its answer, and it is unknown whether this was done; look at what is there before you send it again',
};

function answerPlatformError(error: unknown, { kind: trouble, part }: PlatformError, c: HonoContext<HttpEnvironment>): Response {
  c.get('log').error('the platform is in trouble', error, { method: c.req.method, path: redactPath(c.req.path), part });
  c.header('Retry-After', '1');
  return c.json({ detail: `${componentNames[part]} ${kindMessages[trouble]}` }, 503);
}

function toErrorBody({ issues, word, message }: ServiceError): { detail: string | Issue[]; message?: string } {
  if (issues) return { detail: issues };
  return word === undefined ? { detail: message } : { detail: word, message };
}

const locationByTarget = { json: 'body', query: 'query', param: 'path', form: 'body', header: 'header', cookie: 'header' } as const;

/** A schema that does not fit is a 422 with one item a problem. */
export const answerInvalid: Hook<unknown, HttpEnvironment, string, Response | undefined> = (result, c) => {
  if (result.success) return undefined;
  return c.json({ detail: toIssues(result.error, [locationByTarget[result.target]]) }, 422);
};
