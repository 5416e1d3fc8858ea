import { createMiddleware } from 'hono/factory';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Database } from '../database/client.ts';
import { conflict, invalidAt } from '../library/errors.ts';
import { sha256Hex } from '../library/hash.ts';
import type { HttpEnvironment } from './environment.ts';
import * as store from './idempotency-store.ts';
import { keptMs } from './idempotency-store.ts';

const maximumKeyLength = 255;
const maximumStoredLength = 64 * 1024;
const runningLapsesAfterMs = 60_000;

// Sign-in and keys answer secrets, which must not be stored; an event's key is its event_id.
const notHonoured = /\/api\/v1\/(auth|user\/api-keys|events\/?$)/;

/** Replays the first answer to a changing request that carries the same Idempotency-Key, method, path and body. */
export const replayRepeats = createMiddleware<HttpEnvironment>(async (c, next) => {
  const key = c.req.header('idempotency-key');
  if (key === undefined || c.req.method === 'GET' || c.req.method === 'HEAD' || notHonoured.test(c.req.path)) return next();
  if (!key || key.length > maximumKeyLength)
    throw invalidAt(['header', 'Idempotency-Key'], `Must have 1 to ${maximumKeyLength} characters`, 'string_length');
  const { database, organization, clock } = c.var.context;
  const entry = {
    organizationId: organization.id,
    scope: `${c.req.method} ${c.req.path.replace(/\/$/, '')}`,
    key,
    requestHash: sha256Hex(c.var.bodyText ?? ''),
  };
  const now = clock();
  const earlier = await store.claim(database, entry, now, now - runningLapsesAfterMs, now - keptMs);
  if (earlier) {
    if (earlier.requestHash !== entry.requestHash)
      throw invalidAt(['header', 'Idempotency-Key'], 'This key was used with another body; use a new key for a new request', 'key_reused');
    if (earlier.status === null) throw conflict('The first request with this Idempotency-Key is still running; try again in a moment');
    c.header('Idempotency-Replayed', 'true');
    return c.body(earlier.body ?? '', earlier.status as ContentfulStatusCode, { 'Content-Type': 'application/json' });
  }
  await next();
  await keepAnswer(database, entry, c.res);
  return undefined;
});

/** Failures of the moment are forgotten, so that the repeat is a new try. */
async function keepAnswer(database: Database, entry: store.Entry, response: Response): Promise<void> {
  if (response.status >= 500 || response.status === 429) return store.release(database, entry);
  const body = await response.clone().text();
  await store.settle(database, entry, response.status, body.length > maximumStoredLength ? shortened(body) : body);
}

/** A large answer keeps its counts and ids. */
function shortened(body: string): string {
  const answer = JSON.parse(body) as Record<string, unknown>;
  const short = Object.entries(answer).map(([name, value]) => [name, Array.isArray(value) ? value.map(onlyId) : value]);
  const text = JSON.stringify({ ...Object.fromEntries(short), shortened: true });
  return text.length > 1_000_000 ? JSON.stringify({ shortened: true }) : text;
}

const onlyId = (item: unknown) => (typeof item === 'object' && item !== null && 'id' in item ? { id: item.id } : item);
