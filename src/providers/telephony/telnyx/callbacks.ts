import { isRecord } from '../../../library/json/json.ts';
import type { CallStatus } from '../call-status.ts';
import type { CarrierError } from '../carrier-error.ts';
import { statusEvent, toAnsweredBy, type CarrierEvent, type HumanEvent } from '../carrier-events.ts';
import { redactLine } from '../../http/redact.ts';
import { decodeAttemptKey, parseHumanState, statusFromHangupCause } from './calls.ts';
import { recordingLocation } from './recordings.ts';

type Payload = Record<string, unknown>;

type EventReader = (payload: Payload, base: CallEventBase) => CarrierEvent | undefined;

interface EventBase {
  attemptKey?: string;
  at: number;
}

interface CallEventBase extends EventBase {
  callId: string;
}

/**
 * Reads the event of a webhook of Telnyx from its parsed body `{ data: { event_type, occurred_at, payload } }`. Undefined for other bodies.
 * The caller has checked the signature; `now` (epoch ms) is used for a webhook without a time.
 */
export function readTelnyxCallback(body: unknown, now: number): CarrierEvent | undefined {
  const data = isRecord(body) && isRecord(body['data']) ? body['data'] : {};
  const { event_type: type, occurred_at: occurredAt, payload } = data;
  if (!isRecord(payload) || typeof type !== 'string') return undefined;
  const time = Date.parse(toText(occurredAt));
  const { client_state: state, call_control_id: callId } = payload;
  const base: EventBase = {
    ...(typeof state === 'string' && state !== '' && { attemptKey: decodeAttemptKey(state) }),
    at: Number.isNaN(time) ? now : time,
  };
  const human = base.attemptKey === undefined ? null : parseHumanState(base.attemptKey);
  if (human !== null) return typeof callId === 'string' ? toHumanEvent(type, payload, { ...base, ...human, callId }) : undefined;
  // Webhooks of recordings name the leg and the session, not the call
  // (https://developers.telnyx.com/api-reference/callbacks/call-recording-saved).
  if (type === 'call.recording.saved') return toRecordingEvent(payload, base);
  if (type === 'call.recording.error') return { kind: 'recording', ...base, status: 'failed' };
  return typeof callId === 'string' && callId !== '' ? eventReaders.get(type)?.(payload, { ...base, callId }) : undefined;
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');

const eventReaders = new Map<string, EventReader>(
  Object.entries({
    'call.initiated': (payload, base) => toStatusEvent('initiated', payload, base),
    'call.answered': (payload, base) => toStatusEvent('answered', payload, base),
    'call.hangup': toHangUpEvent,
    'call.machine.detection.ended': toMachineEvent,
    'call.machine.premium.detection.ended': toMachineEvent,
    'call.machine.greeting.ended': toGreetingEndEvent,
    'call.machine.premium.greeting.ended': toGreetingEndEvent,
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
  base: CallEventBase,
  more: { sipCode?: number; fault?: CarrierError } = {},
): CarrierEvent {
  const { from, to } = payload;
  const direction = directions.get(toText(payload['direction']));
  return statusEvent({
    ...base,
    status,
    ...(direction && { direction }),
    ...(typeof from === 'string' && { from }),
    ...(typeof to === 'string' && { to }),
    ...more,
  });
}

const humanReports = new Map<string, HumanEvent['report']>(
  Object.entries({ 'call.answered': 'answered', 'call.speak.ended': 'announced', 'call.bridged': 'bridged', 'call.hangup': 'ended' }),
);

const machineVerdicts = new Set(['call.machine.detection.ended', 'call.machine.premium.detection.ended']);

/** A report on the line of a human, which the state of the line names. Undefined for other webhooks about it. */
function toHumanEvent(type: string, payload: Payload, base: CallEventBase & { leg: number }): HumanEvent | undefined {
  if (machineVerdicts.has(type))
    return toAnsweredBy(toText(payload['result'])) === 'machine' ? { kind: 'human', ...base, report: 'machine' } : undefined;
  const report = humanReports.get(type);
  if (report !== 'ended') return report && { kind: 'human', ...base, report };
  const status = statusFromHangupCause(payload);
  const cause = toText(payload['hangup_cause']);
  return {
    kind: 'human',
    ...base,
    report,
    result: status as NonNullable<HumanEvent['result']>,
    ...(status === 'failed' && cause !== '' && { fault: { words: `hangup cause ${redactLine(cause)}` } }),
  };
}

/** Reads `call.hangup`. Its times begin with the dialling, so they do not give the duration of the conversation. */
function toHangUpEvent(payload: Payload, base: CallEventBase): CarrierEvent {
  const sip = Number(toText(payload['sip_hangup_cause']));
  const status = statusFromHangupCause(payload);
  const cause = toText(payload['hangup_cause']);
  return toStatusEvent(status, payload, base, {
    ...(Number.isInteger(sip) && sip >= 300 && { sipCode: sip }),
    ...(status === 'failed' && cause !== '' && { fault: { words: `hangup cause ${redactLine(cause)}` } }),
  });
}

function toMachineEvent(payload: Payload, base: CallEventBase): CarrierEvent | undefined {
  const { result } = payload;
  const answeredBy = typeof result === 'string' ? toAnsweredBy(result) : undefined;
  return answeredBy && { kind: 'machine', ...base, answeredBy };
}

/** Reads the end of a greeting. Only a machine has one, and a doubtful end is none. */
function toGreetingEndEvent(payload: Payload, base: CallEventBase): CarrierEvent | undefined {
  const { result } = payload;
  if (result !== 'beep_detected' && result !== 'no_beep_detected' && result !== 'ended') return undefined;
  return { kind: 'machine', ...base, answeredBy: 'machine', isGreetingOver: true };
}

/**
 * Reads `call.recording.saved`. Its links expire after ten minutes, so the recording is located by its own id or the ids of its call, if
 * the webhook has one.
 */
function toRecordingEvent(payload: Payload, base: EventBase): CarrierEvent | undefined {
  const { recording_id: id, recording_started_at: started, recording_ended_at: ended } = payload;
  const location = recordingLocation(payload);
  if (location === undefined) return undefined;
  const seconds = Math.round((Date.parse(toText(ended)) - Date.parse(toText(started))) / 1000);
  return {
    kind: 'recording',
    ...base,
    status: 'completed',
    ...(typeof id === 'string' && { recordingId: id }),
    location,
    ...(seconds >= 0 && { durationSeconds: seconds }),
  };
}

/**
 * Reads `call.conversation.ended`. The one documented reason is `customer_disconnect`, for a socket of ours that broke. Every other reason
 * counts as a loss, too, since the line may be live. If the line has ended, or we have ended the session, the call has other evidence.
 */
function toRelayEndEvent(payload: Payload, base: CallEventBase): CarrierEvent {
  const { reason, conversation_id: session } = payload;
  const word = typeof reason === 'string' ? reason : '';
  return {
    kind: 'relay_ended',
    ...base,
    reason: 'lost',
    ...(typeof session === 'string' && { sessionId: session }),
    ...(word !== '' && { fault: { words: redactLine(word) } }),
  };
}
