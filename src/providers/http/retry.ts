import pRetry from 'p-retry';
import { systemRuntime, type Runtime } from './runtime.ts';

const defaultMaxAttempts = 3;
/** A longer wait is the caller's: no request should sleep for it. */
const defaultMaxWaitMs = 5_000;
const initialDelayMs = 500;

export interface RetryOptions<Outcome> {
  /** Whether the same request may succeed in a moment. */
  isTransient: (outcome: Outcome) => boolean;
  /** How long the provider asks us to wait; undefined where it does not ask. */
  retryAfterSeconds: (outcome: Outcome) => number | undefined;
  /** Default 3. */
  maxAttempts?: number | undefined;
  /** Gives up when the provider asks for a longer wait. Default 5,000. */
  maxWaitMs?: number | undefined;
  /** Whether there is still time for a wait and another attempt. Default: always. */
  hasTimeFor?: (waitMs: number) => boolean;
  runtime?: Pick<Runtime, 'sleep' | 'random'> | undefined;
}

class TransientOutcomeError extends Error {
  readonly outcome: unknown;
  constructor(outcome: unknown) {
    super('transient');
    this.outcome = outcome;
  }
}

/**
 * Repeats an attempt that does no harm twice while its outcome is transient. Waits 0.5 s, then 1 s and so on, of which half is random, or as
 * long as the provider asks for. Answers the last outcome; throws what `attempt` throws.
 */
export async function retryTransient<Outcome>(attempt: () => Promise<Outcome>, options: RetryOptions<Outcome>): Promise<Outcome> {
  const { isTransient, retryAfterSeconds, maxAttempts = defaultMaxAttempts, maxWaitMs = defaultMaxWaitMs } = options;
  const { hasTimeFor = () => true, runtime = systemRuntime } = options;
  const attemptOnce = async () => {
    const outcome = await attempt();
    if (isTransient(outcome)) throw new TransientOutcomeError(outcome);
    return outcome;
  };
  // The waits are ours, since tests set the clock and providers ask for waits of their own.
  const waitForRetry = async ({ error, attemptNumber }: { error: Error; attemptNumber: number }) => {
    if (!(error instanceof TransientOutcomeError)) return false;
    const askedMs = (retryAfterSeconds(error.outcome as Outcome) ?? 0) * 1000;
    const waitMs = Math.max(askedMs, initialDelayMs * 2 ** (attemptNumber - 1) * (0.5 + runtime.random() / 2));
    if (askedMs > maxWaitMs || !hasTimeFor(waitMs)) return false;
    await runtime.sleep(waitMs);
    return true;
  };
  try {
    return await pRetry(attemptOnce, { retries: maxAttempts - 1, minTimeout: 0, shouldRetry: waitForRetry });
  } catch (error) {
    if (error instanceof TransientOutcomeError) return error.outcome as Outcome;
    throw error;
  }
}
