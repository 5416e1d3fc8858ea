import { rateLimited } from '../library/errors.ts';

const windowMs = 10_000;
const maximumEntries = 10_000;
const windows = new Map<string, { startedAt: number; count: number }>();

/**
 * At most `limit` requests in 10 s for a credential. This isolate counts exactly; the binding, where there is one, adds
 * what other isolates of the same place have seen (it is permissive and eventually consistent: a guard, not a quota).
 */
export async function enforceRateLimit(bindings: Env, limit: number, credential: string, now: number): Promise<void> {
  let window = windows.get(credential);
  if (!window || now - window.startedAt >= windowMs || now < window.startedAt) {
    if (windows.size >= maximumEntries) windows.clear();
    window = { startedAt: now, count: 0 };
    windows.set(credential, window);
  }
  window.count++;
  const isOver = window.count > limit || !(await bindings.RATE_LIMITER.limit({ key: credential })).success;
  if (isOver)
    throw rateLimited(
      `More than ${limit} requests in 10 seconds; slow down`,
      Math.max(1, Math.ceil((window.startedAt + windowMs - now) / 1000)),
    );
}
