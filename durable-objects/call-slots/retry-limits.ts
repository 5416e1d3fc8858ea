import { givenUpPrefix } from '../../src/outbox/failed-messages.ts';
import type { StoredAttempt } from './attempt-rows.ts';

const minRetryDelayMs = 5000;
const maxRetryDelayMs = 3_600_000;

const elapsedMs = ({ endedAt }: StoredAttempt, now: number): number => now - (endedAt ?? now);

/** What follows from an attempt and failed is tried again after a tenth of the time that it has lasted, within 5 s and an hour. Epoch ms. */
export const retryAt = (attempt: StoredAttempt, now: number): number =>
  now + Math.min(maxRetryDelayMs, Math.max(minRetryDelayMs, Math.ceil(elapsedMs(attempt, now) / 10)));

export const isRetryExhausted = (attempt: StoredAttempt, now: number, giveUpAfterHours: number): boolean =>
  elapsedMs(attempt, now) >= giveUpAfterHours * 3_600_000;

/** A call whose talk is out of reach: its row is completed by what the line tells, with the reason. */
export const toUnanswered = (attempt: StoredAttempt, error: unknown): StoredAttempt => ({
  ...attempt,
  settling: 'silent',
  checkAt: null,
  detail: `${givenUpPrefix} what was said is lost, since the object of the call could not be reached: ${(error as Error).message}`,
});
