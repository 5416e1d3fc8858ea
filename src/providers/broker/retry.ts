import { retryTransient } from '../http/retry.ts';
import type { Runtime } from '../http/runtime.ts';
import type { AppFailure } from './broker.ts';

export interface RetryOptions {
  runtime: Pick<Runtime, 'sleep' | 'random'>;
  /** Default 5,000. */
  maxWaitMs?: number | undefined;
}

/** Tries a repeatable request up to three times. Returns the failure when the provider demands a wait beyond `maxWaitMs`. */
export const withRetry = <Outcome extends object>(
  options: RetryOptions,
  attempt: () => Promise<Outcome | AppFailure>,
): Promise<Outcome | AppFailure> =>
  retryTransient(attempt, {
    ...options,
    isTransient: (outcome) => 'failure' in outcome && (outcome.failure === 'rate_limited' || outcome.failure === 'unavailable'),
    retryAfterSeconds: (outcome) => ('failure' in outcome ? outcome.retryAfterSeconds : undefined),
  });
