import { isRecord } from '../../../library/json/json.ts';
import type { CallStatus } from '../call-status.ts';
import type { CarrierError } from '../carrier-error.ts';
import { statusEvent, toAnsweredBy, type CarrierEvent } from '../carrier-events.ts';
import { redactLine } from '../../http/redact.ts';
import { decodeAttemptKey, statusFromHangupCause } from './calls.ts';
import { recordingLocation } from './recordings.ts';

type Payload = Record<string, unknown>;

type EventReader = (payload: Payload, told: CallEventBase) => CarrierEvent | undefined;

interface EventBase {
  attemptKey?: string;
  at: number;
}

interface CallEventBase extends EventBase {
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
  const time = Date.parse(toText(occurredAt));
  const { client_state: state, call_control_id: callId } = payload;
  const told: EventBase = {
    ...(typeof state === 'string' && state !== '' && { attemptKey: decodeAttemptKey(state) }),
    at: Number.isNaN(time) ? now : time,
  };
  // Of recordings it names the leg and the session, not the call (https://developers.telnyx.com/api-reference/callbacks/call-recording-saved).
  if (type === 'call.recording.saved') return toRecordingEvent(payload, told);
  if (type === 'call.recording.error') return { kind: 'recording', ...told, status: 'failed' };
  return typeof callId === 'string' && callId !== '' ? eventReaders.get(type)?.(payload, { ...told, callId }) : undefined;
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

const eventReaders = new Map<string, EventReader>(
  Object.entries({
    'call.initiated': (payload, told) => toStatusEvent('initiated', payload, told),
    'call.answered': (payload, told) => toStatusEvent('answered', payload, told),
    'call.hangup': toHangUpEvent,
    'call.machine.detection.ended': toMachineEvent,
    'call.machine.premium.detection.ended': toMachineEvent,
    // That a greeting ended tells nothing new, a beep does.
    'call.machine.greeting.ended': (payload, told) => (payload['result'] === 'beep_detected' ? toMachineEvent(payload, told) : undefined),
    'call.machine.premium.greeting.ended': (payload, told) =>
      payload['result'] === 'beep_detected' ? toMachineEvent(payload, told) : undefined,
    'call.conversation.ended': toRelayEndEvent,
  } satisfies Record<string, EventReader>),
);

const directions = new Map<string, 'inbound' | 'outbound'>([
  ['incoming', 'inbound'],
  ['outgoing', 'outbound'],
]);

function toStatusEvent(
  status: CallStatus,
  payload: Payload,
  told: CallEventBase,
  more: { sipCode?: number; fault?: CarrierError } = {},
): CarrierEvent {
  const { from, to } = payload;
  const direction = directions.get(toText(payload['direction']));
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
function toHangUpEvent(payload: Payload, told: CallEventBase): CarrierEvent {
  const sip = Number(toText(payload['sip_hangup_cause']));
  const status = statusFromHangupCause(payload);
  const cause = toText(payload['hangup_cause']);
  return toStatusEvent(status, payload, told, {
    ...(Number.isInteger(sip) && sip >= 300 && { sipCode: sip }),
    ...(status === 'failed' && cause !== '' && { fault: { words: `hangup cause ${redactLine(cause)}` } }),
  });
}

function toMachineEvent(payload: Payload, told: CallEventBase): CarrierEvent | undefined {
  const { result } = payload;
  const answeredBy = typeof result === 'string' ? toAnsweredBy(result) : undefined;
  return answeredBy && { kind: 'machine', ...told, answeredBy };
}

/** The links in it last for ten minutes, so the recording is found by its id or its call as long as either is told. */
function toRecordingEvent(payload: Payload, told: EventBase): CarrierEvent | undefined {
  const { recording_id: id, recording_started_at: started, recording_ended_at: ended } = payload;
  const location = recordingLocation(payload);
  if (location === undefined) return undefined;
  const seconds = Math.round((Date.parse(toText(ended)) - Date.parse(toText(started))) / 1000);
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
function toRelayEndEvent(payload: Payload, told: CallEventBase): CarrierEvent {
  const { reason, conversation_id: session } = payload;
  const word = typeof reason === 'string' ? reason : '';
  return {
    kind: 'relay_ended',
    ...told,
    reason: 'lost',
    ...(typeof session === 'string' && { sessionId: session }),
    ...(word !== '' && { fault: { words: redactLine(word) } }),
  };
}
