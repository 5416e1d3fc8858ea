import { isRecord } from '../../library/json.ts';
import type { CallStatus } from './call-status.ts';
import type { CarrierFault } from './carrier-fault.ts';
import { statusEvent, type CarrierEvent } from './carrier-events.ts';
import { quote } from './exchange.ts';
import { answeredByOf } from './machine-detection.ts';
import { attemptKeyOf } from './telnyx-calls.ts';
import { hangUpStatus } from './telnyx-hang-up.ts';
import { recordingLocation } from './telnyx-recordings.ts';

type Payload = Record<string, unknown>;

type Reader = (payload: Payload, told: CallTold) => CarrierEvent | undefined;

interface Told {
  attemptKey?: string;
  at: number;
}

interface CallTold extends Told {
  callId: string;
}

/**
 * What a webhook of Telnyx tells, from its parsed body `{ data: { event_type, occurred_at, payload } }`. Undefined for anything else. Its
 * signature has been checked; `now` (epoch ms) stands in where it tells no time.
 */
export function readTelnyxCallback(body: unknown, now: number): CarrierEvent | undefined {
  const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {};
  const { event_type: type, occurred_at: occurredAt, payload } = data;
  if (!isRecord(payload) || typeof type !== 'string') return undefined;
  const time = Date.parse(textOf(occurredAt));
  const { client_state: state, call_control_id: callId } = payload;
  const told: Told = {
    ...(typeof state === 'string' && state !== '' && { attemptKey: attemptKeyOf(state) }),
    at: Number.isNaN(time) ? now : time,
  };
  // Of recordings it names the leg and the session, not the call (https://developers.telnyx.com/api-reference/callbacks/call-recording-saved).
  if (type === 'call.recording.saved') return recordingEvent(payload, told);
  if (type === 'call.recording.error') return { kind: 'recording', ...told, status: 'failed' };
  return typeof callId === 'string' && callId !== '' ? readers.get(type)?.(payload, { ...told, callId }) : undefined;
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
  told: CallTold,
  more: { sipCode?: number; fault?: CarrierFault } = {},
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

/** Its times count from the dialling, so they tell nothing of how long was talked. */
function hangUpEvent(payload: Payload, told: CallTold): CarrierEvent {
  const sip = Number(textOf(payload['sip_hangup_cause']));
  const status = hangUpStatus(payload);
  const cause = textOf(payload['hangup_cause']);
  return lineEvent(status, payload, told, {
    ...(Number.isInteger(sip) && sip >= 300 && { sipCode: sip }),
    ...(status === 'failed' && cause !== '' && { fault: { words: `hangup cause ${quote(cause, '')}` } }),
  });
}

function machineEvent(payload: Payload, told: CallTold): CarrierEvent | undefined {
  const { result } = payload;
  const answeredBy = typeof result === 'string' ? answeredByOf(result) : undefined;
  return answeredBy && { kind: 'machine', ...told, answeredBy };
}

/** The links in it last for ten minutes, so the recording is found by its id or its call as long as either is told. */
function recordingEvent(payload: Payload, told: Told): CarrierEvent | undefined {
  const { recording_id: id, recording_started_at: started, recording_ended_at: ended } = payload;
  const location = recordingLocation(payload);
  if (location === undefined) return undefined;
  const seconds = Math.round((Date.parse(textOf(ended)) - Date.parse(textOf(started))) / 1000);
  return {
    kind: 'recording',
    ...told,
    status: 'completed',
    ...(typeof id === 'string' && { recordingId: id }),
    location,
    ...(seconds >= 0 && { durationSeconds: seconds }),
  };
}

/**
 * `customer_disconnect`, a socket of ours that broke, is the one documented reason. Every other counts as a loss, too: the line may be live.
 * Where it is not, or where we ended the session ourselves, the call knows that from elsewhere.
 */
function relayEndEvent(payload: Payload, told: CallTold): CarrierEvent {
  const { reason, conversation_id: session } = payload;
  const word = typeof reason === 'string' ? reason : '';
  return {
    kind: 'relay_ended',
    ...told,
    reason: 'lost',
    ...(typeof session === 'string' && { sessionId: session }),
    ...(word !== '' && { fault: { words: quote(word, '') } }),
  };
}
