import { rateLimited } from '../library/errors.ts';
import type { Logger } from '../library/log.ts';

const windowMs = 10_000;
const maximumEntries = 10_000;
/** `simple.limit` of the RATE_LIMITER binding in wrangler.toml, whose period is the window's. */
const unitsPerWindow = 60;

const windows = new Map<string, { startedAt: number; count: number }>();

/**
 * At most `limit` requests (RATE_LIMIT_REQUESTS) in 10 s for a credential; throws 429. This isolate counts exactly. The
 * binding, where there is one, adds what other isolates of the same place have seen: its own limit is a fixed number of
 * units, each worth a sixtieth of `limit` requests, so that the variable alone raises the limit, and most requests make no
 * call. The binding is permissive and eventually consistent, a guard and no quota: when it fails, requests pass.
 */
export async function enforceRateLimit(bindings: Env, limit: number, credential: string, now: number, log: Logger): Promise<void> {
  const window = windowOf(credential, now);
  window.count++;
  const requestsPerUnit = Math.ceil(limit / unitsPerWindow);
  const isUnitDue = window.count % requestsPerUnit === 0;
  if (window.count <= limit && !(isUnitDue && (await isRefused(bindings, credential, log)))) return;
  const seconds = Math.ceil((window.startedAt + windowMs - now) / 1000);
  throw rateLimited(`More than ${limit} requests in 10 seconds; wait ${seconds} s, then send fewer at a time`, seconds);
}

function windowOf(credential: string, now: number) {
  const known = windows.get(credential);
  if (known && now - known.startedAt < windowMs && now >= known.startedAt) return known;
  const opened = { startedAt: now, count: 0 };
  windows.delete(credential);
  if (windows.size >= maximumEntries) windows.delete(windows.keys().next().value!);
  windows.set(credential, opened);
  return opened;
}

async function isRefused(bindings: Partial<Env>, credential: string, log: Logger): Promise<boolean> {
  if (!bindings.RATE_LIMITER) return false;
  try {
    return !(await bindings.RATE_LIMITER.limit({ key: credential })).success;
  } catch (error) {
    log.error('the rate limiter failed; the request passes', error);
    return false;
  }
}
