import type { z } from 'zod';
import type { RetrySettings } from './settings.ts';

export type RetryPolicy = z.infer<typeof RetrySettings>;

/** A server may ask for patience, but not for more than this. */
const maxRetryAfterSeconds = 300;

/**
 * Milliseconds to wait after attempt number `attempt` (1 = the first) has failed. Waits grow by `factor` up to `max_delay_seconds`; the
 * random half of each spreads runs that failed together. A server's Retry-After is the least wait, up to five minutes.
 * `random` gives numbers from 0 up to 1.
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, retryAfterSeconds: number | undefined, random: () => number): number {
  const grown = Math.min(
    policy.initial_delay_seconds * Math.min(policy.factor ** (attempt - 1), Number.MAX_VALUE),
    policy.max_delay_seconds,
  );
  const jittered = grown * (0.5 + random() / 2);
  const asked = Math.min(Math.max(retryAfterSeconds ?? 0, 0), maxRetryAfterSeconds);
  return Math.round(Math.max(jittered, asked) * 1000);
}
