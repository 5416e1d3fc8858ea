import type { Context as HonoContext } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Database } from '../../database/client.ts';
import { conflict, invalidAt } from '../../library/errors.ts';
import { sha256Hex } from '../../library/security/hash.ts';
import type { HttpEnvironment } from '../environment.ts';
import * as store from './idempotency-store.ts';
import { idempotencyTtlMs } from '../idempotency-ttl.ts';

const maxKeyLength = 255;
const maxStoredLength = 64 * 1024;
const claimTtlMs = 60_000;
export interface IdempotencyPaths {
  /** Answers that hold secrets, which must not be stored: the header is not read. */
  secret: RegExp;
  /** The area remembers the key by itself: the header is checked, and no answer is stored. */
  ownKeys: RegExp;
  /** Requests that may last VERIFY_WAIT_SECONDS longer than others. */
  longRunning: RegExp;
}

/**
 * Replays the first answer to a changing request that carries the same Idempotency-Key, method, path, query and body. Throws 422 for a key
 * that was used with another request, and 409 while the first request is running.
 */
export const replayIdempotentRequests = ({ secret, ownKeys, longRunning }: IdempotencyPaths) =>
  createMiddleware<HttpEnvironment>(async (c, next) => {
    const { method } = c.req;
    const path = c.req.path.replace(/\/$/, '');
    const key = c.req.header('idempotency-key');
    if (key === undefined || method === 'GET' || method === 'HEAD' || secret.test(path)) return next();
    if (!key || key.length > maxKeyLength)
      throw invalidAt(['header', 'Idempotency-Key'], `Must have 1 to ${maxKeyLength} characters`, 'string_length');
    if (ownKeys.test(path)) return next();
    const { database, organization, settings, clock } = c.get('context');
    const now = clock();
    const entry: store.IdempotencyEntry = {
      organizationId: organization.id,
      scope: `${method} ${path}`,
      key,
      requestHash: sha256Hex(toSortedQuery(c) + (c.get('bodyText') ?? '')),
      createdAt: now,
    };
    const waitMs = longRunning.test(path) ? settings.VERIFY_WAIT_SECONDS * 1000 : 0;
    const earlier = await store.claim(database, entry, now - claimTtlMs - waitMs, now - idempotencyTtlMs);
    if (earlier) return replay(c, entry, earlier);
    await next();
    try {
      await storeAnswer(database, entry, c.res);
    } catch (error) {
      // The request is done, so its answer goes out. A repeat finds the mark until it lapses.
      c.get('log').error('an answer could not be kept for its Idempotency-Key', error);
    }
    return undefined;
  });

/** The query in a fixed order of names; empty for no query, so that stored answers are found. */
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

/** Temporary failures are forgotten, so that a repeat is a new try. A stream is forgotten, too, since it is not held back until its end. */
async function storeAnswer(database: Database, entry: store.IdempotencyEntry, response: Response): Promise<void> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (response.status >= 500 || response.status === 429 || isStream) return store.release(database, entry);
  const body = await response.clone().text();
  await store.storeResponse(database, entry, response.status, body.length > maxStoredLength ? shortenBody(body) : body);
}

const maxTextLength = 200;
// At most three times as many bytes in UTF-8, which fit into a D1 value.
const maxLength = 600_000;

/**
 * A JSON answer reduced to states, counts and ids. Records in arrays keep their id (those
 * without one stay whole), long texts and nested objects go. `shortened: true` says so.
 */
export function shortenBody(body: string): string {
  const text = JSON.stringify({ ...asRecord(JSON.parse(body)), shortened: true });
  return text.length > maxLength ? JSON.stringify({ shortened: true }) : text;
}

function asRecord(answer: unknown): Record<string, unknown> {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return { items: shortenValue(answer) };
  return Object.fromEntries(
    Object.entries(answer)
      .map(([name, value]) => [name, shortenValue(value)])
      .filter(([, value]) => value !== undefined),
  );
}

function shortenValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toIdOnly);
  if (typeof value === 'string') return value.length > maxTextLength ? undefined : value;
  return typeof value === 'object' && value !== null ? undefined : value;
}

const toIdOnly = (item: unknown) => (typeof item === 'object' && item !== null && 'id' in item ? { id: item.id } : item);
