import {
  statusEvent,
  toAnsweredBy,
  type CarrierEvent,
  type HumanEvent,
  type RecordingEvent,
  type RelayEndEvent,
} from '../carrier-events.ts';
import type { CarrierError } from '../carrier-error.ts';
import { redactLine } from '../../http/redact.ts';
import { toDirection, toCallStatus } from './calls.ts';

const recordingStatuses = new Map<string, RecordingEvent['status']>(
  Object.entries({
    'in-progress': 'in_progress',
    completed: 'completed',
    absent: 'absent',
    failed: 'failed',
  }),
);

const relayEndReasons = new Map<string, RelayEndEvent['reason']>(Object.entries({ ended: 'ended', completed: 'hung_up', failed: 'lost' }));

/**
 * Reads the event of a form that Twilio posts: a status callback, the request for the document of an answered or inbound call, the verdict
 * of asynchronous machine detection, a recording, the end of a relay session (the `action` of Connect), the pick-up of a human who was dialled, or
 * the end of their line (the `action` of Dial). Undefined for other forms. The
 * caller has checked the signature; `now` (epoch ms) is used for a form without a time.
 */
export function readTwilioCallback(form: URLSearchParams, now: number): CarrierEvent | undefined {
  const callId = form.get('CallSid');
  if (!callId) return undefined;
  const at = parseTime(form.get('Timestamp'), now);
  if (form.has('RecordingSid') && form.has('RecordingStatus')) return toRecordingEvent(form, callId, at);
  if (form.has('SessionStatus')) return toRelayEndEvent(form, callId, at);
  if (form.has('DialCallStatus')) return toHumanEndEvent(form, callId, at);
  if (form.get('Direction') === 'outbound-dial')
    return form.get('CallStatus') === 'in-progress' ? { kind: 'human', callId, report: 'answered', at } : undefined;
  const answeredBy = toAnsweredBy(form.get('AnsweredBy'));
  if (form.has('MachineDetectionDuration') && !form.has('CallStatus'))
    return answeredBy && { kind: 'machine', callId, answeredBy, ...(isMessageEnd(form) && { isGreetingOver: true }), at };

  const status = toCallStatus(form.get('CallStatus') ?? '');
  if (status === undefined) return undefined;
  const direction = toDirection(form.get('Direction'));
  const [from, to] = [form.get('From'), form.get('To')];
  const fault = toCarrierError(form);
  const [sipCode, durationSeconds, sequence] = ['SipResponseCode', 'CallDuration', 'SequenceNumber'].map((name) =>
    parseNumber(form.get(name)),
  );
  return statusEvent({
    callId,
    status,
    ...(direction && { direction }),
    ...(from && { from }),
    ...(to && { to }),
    ...(sipCode !== undefined && { sipCode }),
    ...(durationSeconds !== undefined && { durationSeconds }),
    ...(answeredBy && { answeredBy }),
    ...(fault && { fault }),
    ...(sequence !== undefined && { sequence }),
    at,
  });
}

function toRecordingEvent(form: URLSearchParams, callId: string, at: number): RecordingEvent | undefined {
  const status = recordingStatuses.get(form.get('RecordingStatus') ?? '');
  if (status === undefined) return undefined;
  const [recordingId, url] = [form.get('RecordingSid'), form.get('RecordingUrl')];
  const durationSeconds = parseNumber(form.get('RecordingDuration'));
  return {
    kind: 'recording',
    callId,
    status,
    ...(recordingId && { recordingId }),
    ...(status === 'completed' && url && { location: url }),
    ...(durationSeconds !== undefined && { durationSeconds }),
    at,
  };
}

function toRelayEndEvent(form: URLSearchParams, callId: string, at: number): RelayEndEvent {
  const [sessionId, handoffData] = [form.get('SessionId'), form.get('HandoffData')];
  const fault = toCarrierError(form);
  return {
    kind: 'relay_ended',
    callId,
    // An unknown word counts as a loss: the line may be live, and the answer to this request decides about it.
    reason: relayEndReasons.get(form.get('SessionStatus') ?? '') ?? 'lost',
    ...(sessionId && { sessionId }),
    ...(handoffData && { handoffData }),
    ...(fault && { fault }),
    at,
  };
}

/** The greeting of a machine is over (https://www.twilio.com/docs/voice/answering-machine-detection). */
const isMessageEnd = (form: URLSearchParams): boolean => (form.get('AnsweredBy') ?? '').startsWith('machine_end_');

const dialResults = new Map<string, NonNullable<HumanEvent['result']>>(
  Object.entries({
    completed: 'completed',
    answered: 'completed',
    busy: 'busy',
    'no-answer': 'no_answer',
    failed: 'failed',
    canceled: 'cancelled',
  }),
);

/** Reads the `action` of Dial (https://www.twilio.com/docs/voice/twiml/dial#action). Without `DialBridged` whoever answered was connected. */
function toHumanEndEvent(form: URLSearchParams, callId: string, at: number): HumanEvent {
  const result = dialResults.get(form.get('DialCallStatus') ?? '') ?? 'failed';
  const bridged = form.get('DialBridged');
  const durationSeconds = parseNumber(form.get('DialCallDuration'));
  const fault = toCarrierError(form);
  return {
    kind: 'human',
    callId: form.get('DialCallSid') ?? callId,
    report: 'ended',
    result,
    isBridged: bridged === null ? result === 'completed' : bridged === 'true',
    ...(durationSeconds !== undefined && { durationSeconds }),
    ...(fault && { fault }),
    at,
  };
}

/** Needs no redaction of secrets: Twilio sends no credentials. */
function toCarrierError(form: URLSearchParams): CarrierError | undefined {
  const [code, words] = [form.get('ErrorCode'), redactLine(form.get('ErrorMessage') ?? '')];
  // Code 0 means no error.
  if ((code === null || code === '' || code === '0') && words === '') return undefined;
  return { ...(code && /^[1-9]\d{0,8}$/.test(code) && { code }), words };
}

const parseNumber = (text: string | null): number | undefined => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined);

function parseTime(text: string | null, now: number): number {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? now : time;
}
