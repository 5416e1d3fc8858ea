import { isOver } from '../../src/calls/attempt/attempt.ts';
import type { StalledCall } from '../../src/calls/rpc.ts';
import { isOpen, type StoredAttempt } from './stored-attempt.ts';

/** For so long an attempt may go on without being said to stand still. */
const stalledAfterMs = 10 * 60_000;

/** Why an attempt stands still, in a sentence; null: it goes on. `now` in epoch ms. */
export function explainStandstill(attempt: StoredAttempt, now: number): string | null {
  if (!isOpen(attempt)) return null;
  const { state, submittedAt, endedAt, failedLookUps, followUp, reportLevel, reportedLevel } = attempt;
  if (isOver(attempt)) {
    if (endedAt === null || now - endedAt < stalledAfterMs) return null;
    if (reportLevel > reportedLevel) return 'The call has ended, and what asked for it cannot be told';
    return followUp === 'none' ? null : 'The call has ended, and the work after it is not done: the result, the transcript, the webhooks';
  }
  if (submittedAt === null || now - submittedAt < stalledAfterMs) return null;
  if (state === 'submitting')
    return 'The carrier was asked for the call, its answer is lost, and nobody knows yet whether the call was placed';
  if (state === 'placed' && failedLookUps > 0)
    return `The carrier has told nothing of the call, and was asked ${failedLookUps === 1 ? 'once' : `${failedLookUps} times`} without an answer that ends it`;
  return null;
}

/** An attempt that stands still, as operators see it: without the number of the person. */
export const toStalledCall = (attempt: StoredAttempt, now: number): StalledCall => ({
  key: attempt.key,
  seq: attempt.seq,
  runId: attempt.runId,
  since: attempt.endedAt ?? attempt.submittedAt ?? now,
  why: explainStandstill(attempt, now) ?? '',
  nextCheckAt: attempt.checkAt,
});
