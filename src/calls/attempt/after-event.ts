import { isForward } from '../../providers/telephony/call-status.ts';
import type { MachineEvent, StatusEvent } from '../../providers/telephony/carrier-events.ts';
import type { CarrierError } from '../../providers/telephony/carrier-error.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import type { StatusCallback } from '../contract.ts';
import { type Attempt, type CallTimeouts, endAttempt } from './attempt.ts';
import { type AttemptOutcome, outcomeFromSipCode } from './outcomes.ts';

const maxCallbacks = 40;

/** Whether an event is of another call than the one that this attempt is: the carrier was asked twice. */
export const isStrayCall = (attempt: Attempt, callId: string): boolean => attempt.callId !== null && attempt.callId !== callId;

/**
 * What an attempt is after the carrier told of its line. Reports come early (before the answer to the request that placed the call), twice and
 * out of order: only a higher rank moves it on.
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

/** After the verdict of machine detection, which may come after the line has ended. */
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

/** A line that had ended and waited only for the verdict ends with it. */
const endIfVerdictKnown = (attempt: Attempt, now: number, timeouts: CallTimeouts): Attempt =>
  attempt.status === 'completed' && attempt.answeredBy !== null ? afterCallEnd(attempt, now, now, timeouts) : attempt;

const isWatched = ({ state }: Attempt): boolean => state === 'submitting' || state === 'placed';

const adoptCallId = (attempt: Attempt, callId: string, now: number, timeouts: CallTimeouts): Attempt => ({
  ...attempt,
  state: 'placed',
  callId,
  looks: 0,
  // What was in doubt no longer is.
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
 * The end of a line whose status is terminal: at once or, when machine detection may still say that it was a mailbox, after a grace. An
 * answered call on which no talk came about is a failure: somebody picked up and heard nothing of the agent.
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

/** The end of a line that waited for a verdict in vain. Doubt counts as a person. */
export const afterVerdictTimeout = (attempt: Attempt): Attempt => {
  const [outcome, detail] = toAttemptOutcome({ ...attempt, awaitsVerdict: false });
  return endAttempt(attempt, outcome, detail, attempt.endedAt ?? attempt.checkAt ?? 0);
};

function toAttemptOutcome({ status, answeredBy, hasTalk, sipCode, detail }: Attempt): [AttemptOutcome, string | null] {
  switch (status) {
    case 'completed':
      if (answeredBy === 'machine') return ['voicemail', null];
      return hasTalk ? ['completed', null] : ['failed', detail ?? 'the call was answered, but the line ended before the agent was on it'];
    case 'busy':
    case 'no_answer':
    case 'cancelled':
      return [status, null];
    default:
      return [outcomeFromSipCode(sipCode ?? undefined), explainFailure(sipCode, detail)];
  }
}

/** With the carrier's own words, where it has some. */
function explainFailure(sipCode: number | null, words: string | null): string | null {
  const results = [sipCode !== null && `SIP ${sipCode}`, words].filter(Boolean).join(', ');
  return results === '' ? null : `the carrier could not complete the call (${results})`;
}
