import { isForward } from '../../providers/telephony/call-status.ts';
import { statusEvent } from '../../providers/telephony/carrier-events.ts';
import type { CallState, ListResult, LookUpResult } from '../../providers/telephony/telephony.ts';
import { afterStatus } from './after-event.ts';
import { endAttempt, type Attempt, type CallTimeouts } from './attempt.ts';

const maxLookUps = 3;
/** No call lasts this long. A carrier that could not report on a call for this long will not report any more. */
const giveUpAfterMs = 6 * 3_600_000;

/** A looked-up call, completed by what earlier reports said: a call that was answered and is over is `completed`. */
export function resolveKnownEnd(attempt: Pick<Attempt, 'answeredAt' | 'callId'>, result: LookUpResult): LookUpResult {
  if (!('ended' in result) || attempt.answeredAt === null || attempt.callId === null) return result;
  return { call: statusEvent({ callId: attempt.callId, status: 'completed', at: attempt.answeredAt }) };
}

/** A placed attempt after the carrier was asked about its silent call. */
export function afterLookUp(attempt: Attempt, result: LookUpResult, now: number, timeouts: CallTimeouts): Attempt {
  if (attempt.state !== 'placed') return attempt;
  if ('call' in result) return afterCallState(attempt, result.call, now, timeouts);
  if ('ended' in result) return endAttempt(attempt, 'failed', 'the call is over, and the carrier does not tell how it ended', now);
  const failedLookUps = attempt.failedLookUps + 1;
  if ('missing' in result && failedLookUps >= maxLookUps)
    return endAttempt(attempt, 'failed', 'the carrier no longer knows this call; nobody can say how it ended', now);
  if ('failure' in result && now - (attempt.submittedAt ?? now) > giveUpAfterMs)
    return endAttempt(attempt, 'failed', `the carrier could not say what became of the call: ${result.failure}`, now);
  return { ...attempt, failedLookUps, checkAt: now + timeouts.lookUpIntervalMs };
}

function afterCallState(attempt: Attempt, call: CallState, now: number, timeouts: CallTimeouts): Attempt {
  const event = statusEvent({ ...call, at: now });
  const isNews = attempt.status === null || isForward(attempt.status, call.status);
  return isNews ? afterStatus(attempt, event, now, timeouts) : { ...attempt, failedLookUps: 0, checkAt: now + timeouts.carrierSilenceMs };
}

/**
 * An attempt whose placing is unknown, after the carrier listed the calls between its two numbers since the submission. `foreign` are call
 * ids of other attempts. Exactly one call: it is the attempt's. No call in three look-ups: the carrier did not place it. Several calls: the
 * attempt fails and is not dialled again.
 */
export function afterListing(
  attempt: Attempt,
  result: ListResult,
  foreign: ReadonlySet<string>,
  now: number,
  timeouts: CallTimeouts,
): Attempt {
  if (attempt.state !== 'submitting') return attempt;
  if ('failure' in result) {
    if (now - (attempt.submittedAt ?? now) > giveUpAfterMs)
      return endAttempt(
        attempt,
        'failed',
        `submission_unknown: the carrier could not say whether it placed the call: ${result.failure}`,
        now,
      );
    return { ...attempt, checkAt: now + timeouts.lookUpIntervalMs };
  }
  const candidates = result.calls.filter(({ callId }) => !foreign.has(callId));
  if (candidates.length > 1)
    return endAttempt(
      attempt,
      'failed',
      'submission_unknown: the carrier has several calls that this one may be; it is not dialled again',
      now,
    );
  const [call] = candidates;
  // The call is found, so the detail about the doubt goes.
  if (call) return afterCallState({ ...attempt, state: 'placed', callId: call.callId, detail: null }, call, now, timeouts);
  const failedLookUps = attempt.failedLookUps + 1;
  if (failedLookUps >= maxLookUps)
    return result.isComplete
      ? endAttempt(attempt, 'carrier_trouble', 'the carrier did not place the call', now)
      : endAttempt(attempt, 'failed', 'submission_unknown: the carrier cannot say whether there was a call; it is not dialled again', now);
  return { ...attempt, failedLookUps, checkAt: now + timeouts.lookUpIntervalMs };
}
