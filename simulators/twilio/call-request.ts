import type { TwilioAccount } from './credentials.ts';
import { badRequest } from './errors.ts';

export type CallbackEvent = 'initiated' | 'ringing' | 'answered' | 'completed';

/** A call as it was ordered. */
export interface TwilioCallRequest extends TwilioAccount {
  /** Where the API is, for addresses of recordings. */
  origin: string;
  url?: string | undefined;
  method: 'GET' | 'POST';
  document?: string | undefined;
  statusCallback?: string | undefined;
  statusMethod: 'GET' | 'POST';
  events: Set<CallbackEvent>;
  machineDetection?: 'Enable' | 'DetectMessageEnd' | undefined;
  isMachineDetectionAsync: boolean;
  machineCallback?: string | undefined;
  isRecorded: boolean;
  recordingCallback?: string | undefined;
  recordingEvents: Set<string>;
  ringSeconds: number;
  limitSeconds?: number | undefined;
  /** Of a human: asked for what they hear before the caller, and the caller's call. */
  human?: { url?: string | undefined; method: 'GET' | 'POST'; callerSid: string } | undefined;
}

const known = new Set(
  `To From Url Method Twiml FallbackUrl FallbackMethod StatusCallback StatusCallbackMethod StatusCallbackEvent Timeout TimeLimit SendDigits
  Record RecordingChannels RecordingTrack Trim RecordingStatusCallback RecordingStatusCallbackMethod RecordingStatusCallbackEvent
  MachineDetection MachineDetectionTimeout MachineDetectionSpeechThreshold MachineDetectionSpeechEndThreshold MachineDetectionSilenceTimeout
  AsyncAmd AsyncAmdStatusCallback AsyncAmdStatusCallbackMethod CallerId CallReason`.split(/\s+/),
);
const callbackEvents = new Set<string>(['initiated', 'ringing', 'answered', 'completed']);
const maxDocumentLength = 4_000;

/** The order in a form of `POST /Calls.json`, without a check of its numbers. Throws TwilioError. */
export function readCallRequest(form: URLSearchParams, account: TwilioAccount, origin: string): TwilioCallRequest {
  const unknown = [...form.keys()].find((name) => !known.has(name));
  // Twilio ignores an unknown parameter. The simulator refuses it, so that a misspelling is noticed.
  if (unknown !== undefined) throw badRequest(20001, `Unknown parameter: ${unknown}`);
  const url = address(form, 'Url', 21205);
  const document = form.get('Twiml') ?? undefined;
  if (url === undefined && document === undefined) throw badRequest(21205, 'Url parameter is required.');
  if ((document?.length ?? 0) > maxDocumentLength) throw badRequest(20001, `Twiml may have ${maxDocumentLength} characters at the most`);
  const detection = choice(form, 'MachineDetection', ['Enable', 'DetectMessageEnd']) as TwilioCallRequest['machineDetection'];
  return {
    ...account,
    origin,
    url,
    method: method(form, 'Method'),
    document: url === undefined ? document : undefined,
    statusCallback: address(form, 'StatusCallback', 21609),
    statusMethod: method(form, 'StatusCallbackMethod'),
    events: eventsOf(form),
    machineDetection: detection,
    isMachineDetectionAsync: detection !== undefined && choice(form, 'AsyncAmd', ['true', 'false']) === 'true',
    machineCallback: address(form, 'AsyncAmdStatusCallback', 21609),
    isRecorded: choice(form, 'Record', ['true', 'false']) === 'true',
    recordingCallback: address(form, 'RecordingStatusCallback', 21609),
    recordingEvents: new Set(form.has('RecordingStatusCallbackEvent') ? listed(form, 'RecordingStatusCallbackEvent') : ['completed']),
    ringSeconds: seconds(form, 'Timeout', 600) ?? 60,
    limitSeconds: seconds(form, 'TimeLimit', 86_400),
  };
}

/** Parties of a form. Throws TwilioError. */
export function readNumbers(form: URLSearchParams): { to: string; from: string } {
  const [to, from] = [form.get('To')?.trim(), form.get('From')?.trim()];
  if (!to) throw badRequest(21201, "No 'To' number is specified");
  if (!from) throw badRequest(21213, "No 'From' number is specified");
  checkFrom(from);
  checkTo(to);
  return { to, from };
}

const e164 = /^\+[1-9]\d{6,14}$/;
/** Numbers that answer with an error (https://www.twilio.com/docs/iam/test-credentials). */
const magicFault: Record<string, [number, (to: string) => string]> = {
  '+15005550001': [21217, (to) => `The phone number ${to} does not appear to be valid.`],
  '+15005550002': [21214, (to) => `The phone number you are attempting to call, ${to}, cannot be reached.`],
  '+15005550003': [
    21215,
    (to) =>
      `Account not authorized to call ${to}. Perhaps you need to enable some international permissions: https://www.twilio.com/console/voice/calls/geo-permissions/low-risk`,
  ],
  '+15005550004': [21216, (to) => `Account not allowed to call ${to}: it is blocked.`],
};

function checkTo(to: string): void {
  if (!e164.test(to)) throw badRequest(21211, `The phone number you are attempting to call, ${to}, is not valid.`);
  const fault = magicFault[to];
  if (fault) throw badRequest(fault[0], fault[1](to));
}

/** Whether the account owns a number: one of the magic numbers, and every number outside of their block. */
function checkFrom(from: string): void {
  if (!e164.test(from) || from === '+15005550001')
    throw badRequest(21212, `The 'From' number ${from} is not a valid phone number, shortcode, or alphanumeric sender ID.`);
  if (from.startsWith('+1500555') && from !== '+15005550006')
    throw badRequest(
      21210,
      `The source phone number provided, ${from}, is not yet verified for your account. You may only make calls from phone numbers that you've verified or purchased from Twilio.`,
    );
}

const listed = (form: URLSearchParams, name: string) => form.getAll(name).flatMap((value) => value.split(' '));

function eventsOf(form: URLSearchParams): Set<CallbackEvent> {
  const events = form.has('StatusCallbackEvent') ? listed(form, 'StatusCallbackEvent') : ['completed'];
  const bad = events.find((event) => !callbackEvents.has(event));
  if (bad !== undefined) throw badRequest(21626, `Invalid status callback event: ${bad}`);
  return new Set(events as CallbackEvent[]);
}

function address(form: URLSearchParams, name: string, code: number): string | undefined {
  const value = form.get(name);
  if (value === null || value === '') return undefined;
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
  throw badRequest(code, `${name} is not a valid URL: ${value}`);
}

const method = (form: URLSearchParams, name: string) => (choice(form, name, ['GET', 'POST']) ?? 'POST') as 'GET' | 'POST';

function choice(form: URLSearchParams, name: string, values: string[]): string | undefined {
  const value = form.get(name) ?? undefined;
  if (value === undefined || values.includes(value)) return value;
  throw badRequest(20001, `Invalid parameter: ${name} must be one of ${values.join(', ')}`);
}

function seconds(form: URLSearchParams, name: string, most: number): number | undefined {
  const value = form.get(name);
  if (value === null) return undefined;
  if (/^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= most) return Number(value);
  throw badRequest(20001, `Invalid parameter: ${name} must be from 1 to ${most}`);
}
