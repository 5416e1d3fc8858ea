import type { Outside } from '../outside.ts';
import type { AppFailure } from './broker.ts';

const mostTries = 3;
const firstWaitMs = 500;
/** A longer wait is the caller's: no request should sleep for it. */
const standardLongestWaitMs = 5_000;

export interface Patience {
  outside: Pick<Outside, 'sleep' | 'random'>;
  longestWaitMs?: number | undefined;
}

/**
 * Tries what may be repeated without harm up to three times, with doubling waits of which half is random, or as long as is asked for. Gives
 * up when that is longer than `longestWaitMs`; the wait is then in the failure.
 */
export async function withPatience<Outcome extends object>(
  { outside, longestWaitMs = standardLongestWaitMs }: Patience,
  attempt: () => Promise<Outcome | AppFailure>,
): Promise<Outcome | AppFailure> {
  for (let tries = 1; ; tries++) {
    const outcome = await attempt();
    if (!('failure' in outcome) || (outcome.failure !== 'rate_limited' && outcome.failure !== 'unavailable')) return outcome;
    const askedMs = (outcome.retryAfterSeconds ?? 0) * 1000;
    if (tries >= mostTries || askedMs > longestWaitMs) return outcome;
    await outside.sleep(Math.max(askedMs, firstWaitMs * 2 ** (tries - 1) * (0.5 + outside.random() / 2)));
  }
}
