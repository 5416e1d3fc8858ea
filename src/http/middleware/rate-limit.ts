import { LRUCache } from 'lru-cache';
import { lazily } from '../../library/lazily.ts';
import type { Organization } from '../../context.ts';
import { rateLimited } from '../../library/errors.ts';
import type { Logger } from '../../library/platform/log.ts';

const windowMs = 10_000;
/** `simple.limit` of the RATE_LIMITER binding in wrangler.toml; the binding's period is the window of this file. */
const unitsPerWindow = 60;

const windows = lazily(() => new LRUCache<string, { startedAt: number; count: number }>({ max: 10_000 }));

/** A limit in 10 s on the requests of `key`. `exceededMessage` begins the error, such as `More than 600 requests in 10 seconds`. */
export interface RateLimit {
  key: string;
  limit: number;
  exceededMessage: string;
}

/**
 * Counts one request of `rate`, and throws 429 beyond the limit. This isolate counts exactly. The binding, where there is one, also counts
 * the requests of other isolates of the same place. The binding's own limit is a fixed number of units, each worth a sixtieth of `limit`: a
 * setting alone raises the limit, and most requests need no call. The binding is permissive and eventually consistent, a guard and not a
 * quota: when it fails, requests pass.
 */
export async function enforceRate(
  bindings: Env,
  { key, limit, exceededMessage: beyond }: RateLimit,
  now: number,
  log: Logger,
): Promise<void> {
  const window = openWindow(key, now);
  window.count++;
  const countPerUnit = Math.ceil(limit / unitsPerWindow);
  const isUnitDue = window.count % countPerUnit === 0;
  if (window.count <= limit && !(isUnitDue && (await isRefusedByBinding(bindings, key, log)))) return;
  const seconds = Math.ceil((window.startedAt + windowMs - now) / 1000);
  throw rateLimited(`${beyond}; wait ${seconds} s, then send fewer at a time`, seconds);
}

/** Whether `rate` is used up, as far as this isolate knows. Counts nothing. */
export function requireRateAvailable({ key, limit, exceededMessage: beyond }: RateLimit, now: number): void {
  const window = windows().get(key);
  if (!window || window.count < limit || now < window.startedAt || now - window.startedAt >= windowMs) return;
  const seconds = Math.ceil((window.startedAt + windowMs - now) / 1000);
  throw rateLimited(`${beyond}; wait ${seconds} s, then send fewer at a time`, seconds);
}

/** At most `limit` requests (RATE_LIMIT_REQUESTS) for a credential, and the plan's for all credentials of its organization together. */
export async function enforceRateLimit(
  bindings: Env,
  limit: number,
  credential: string,
  organization: Organization | null,
  now: number,
  log: Logger,
): Promise<void> {
  await enforceRate(bindings, { key: credential, limit, exceededMessage: `More than ${limit} requests in 10 seconds` }, now, log);
  if (!organization) return;
  const { requestsPer10Seconds: together } = organization.plan;
  const beyond = `More than ${together} requests in 10 seconds with all credentials of the organization (requests_per_10_seconds of its plan)`;
  await enforceRate(bindings, { key: `organization:${organization.id}`, limit: together, exceededMessage: beyond }, now, log);
}

function openWindow(key: string, now: number) {
  const known = windows().get(key);
  if (known && now - known.startedAt < windowMs && now >= known.startedAt) return known;
  const opened = { startedAt: now, count: 0 };
  windows().set(key, opened);
  return opened;
}

async function isRefusedByBinding(bindings: Partial<Env>, key: string, log: Logger): Promise<boolean> {
  if (!bindings.RATE_LIMITER) return false;
  try {
    return !(await bindings.RATE_LIMITER.limit({ key })).success;
  } catch (error) {
    log.error('the rate limiter failed; the request passes', error);
    return false;
  }
}
