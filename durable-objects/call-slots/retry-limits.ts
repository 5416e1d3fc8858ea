import { givenUpPrefix } from '../../src/outbox/failed-messages.ts';
import type { StoredAttempt } from './stored-attempt.ts';

const minRetryDelayMs = 5000;
const maxRetryDelayMs = 3_600_000;

const elapsedMs = ({ endedAt }: StoredAttempt, now: number): number => now - (endedAt ?? now);

/**
 * When follow-up work that failed is tried again, epoch ms: after a tenth of the time since the attempt ended, at least 5 s and at most an
 * hour.
 */
export const retryAt = (attempt: StoredAttempt, now: number): number =>
  now + Math.min(maxRetryDelayMs, Math.max(minRetryDelayMs, Math.ceil(elapsedMs(attempt, now) / 10)));

/** Whether follow-up work is given up. */
export const isRetryExhausted = (attempt: StoredAttempt, now: number, giveUpAfterHours: number): boolean =>
  elapsedMs(attempt, now) >= giveUpAfterHours * 3_600_000;

/** A call whose conversation cannot be reached: its row is completed from the carrier's reports alone, with the reason. */
export const toUnanswered = (attempt: StoredAttempt, error: unknown): StoredAttempt => ({
  ...attempt,
  followUp: 'silent',
  checkAt: null,
  detail: `${givenUpPrefix} what was said is lost, since the object of the call could not be reached: ${(error as Error).message}`,
});
