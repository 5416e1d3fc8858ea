import { retryTransient } from '../http/retry.ts';
import type { Runtime } from '../http/runtime.ts';
import type { AppFailure } from './broker.ts';

export interface RetryOptions {
  runtime: Pick<Runtime, 'sleep' | 'random'>;
  /** Default 5,000. */
  maxWaitMs?: number | undefined;
}

/** Tries what may be repeated without harm up to three times. After a wait beyond `maxWaitMs` was asked for, the failure tells that wait. */
export const withRetry = <Outcome extends object>(
  options: RetryOptions,
  attempt: () => Promise<Outcome | AppFailure>,
): Promise<Outcome | AppFailure> =>
  retryTransient(attempt, {
    ...options,
    isTransient: (outcome) => 'failure' in outcome && (outcome.failure === 'rate_limited' || outcome.failure === 'unavailable'),
    retryAfterSeconds: (outcome) => ('failure' in outcome ? outcome.retryAfterSeconds : undefined),
  });
