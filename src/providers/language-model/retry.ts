import { retryTransient } from '../http/retry.ts';
import type { Runtime } from '../http/runtime.ts';
import type { CompletionFailure, FailureType } from './contract.ts';

/** The minimum of remaining time for another attempt. */
const minAttemptMs = 1_000;

/** Failures that are retried at once. An invalid answer is not: it was paid for. */
const transientFailures = new Set<FailureType>(['rate_limited', 'provider_failed']);

/**
 * Tries up to `maxAttempts` times (default 3). Returns the failure when the provider demands more than five seconds, or when the wait ends
 * too close to `deadline` (epoch ms). `attempt` gets the remaining time.
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
