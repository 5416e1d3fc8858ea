import { isRecord } from '../../library/json.ts';
import type { CallStatus } from './call-status.ts';
import { statusEvent, type CarrierEvent } from './carrier-events.ts';
import { answeredByOf } from './machine-detection.ts';
import { attemptKeyOf } from './telnyx-calls.ts';

type Payload = Record<string, unknown>;

type Reader = (payload: Payload, told: Told) => CarrierEvent | undefined;

interface Told {
  callId: string;
  attemptKey?: string;
  at: number;
}

/**
 * What a webhook of Telnyx tells, from its parsed body `{ data: { event_type, occurred_at, payload } }`. Undefined for anything else. Its
 * signature has been checked; `now` (epoch ms) stands in where it tells no time.
 */
export function readTelnyxCallback(body: unknown, now: number): CarrierEvent | undefined {
  const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {};
  const { event_type: type, occurred_at: occurredAt, payload } = data;
  if (!isRecord(payload) || typeof payload['call_control_id'] !== 'string' || payload['call_control_id'] === '') return undefined;
  const time = Date.parse(textOf(occurredAt));
  const state = payload['client_state'];
  const told: Told = {
    callId: payload['call_control_id'],
    ...(typeof state === 'string' && state !== '' && { attemptKey: attemptKeyOf(state) }),
    at: Number.isNaN(time) ? now : time,
  };
  return typeof type === 'string' ? readers.get(type)?.(payload, told) : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const readers = new Map<string, Reader>(
  Object.entries({
    'call.initiated': (payload, told) => lineEvent('initiated', payload, told),
    'call.answered': (payload, told) => lineEvent('answered', payload, told),
    'call.hangup': hangUpEvent,
    'call.machine.detection.ended': machineEvent,
    'call.machine.premium.detection.ended': machineEvent,
    // That a greeting ended tells nothing new, a beep does.
    'call.machine.greeting.ended': (payload, told) => (payload['result'] === 'beep_detected' ? machineEvent(payload, told) : undefined),
    'call.machine.premium.greeting.ended': (payload, told) =>
      payload['result'] === 'beep_detected' ? machineEvent(payload, told) : undefined,
    'call.recording.saved': recordingEvent,
    'call.recording.error': (_payload, told) => ({ kind: 'recording', ...told, status: 'failed' }),
    'call.conversation.ended': relayEndEvent,
  } satisfies Record<string, Reader>),
);

const directions = new Map<string, 'inbound' | 'outbound'>([
  ['incoming', 'inbound'],
  ['outgoing', 'outbound'],
]);

function lineEvent(
  status: CallStatus,
  payload: Payload,
  told: Told,
  more: { sipCode?: number; durationSeconds?: number } = {},
): CarrierEvent {
  const { from, to } = payload;
  const direction = directions.get(textOf(payload['direction']));
  return statusEvent({
    ...told,
    status,
    ...(direction && { direction }),
    ...(typeof from === 'string' && { from }),
    ...(typeof to === 'string' && { to }),
    ...more,
  });
}

const causes = new Map<string, CallStatus>(
  Object.entries({
    normal_clearing: 'completed',
    time_limit: 'completed',
    user_busy: 'busy',
    busy: 'busy',
    call_rejected: 'busy',
    timeout: 'no_answer',
    no_answer: 'no_answer',
    originator_cancel: 'cancelled',
  }),
);
const forbidden = 403;

/** A person who declines is busy; a network that forbids the call is a failure, as is every cause that is not listed (not_found, unspecified). */
function hangUpEvent(payload: Payload, told: Told): CarrierEvent {
  const sip = Number(textOf(payload['sip_hangup_cause']));
  const [start, end] = [Date.parse(textOf(payload['start_time'])), Date.parse(textOf(payload['end_time']))];
  const known = causes.get(textOf(payload['hangup_cause']));
  const status = known === undefined || (known === 'busy' && sip === forbidden) ? 'failed' : known;
  return lineEvent(status, payload, told, {
    ...(Number.isInteger(sip) && sip >= 300 && { sipCode: sip }),
    ...(status === 'completed' && end >= start && { durationSeconds: Math.round((end - start) / 1000) }),
  });
}

function machineEvent(payload: Payload, told: Told): CarrierEvent | undefined {
  const { result } = payload;
  const answeredBy = typeof result === 'string' ? answeredByOf(result) : undefined;
  return answeredBy && { kind: 'machine', ...told, answeredBy };
}

function recordingEvent(payload: Payload, told: Told): CarrierEvent | undefined {
  const links = [payload['recording_urls'], payload['public_recording_urls']].find(isRecord);
  const url = [links?.['mp3'], links?.['wav']].find((link) => typeof link === 'string');
  if (url === undefined) return undefined;
  const { recording_id: id, recording_started_at: started, recording_ended_at: ended } = payload;
  const seconds = Math.round((Date.parse(textOf(ended)) - Date.parse(textOf(started))) / 1000);
  return {
    kind: 'recording',
    ...told,
    status: 'completed',
    ...(typeof id === 'string' && { recordingId: id }),
    url,
    ...(seconds >= 0 && { durationSeconds: seconds }),
  };
}

const hungUpReasons = new Set(['hangup', 'call_hangup', 'caller_hangup', 'user_hangup']);
const endedReasons = new Set(['end', 'ended', 'completed', 'stopped']);

/** Only `customer_disconnect` is documented, for a socket of ours that broke; an unknown reason is taken for that, since the line may be live. */
function relayEndEvent(payload: Payload, told: Told): CarrierEvent {
  const { reason, conversation_id: session } = payload;
  const word = typeof reason === 'string' ? reason : '';
  return {
    kind: 'relay_ended',
    ...told,
    reason: hungUpReasons.has(word) ? 'hung_up' : endedReasons.has(word) ? 'ended' : 'lost',
    ...(typeof session === 'string' && { sessionId: session }),
    ...(word !== '' && { error: word }),
  };
}
