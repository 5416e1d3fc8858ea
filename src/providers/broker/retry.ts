import type { Runtime } from '../http/runtime.ts';
import type { AppFailure } from './broker.ts';

const maxAttempts = 3;
const initialDelayMs = 500;
/** A longer wait is the caller's: no request should sleep for it. */
const defaultMaxWaitMs = 5_000;

export interface RetryOptions {
  outside: Pick<Runtime, 'sleep' | 'random'>;
  maxWaitMs?: number | undefined;
}

/**
 * Tries what may be repeated without harm up to three times, with doubling waits of which half is random, or as long as is asked for. Gives
 * up when that is longer than `maxWaitMs`; the wait is then in the failure.
 */
export async function withRetry<Outcome extends object>(
  { outside, maxWaitMs: longestWaitMs = defaultMaxWaitMs }: RetryOptions,
  attempt: () => Promise<Outcome | AppFailure>,
): Promise<Outcome | AppFailure> {
  for (let tries = 1; ; tries++) {
    const outcome = await attempt();
    if (!('failure' in outcome) || (outcome.failure !== 'rate_limited' && outcome.failure !== 'unavailable')) return outcome;
    const askedMs = (outcome.retryAfterSeconds ?? 0) * 1000;
    if (tries >= maxAttempts || askedMs > longestWaitMs) return outcome;
    await outside.sleep(Math.max(askedMs, initialDelayMs * 2 ** (tries - 1) * (0.5 + outside.random() / 2)));
  }
}
