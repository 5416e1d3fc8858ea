import { isForward } from '../../providers/telephony/call-status.ts';
import { type PlacingResult, refusalOutcomes } from './outcomes.ts';
import { type Attempt, type CallTimeouts, endAttempt } from './attempt.ts';

/**
 * An attempt after the carrier's answer to the request that places it. Callbacks of the call, even of its end, may have come before the
 * answer.
 */
export function afterPlacing(attempt: Attempt, result: PlacingResult, now: number, timeouts: CallTimeouts): Attempt {
  if ('placed' in result) {
    if (attempt.state !== 'submitting' && attempt.state !== 'placed') return attempt;
    const { callId, status } = result.placed;
    // The call id that came first is the attempt's.
    if (attempt.callId !== null) return attempt;
    const isNews = attempt.status === null || isForward(attempt.status, status);
    return {
      ...attempt,
      state: 'placed',
      callId,
      failedLookUps: 0,
      status: isNews ? status : attempt.status,
      checkAt: now + timeouts.carrierSilenceMs,
    };
  }
  // A callback proves that there is a call, whatever this answer says.
  if (attempt.state !== 'submitting') return attempt;
  if ('refused' in result) {
    const { kind, message, code } = result.refused;
    return endAttempt(attempt, refusalOutcomes[kind], code === '' || message.includes(code) ? message : `${message} (${code})`, now);
  }
  if ('busy' in result)
    return endAttempt(attempt, 'rate_limited', 'the carrier takes no more calls for now', now, result.busy.retryAfterSeconds ?? null);
  if ('unasked' in result) return attempt;
  return { ...attempt, detail: `submission_unknown: ${result.unknown}`, checkAt: now + timeouts.unknownGraceMs };
}
