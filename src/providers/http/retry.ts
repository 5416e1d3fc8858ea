import pRetry from 'p-retry';
import { systemRuntime, type Runtime } from './runtime.ts';

const defaultMaxAttempts = 3;
/** The caller has to wait longer itself: a request does not sleep for longer. */
const defaultMaxWaitMs = 5_000;
const initialDelayMs = 500;

export interface RetryOptions<Outcome> {
  /** Whether the same request may succeed in a moment. */
  isTransient: (outcome: Outcome) => boolean;
  /** The wait that the provider demands; undefined: none. */
  retryAfterSeconds: (outcome: Outcome) => number | undefined;
  /** Default 3. */
  maxAttempts?: number | undefined;
  /** Returns the outcome when the provider demands a longer wait. Default 5,000. */
  maxWaitMs?: number | undefined;
  /** Whether a wait and another attempt fit into the remaining time. Default: always. */
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
 * Repeats an attempt while its outcome is transient; a second attempt must do no harm. Waits 0.5 s, then 1 s and so on, half of it random,
 * or as long as the provider demands. Returns the last outcome; throws what `attempt` throws.
 */
export async function retryTransient<Outcome>(attempt: () => Promise<Outcome>, options: RetryOptions<Outcome>): Promise<Outcome> {
  const { isTransient, retryAfterSeconds, maxAttempts = defaultMaxAttempts, maxWaitMs = defaultMaxWaitMs } = options;
  const { hasTimeFor = () => true, runtime = systemRuntime } = options;
  const attemptOnce = async () => {
    const outcome = await attempt();
    if (isTransient(outcome)) throw new TransientOutcomeError(outcome);
    return outcome;
  };
  // The waits are not p-retry's, because providers demand their own and tests control the clock.
  const waitForRetry = async ({ error, attemptNumber }: { error: Error; attemptNumber: number }) => {
    if (!(error instanceof TransientOutcomeError)) return false;
    const demandedMs = (retryAfterSeconds(error.outcome as Outcome) ?? 0) * 1000;
    const waitMs = Math.max(demandedMs, initialDelayMs * 2 ** (attemptNumber - 1) * (0.5 + runtime.random() / 2));
    if (demandedMs > maxWaitMs || !hasTimeFor(waitMs)) return false;
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
