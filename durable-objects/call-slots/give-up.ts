import { givenUp } from '../../src/library/given-up.ts';
import type { StoredAttempt } from './attempt-rows.ts';

const soonestMs = 5000;
const longestMs = 3_600_000;

const lasted = ({ endedAt }: StoredAttempt, now: number): number => now - (endedAt ?? now);

/** What follows from an attempt and failed is tried again after a tenth of the time that it has lasted, within 5 s and an hour. Epoch ms. */
export const againAt = (attempt: StoredAttempt, now: number): number =>
  now + Math.min(longestMs, Math.max(soonestMs, Math.ceil(lasted(attempt, now) / 10)));

export const isGivenUp = (attempt: StoredAttempt, now: number, giveUpAfterHours: number): boolean =>
  lasted(attempt, now) >= giveUpAfterHours * 3_600_000;

/** A call whose talk is out of reach: its row is completed by what the line tells, with the reason. */
export const withoutTalk = (attempt: StoredAttempt, error: unknown): StoredAttempt => ({
  ...attempt,
  settling: 'silent',
  checkAt: null,
  detail: `${givenUp} what was said is lost, since the object of the call could not be reached: ${(error as Error).message}`,
});
