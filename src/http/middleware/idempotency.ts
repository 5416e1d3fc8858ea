import type { Context as HonoContext } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Database } from '../../database/client.ts';
import { conflict, invalidAt } from '../../library/errors.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import type { HttpEnvironment } from '../environment.ts';
import * as store from './idempotency-store.ts';
import { idempotencyTtlMs } from '../idempotency-ttl.ts';
import { shortenBody } from './shorten-body.ts';

const maxKeyLength = 255;
const maxStoredLength = 64 * 1024;
const claimTtlMs = 60_000;
/** These may wait for the tests of an agent. */
const longRunningPaths = /^\/api\/v1\/workflow\/\d+(\/verify)?$/;

// Sign-in and keys answer secrets, which must not be stored.
const excludedPaths = /^\/api\/v1\/(auth|user\/api-keys|organizations\/members)(\/|$)/;
// An event's key is its event_id, which its own row remembers.
const eventsPath = '/api/v1/events';

/** Replays the first answer to a changing request that carries the same Idempotency-Key, method, path, query and body. */
export const replayIdempotentRequests = createMiddleware<HttpEnvironment>(async (c, next) => {
  const { method } = c.req;
  const path = c.req.path.replace(/\/$/, '');
  const key = c.req.header('idempotency-key');
  if (key === undefined || method === 'GET' || method === 'HEAD' || excludedPaths.test(path)) return next();
  if (!key || key.length > maxKeyLength)
    throw invalidAt(['header', 'Idempotency-Key'], `Must have 1 to ${maxKeyLength} characters`, 'string_length');
  if (path === eventsPath) return next();
  const { database, organization, settings, clock } = c.get('context');
  const now = clock();
  const entry: store.IdempotencyEntry = {
    organizationId: organization.id,
    scope: `${method} ${path}`,
    key,
    requestHash: sha256Hex(toSortedQuery(c) + (c.get('bodyText') ?? '')),
    createdAt: now,
  };
  const waitMs = longRunningPaths.test(path) ? settings.VERIFY_WAIT_SECONDS * 1000 : 0;
  const earlier = await store.claim(database, entry, now - claimTtlMs - waitMs, now - idempotencyTtlMs);
  if (earlier) return replay(c, entry, earlier);
  await next();
  try {
    await storeAnswer(database, entry, c.res);
  } catch (error) {
    // What was asked for is done, so its answer goes out; a repeat finds the mark, which lapses.
    c.get('log').error('an answer could not be kept for its Idempotency-Key', error);
  }
  return undefined;
});

/** In whatever order its names come; empty where there is none, so that answers kept before are found. */
function toSortedQuery(c: HonoContext<HttpEnvironment>): string {
  const query = new URL(c.req.url).searchParams;
  query.sort();
  return query.size === 0 ? '' : `?${query}\n`;
}

function replay(c: HonoContext<HttpEnvironment>, entry: store.IdempotencyEntry, earlier: store.EarlierResponse): Response {
  if (earlier.requestHash !== entry.requestHash)
    throw invalidAt(['body'], 'This Idempotency-Key was used with another body or query; use a new key for a new request', 'key_reused');
  if (earlier.status === null) throw conflict('The first request with this Idempotency-Key is still running; try again in a moment');
  c.header('Idempotency-Replayed', 'true');
  return c.body(earlier.body ?? '', earlier.status as ContentfulStatusCode, { 'Content-Type': 'application/json' });
}

/** Failures of the moment are forgotten, so that the repeat is a new try; and so is a stream, which is not held back until its end. */
async function storeAnswer(database: Database, entry: store.IdempotencyEntry, response: Response): Promise<void> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (response.status >= 500 || response.status === 429 || isStream) return store.release(database, entry);
  const body = await response.clone().text();
  await store.storeResponse(database, entry, response.status, body.length > maxStoredLength ? shortenBody(body) : body);
}
