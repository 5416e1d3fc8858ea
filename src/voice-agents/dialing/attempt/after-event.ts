import { isForward } from '../../../providers/telephony/call-status.ts';
import type { MachineEvent, StatusEvent } from '../../../providers/telephony/carrier-events.ts';
import type { CarrierFault } from '../../../providers/telephony/carrier-fault.ts';
import { toTimestamp } from '../../../library/clock.ts';
import type { StatusCallback } from '../contract.ts';
import type { Attempt, Patience } from './attempt.ts';
import { lineEnd } from './line-end.ts';

const mostCallbacks = 40;

/** Whether an event is of another call than the one that this attempt is: the carrier was asked twice. */
export const isStray = (attempt: Attempt, callId: string): boolean => attempt.callId !== null && attempt.callId !== callId;

/**
 * What an attempt is after the carrier told of its line. Reports come early (before the answer to the request that placed the call), twice and
 * out of order: only a higher rank moves it on.
 */
export function afterStatus(attempt: Attempt, event: StatusEvent, now: number, patience: Patience): Attempt {
  if (!isWatched(attempt) || isStray(attempt, event.callId)) return attempt;
  const known = adopted(attempt, event.callId, now, patience);
  const heard: Attempt = {
    ...known,
    answeredBy: known.answeredBy ?? event.answeredBy ?? null,
    durationSeconds: event.durationSeconds ?? known.durationSeconds,
    sipCode: event.sipCode ?? known.sipCode,
    ...(event.status === 'failed' && event.fault && { detail: faultText(event.fault) }),
  };
  if (known.status !== null && !isForward(known.status, event.status)) return settledVerdict(heard, now, patience);
  const moved: Attempt = {
    ...heard,
    status: event.status,
    answeredAt: heard.answeredAt ?? (event.status === 'answered' ? event.at : null),
    callbacks: [...heard.callbacks, callbackOf(event)].slice(0, mostCallbacks),
  };
  return event.isTerminal ? lineEnd(moved, event.at, now, patience) : moved;
}

/** After the verdict of machine detection, which may come after the line has ended. */
export function afterMachine(attempt: Attempt, event: MachineEvent, now: number, patience: Patience): Attempt {
  if (!isWatched(attempt) || isStray(attempt, event.callId) || attempt.answeredBy !== null) return attempt;
  const known = adopted(attempt, event.callId, now, patience);
  const details = { call_id: event.callId, answered_by: event.answeredBy };
  const heard: Attempt = {
    ...known,
    answeredBy: event.answeredBy,
    answeredAt: known.answeredAt ?? event.at,
    callbacks: [...known.callbacks, { status: 'machine_detection', at: toTimestamp(event.at), details }].slice(0, mostCallbacks),
  };
  return settledVerdict(heard, now, patience);
}

/** A line that had ended and waited only for the verdict ends with it. */
const settledVerdict = (attempt: Attempt, now: number, patience: Patience): Attempt =>
  attempt.status === 'completed' && attempt.answeredBy !== null ? lineEnd(attempt, now, now, patience) : attempt;

const isWatched = ({ state }: Attempt): boolean => state === 'submitting' || state === 'placed';

const adopted = (attempt: Attempt, callId: string, now: number, patience: Patience): Attempt => ({
  ...attempt,
  state: 'placed',
  callId,
  looks: 0,
  // What was in doubt no longer is.
  detail: attempt.callId === null ? null : attempt.detail,
  checkAt: attempt.status === 'completed' ? attempt.checkAt : now + patience.silenceMs,
});

const faultText = ({ code, words }: CarrierFault): string => [code && `error ${code}`, words].filter(Boolean).join(': ');

function callbackOf(event: StatusEvent): StatusCallback {
  const { callId, answeredBy, sipCode, durationSeconds, sequence, fault } = event;
  return {
    status: event.status,
    at: toTimestamp(event.at),
    details: {
      call_id: callId,
      ...(answeredBy && { answered_by: answeredBy }),
      ...(sipCode !== undefined && { sip_code: sipCode }),
      ...(durationSeconds !== undefined && { duration_seconds: durationSeconds }),
      ...(fault && { error: faultText(fault) }),
      ...(sequence !== undefined && { sequence }),
    },
  };
}
