import { isForward } from '../../providers/telephony/call-status.ts';
import type { MachineEvent, StatusEvent } from '../../providers/telephony/carrier-events.ts';
import type { CarrierError } from '../../providers/telephony/carrier-error.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import type { StatusCallback } from '../contract.ts';
import { type Attempt, type CallTimeouts, endAttempt } from './attempt.ts';
import { type AttemptOutcome, outcomeFromSipCode } from './outcomes.ts';

const maxCallbacks = 40;

/** Whether an event is about a second call: the carrier has placed two calls for one attempt. */
export const isStrayCall = (attempt: Attempt, callId: string): boolean => attempt.callId !== null && attempt.callId !== callId;

/**
 * An attempt after the carrier's report on its line. Reports come early (before the answer to the request that placed the call), twice and
 * out of order: only a higher rank moves the attempt on.
 */
export function afterStatus(attempt: Attempt, event: StatusEvent, now: number, timeouts: CallTimeouts): Attempt {
  if (!isWatched(attempt) || isStrayCall(attempt, event.callId)) return attempt;
  const known = adoptCallId(attempt, event.callId, now, timeouts);
  const reported: Attempt = {
    ...known,
    answeredBy: known.answeredBy ?? event.answeredBy ?? null,
    durationSeconds: event.durationSeconds ?? known.durationSeconds,
    sipCode: event.sipCode ?? known.sipCode,
    ...(event.status === 'failed' && event.fault && { detail: formatFault(event.fault) }),
  };
  if (known.status !== null && !isForward(known.status, event.status)) return endIfVerdictKnown(reported, now, timeouts);
  const moved: Attempt = {
    ...reported,
    status: event.status,
    answeredAt: reported.answeredAt ?? (event.status === 'answered' ? event.at : null),
    callbacks: [...reported.callbacks, toStatusCallback(event)].slice(0, maxCallbacks),
  };
  return event.isTerminal ? afterCallEnd(moved, event.at, now, timeouts) : moved;
}

/** An attempt after the verdict of machine detection. The verdict may come after the end of the line. */
export function afterMachine(attempt: Attempt, event: MachineEvent, now: number, timeouts: CallTimeouts): Attempt {
  if (!isWatched(attempt) || isStrayCall(attempt, event.callId) || attempt.answeredBy !== null) return attempt;
  const known = adoptCallId(attempt, event.callId, now, timeouts);
  const details = { call_id: event.callId, answered_by: event.answeredBy };
  const reported: Attempt = {
    ...known,
    answeredBy: event.answeredBy,
    answeredAt: known.answeredAt ?? event.at,
    callbacks: [...known.callbacks, { status: 'machine_detection', at: toTimestamp(event.at), details }].slice(0, maxCallbacks),
  };
  return endIfVerdictKnown(reported, now, timeouts);
}

/** An attempt on whose live call a person talks, although machine detection has reported a machine. */
export function afterCorrection(attempt: Attempt, now: number): Attempt {
  if (!isWatched(attempt) || attempt.answeredBy !== 'machine') return attempt;
  const correction = { status: 'machine_detection_corrected', at: toTimestamp(now), details: { answered_by: 'person' } };
  return { ...attempt, answeredBy: 'person', callbacks: [...attempt.callbacks, correction].slice(-maxCallbacks) };
}

/** Ends an attempt whose line had ended and which waited only for the verdict. */
const endIfVerdictKnown = (attempt: Attempt, now: number, timeouts: CallTimeouts): Attempt =>
  attempt.status === 'completed' && attempt.answeredBy !== null ? afterCallEnd(attempt, now, now, timeouts) : attempt;

const isWatched = ({ state }: Attempt): boolean => state === 'submitting' || state === 'placed';

const adoptCallId = (attempt: Attempt, callId: string, now: number, timeouts: CallTimeouts): Attempt => ({
  ...attempt,
  state: 'placed',
  callId,
  failedLookUps: 0,
  // The call id settles the doubt, so the detail about the doubt goes.
  detail: attempt.callId === null ? null : attempt.detail,
  checkAt: attempt.status === 'completed' ? attempt.checkAt : now + timeouts.carrierSilenceMs,
});

const formatFault = ({ code, words }: CarrierError): string => [code && `error ${code}`, words].filter(Boolean).join(': ');

function toStatusCallback(event: StatusEvent): StatusCallback {
  const { callId, answeredBy, sipCode, durationSeconds, sequence, fault } = event;
  return {
    status: event.status,
    at: toTimestamp(event.at),
    details: {
      call_id: callId,
      ...(answeredBy && { answered_by: answeredBy }),
      ...(sipCode !== undefined && { sip_code: sipCode }),
      ...(durationSeconds !== undefined && { duration_seconds: durationSeconds }),
      ...(fault && { error: formatFault(fault) }),
      ...(sequence !== undefined && { sequence }),
    },
  };
}

/**
 * An attempt after the terminal status of its line. It ends at once or, while machine detection may still report a mailbox, after a grace.
 * An answered call without a conversation is a failure: the person picked up and the agent said nothing.
 */
function afterCallEnd(attempt: Attempt, at: number, now: number, timeouts: CallTimeouts): Attempt {
  const { status, answeredBy, awaitsVerdict } = attempt;
  if (status === 'completed' && answeredBy === null && awaitsVerdict) {
    return {
      ...attempt,
      endedAt: attempt.endedAt ?? at,
      checkAt: Math.min(attempt.checkAt ?? Infinity, now + timeouts.machineVerdictTimeoutMs),
    };
  }
  const [outcome, detail] = toAttemptOutcome(attempt);
  return endAttempt(attempt, outcome, detail, attempt.endedAt ?? at);
}

/** Ends an attempt whose verdict never came. Without a verdict, a person is assumed. */
export const afterVerdictTimeout = (attempt: Attempt): Attempt => {
  const [outcome, detail] = toAttemptOutcome({ ...attempt, awaitsVerdict: false });
  return endAttempt(attempt, outcome, detail, attempt.endedAt ?? attempt.checkAt ?? 0);
};

function toAttemptOutcome({ status, answeredBy, isAgentConnected, sipCode, detail }: Attempt): [AttemptOutcome, string | null] {
  switch (status) {
    case 'completed':
      if (answeredBy === 'machine') return ['voicemail', null];
      return isAgentConnected
        ? ['completed', null]
        : ['failed', detail ?? 'the call was answered, but the line ended before the agent was on it'];
    case 'busy':
    case 'no_answer':
    case 'cancelled':
      return [status, null];
    default:
      return [outcomeFromSipCode(sipCode ?? undefined), explainFailure(sipCode, detail)];
  }
}

/** The detail of a failed call, with the carrier's own words if there are any. */
function explainFailure(sipCode: number | null, words: string | null): string | null {
  const results = [sipCode !== null && `SIP ${sipCode}`, words].filter(Boolean).join(', ');
  return results === '' ? null : `the carrier could not complete the call (${results})`;
}
