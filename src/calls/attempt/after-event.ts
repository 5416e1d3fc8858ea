import { isForward } from '../../providers/telephony/call-status.ts';
import type { MachineEvent, StatusEvent } from '../../providers/telephony/carrier-events.ts';
import type { CarrierError } from '../../providers/telephony/carrier-error.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import type { StatusCallback } from '../contract.ts';
import type { Attempt, CallTimeouts } from './attempt.ts';
import { afterCallEnd } from './call-end.ts';

const maxCallbacks = 40;

/** Whether an event is of another call than the one that this attempt is: the carrier was asked twice. */
export const isStrayCall = (attempt: Attempt, callId: string): boolean => attempt.callId !== null && attempt.callId !== callId;

/**
 * What an attempt is after the carrier told of its line. Reports come early (before the answer to the request that placed the call), twice and
 * out of order: only a higher rank moves it on.
 */
export function afterStatus(attempt: Attempt, event: StatusEvent, now: number, patience: CallTimeouts): Attempt {
  if (!isWatched(attempt) || isStrayCall(attempt, event.callId)) return attempt;
  const known = adoptCallId(attempt, event.callId, now, patience);
  const heard: Attempt = {
    ...known,
    answeredBy: known.answeredBy ?? event.answeredBy ?? null,
    durationSeconds: event.durationSeconds ?? known.durationSeconds,
    sipCode: event.sipCode ?? known.sipCode,
    ...(event.status === 'failed' && event.fault && { detail: formatFault(event.fault) }),
  };
  if (known.status !== null && !isForward(known.status, event.status)) return endIfVerdictKnown(heard, now, patience);
  const moved: Attempt = {
    ...heard,
    status: event.status,
    answeredAt: heard.answeredAt ?? (event.status === 'answered' ? event.at : null),
    callbacks: [...heard.callbacks, toStatusCallback(event)].slice(0, maxCallbacks),
  };
  return event.isTerminal ? afterCallEnd(moved, event.at, now, patience) : moved;
}

/** After the verdict of machine detection, which may come after the line has ended. */
export function afterMachine(attempt: Attempt, event: MachineEvent, now: number, patience: CallTimeouts): Attempt {
  if (!isWatched(attempt) || isStrayCall(attempt, event.callId) || attempt.answeredBy !== null) return attempt;
  const known = adoptCallId(attempt, event.callId, now, patience);
  const details = { call_id: event.callId, answered_by: event.answeredBy };
  const heard: Attempt = {
    ...known,
    answeredBy: event.answeredBy,
    answeredAt: known.answeredAt ?? event.at,
    callbacks: [...known.callbacks, { status: 'machine_detection', at: toTimestamp(event.at), details }].slice(0, maxCallbacks),
  };
  return endIfVerdictKnown(heard, now, patience);
}

/** A line that had ended and waited only for the verdict ends with it. */
const endIfVerdictKnown = (attempt: Attempt, now: number, patience: CallTimeouts): Attempt =>
  attempt.status === 'completed' && attempt.answeredBy !== null ? afterCallEnd(attempt, now, now, patience) : attempt;

const isWatched = ({ state }: Attempt): boolean => state === 'submitting' || state === 'placed';

const adoptCallId = (attempt: Attempt, callId: string, now: number, patience: CallTimeouts): Attempt => ({
  ...attempt,
  state: 'placed',
  callId,
  looks: 0,
  // What was in doubt no longer is.
  detail: attempt.callId === null ? null : attempt.detail,
  checkAt: attempt.status === 'completed' ? attempt.checkAt : now + patience.carrierSilenceMs,
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
