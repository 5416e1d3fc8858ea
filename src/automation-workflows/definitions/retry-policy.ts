import type { z } from 'zod';
import type { RetrySettings } from './settings.ts';

export type RetryPolicy = z.infer<typeof RetrySettings>;

/** A longer Retry-After is cut to this. */
const maxRetryAfterSeconds = 300;

/**
 * Milliseconds to wait after attempt number `attempt` (1 = the first) has failed. Waits grow by `factor` up to `max_delay_seconds`. Half of
 * each wait is random, so that runs that failed together do not retry together. A server's Retry-After is the shortest wait, up to five
 * minutes. `random` returns numbers from 0 up to 1.
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, retryAfterSeconds: number | undefined, random: () => number): number {
  const delaySeconds = Math.min(
    policy.initial_delay_seconds * Math.min(policy.factor ** (attempt - 1), Number.MAX_VALUE),
    policy.max_delay_seconds,
  );
  const jitteredSeconds = delaySeconds * (0.5 + random() / 2);
  const minSeconds = Math.min(Math.max(retryAfterSeconds ?? 0, 0), maxRetryAfterSeconds);
  return Math.round(Math.max(jitteredSeconds, minSeconds) * 1000);
}
