import { retryTransient } from '../http/retry.ts';
import type { Runtime } from '../http/runtime.ts';
import type { CompletionFailure, FailureType } from './contract.ts';

/** Less time than this is not worth another try. */
const minAttemptMs = 1_000;

/** Worth another try at once; a bad answer is not, since it was paid for. */
const transientFailures = new Set<FailureType>(['rate_limited', 'provider_failed']);

/**
 * Tries up to `maxAttempts` times (default 3). Gives up, with the wait in `retry_after_seconds`, when the provider asks for more than five
 * seconds, or when the wait does not end well before `deadline` (epoch ms). `attempt` is given the time that is left.
 */
export const withRetry = <Outcome extends object>(
  runtime: Pick<Runtime, 'sleep' | 'random' | 'now'>,
  deadline: number,
  attempt: (timeoutMs: number) => Promise<Outcome | CompletionFailure>,
  maxAttempts?: number,
): Promise<Outcome | CompletionFailure> =>
  retryTransient(() => attempt(Math.max(1, Math.ceil(deadline - runtime.now()))), {
    runtime,
    maxAttempts,
    isTransient: (outcome) => 'failure' in outcome && outcome.retryable && transientFailures.has(outcome.failure),
    retryAfterSeconds: (outcome) => ('failure' in outcome ? outcome.retry_after_seconds : undefined),
    hasTimeFor: (waitMs) => runtime.now() + waitMs + minAttemptMs <= deadline,
  });
