import type { Runtime } from '../http/runtime.ts';
import type { CompletionFailure, FailureType } from './language-model.ts';

const maxAttempts = 3;
const initialDelayMs = 500;
/** A longer wait is the caller's: nothing should sleep in a call for it. */
const maxWaitMs = 5_000;
/** Less time than this is not worth another try. */
const minAttemptMs = 1_000;

/** Worth another try at once; a bad answer is not, since it was paid for. */
const transientFailures = new Set<FailureType>(['rate_limited', 'provider_failed']);

/**
 * Tries up to `most` times, with doubling waits of which half is random, or as long as the provider asks for. Gives up, with the wait in
 * `retry_after_seconds`, when that is over five seconds or does not end well before `deadline` (epoch ms).
 */
export async function withRetry<Outcome extends object>(
  outside: Pick<Runtime, 'sleep' | 'random' | 'now'>,
  deadline: number,
  attempt: (timeoutMs: number) => Promise<Outcome | CompletionFailure>,
  most = maxAttempts,
): Promise<Outcome | CompletionFailure> {
  for (let tries = 1; ; tries++) {
    const outcome = await attempt(Math.max(1, Math.ceil(deadline - outside.now())));
    if (!('failure' in outcome) || !outcome.retryable || !transientFailures.has(outcome.failure) || tries >= most) return outcome;
    const asked = (outcome.retry_after_seconds ?? 0) * 1000;
    const waitMs = Math.max(asked, initialDelayMs * 2 ** (tries - 1) * (0.5 + outside.random() / 2));
    if (asked > maxWaitMs || outside.now() + waitMs + minAttemptMs > deadline) return outcome;
    await outside.sleep(waitMs);
  }
}
