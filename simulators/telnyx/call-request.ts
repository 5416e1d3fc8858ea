import { z } from 'zod';
import { invalid, TelnyxError } from './errors.ts';

const webhookUrl = z.url({ protocol: /^https?$/ });
const base64 = z.base64();

const machineDetection = z.enum(['premium', 'detect', 'detect_beep', 'detect_words', 'greeting_end', 'disabled']).default('disabled');
/** What becomes of the line when the one that it is connected with ends. Without it the line ends, too. */
const parkAfterUnbridge = z.literal('self').optional();

/** `POST /v2/calls`, as far as it is simulated. */
const Dial = z.strictObject({
  connection_id: z.string().min(1),
  to: z.string(),
  from: z.string(),
  webhook_url: webhookUrl.optional(),
  webhook_url_method: z.literal('POST').optional(),
  command_id: z.string().optional(),
  client_state: base64.optional(),
  timeout_secs: z.int().min(5).max(600).default(30),
  time_limit_secs: z.int().min(60).max(14_400).optional(),
  answering_machine_detection: machineDetection,
  record: z.literal('record-from-answer').optional(),
  record_format: z.enum(['wav', 'mp3']).optional(),
  record_channels: z.enum(['single', 'dual']).optional(),
  /** The call whose session this one shares. */
  link_to: z.string().optional(),
});

/** `POST /v2/calls/{id}/actions/transfer`, as far as it is simulated. */
const Transfer = z.strictObject({
  to: z.string(),
  from: z.string().optional(),
  timeout_secs: z.int().min(5).max(600).default(30),
  time_limit_secs: z.int().min(30).max(14_400).default(14_400),
  target_leg_client_state: base64.optional(),
  client_state: base64.optional(),
  command_id: z.string().optional(),
  webhook_url: webhookUrl.optional(),
  webhook_url_method: z.literal('POST').optional(),
  answering_machine_detection: machineDetection,
  park_after_unbridge: parkAfterUnbridge,
});

/** `POST /v2/calls/{id}/actions/speak`, as far as it is simulated. */
const Speak = z.strictObject({
  payload: z.string().min(1).max(5_000),
  payload_type: z.enum(['text', 'ssml']).default('text'),
  voice: z.string().min(1),
  language: z.string().optional(),
  client_state: base64.optional(),
  command_id: z.string().optional(),
});

/** `POST /v2/calls/{id}/actions/bridge`, as far as it is simulated. */
const Bridge = z.strictObject({
  call_control_id: z.string().min(1),
  client_state: base64.optional(),
  command_id: z.string().optional(),
  park_after_unbridge: parkAfterUnbridge,
});

const interruptible = z.enum(['none', 'any', 'speech', 'dtmf']).optional();

/** `POST /v2/calls/{id}/actions/conversation_relay_start`, as far as it is simulated. */
const RelayStart = z.strictObject({
  url: z.url({ protocol: /^wss?$/ }),
  greeting: z.string().optional(),
  interruptible_greeting: interruptible,
  interruptible,
  language: z.string().default('en-US'),
  voice: z.string().optional(),
  tts_provider: z.string().optional(),
  transcription_engine: z
    .enum(['Google', 'Telnyx', 'Deepgram', 'Azure', 'xAI', 'AssemblyAI', 'Speechmatics', 'Soniox', 'A', 'B'])
    .optional(),
  transcription_engine_config: z.strictObject({ transcription_model: z.string().optional() }).optional(),
  dtmf_detection: z.boolean().default(false),
  custom_parameters: z.record(z.string(), z.unknown()).default({}),
  client_state: base64.optional(),
  command_id: z.string().optional(),
});

const Answer = z.strictObject({
  webhook_url: webhookUrl.optional(),
  webhook_url_method: z.literal('POST').optional(),
  client_state: base64.optional(),
  command_id: z.string().optional(),
});

const Hangup = z.strictObject({ client_state: base64.optional(), command_id: z.string().optional() });

export type RelayStart = z.output<typeof RelayStart>;
export type Dial = z.output<typeof Dial>;

export interface CallEvent {
  legId: string;
  sessionId: string;
  name: string;
  at: string;
  payload: object;
}

/** An ordered call, and the commands that it waits for. */
export interface TelnyxCallRequest {
  webhookUrl: string | undefined;
  clientState: string | undefined;
  connectionId: string;
  legId: string;
  sessionId: string;
  /** Where the API is, for addresses of recordings. */
  origin: string;
  machineDetection: Dial['answering_machine_detection'];
  isRecorded: boolean;
  /** When each command to the call was executed, including the order to call, in epoch ms. */
  commandTimes: Map<string, number>;
  /** The webhooks about the call, oldest first. */
  events: CallEvent[];
  /** Resolved when the call is answered by command. */
  answered: PromiseWithResolvers<void>;
  /** Of a human: the call of the caller, with which the line is connected as soon as it is answered; undefined: it waits for a bridge. */
  bridgeOnAnswer: string | undefined;
  /** Of a human: the call of the caller. */
  caller: string | undefined;
  /** Resolved when this line is connected with another one. */
  bridged: PromiseWithResolvers<'bridged'>;
  /** Whether this line stays when the one ends that it is connected with, and what is resolved then. */
  isParkedAfterBridge: boolean;
  unbridged: PromiseWithResolvers<void>;
  /** Resolved with the next relay that is to be started. */
  relay: PromiseWithResolvers<RelayStart>;
}

const read = <Value>(schema: z.ZodType<Value>, body: unknown): Value => {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : issue.path;
  throw invalid(`/${path.map(String).join('/')}`, `Invalid value for ${path.map(String).join('.')}: ${issue.message}`);
};

/** The order to call somebody. Throws TelnyxError. */
export function readDial(body: unknown): Dial {
  const dial = read(Dial, body);
  checkNumbers(dial);
  return dial;
}

export const readRelayStart = (body: unknown): RelayStart => read(RelayStart, body);
export const readAnswer = (body: unknown) => read(Answer, body);
export const readHangup = (body: unknown) => read(Hangup, body);
export const readSpeak = (body: unknown) => read(Speak, body);
export const readBridge = (body: unknown) => read(Bridge, body);

/** The order to hand a call to somebody. Throws TelnyxError. */
export function readTransfer(body: unknown): z.output<typeof Transfer> {
  const transfer = read(Transfer, body);
  checkTarget(transfer.to);
  return transfer;
}

const e164 = /^\+[1-9]\d{6,14}$/;
const notE164 = (field: string) =>
  new TelnyxError(
    422,
    '10016',
    'Phone number must be in +E.164 format',
    `The '${field}' parameter must be in +E164 format, with a leading '+'.`,
    `/${field}`,
  );
const forbidden = (detail: string) => new TelnyxError(403, '10010', 'Authorization failed', detail);

function checkTarget(to: string): void {
  if (!e164.test(to) && !/^sips?:[^@\s]+@[^@\s]+$/.test(to)) throw notE164('to');
}

/** Twilio's block of magic numbers has its meaning here, too. */
function checkNumbers({ to, from }: Dial): void {
  if (!e164.test(from)) throw notE164('from');
  checkTarget(to);
  if (from.startsWith('+1500555') && from !== '+15005550006') throw forbidden('Unverified origination number D35');
  if (to === '+15005550001' || to === '+15005550002') throw notE164('to');
  if (to === '+15005550003') throw forbidden('Dialed number is not included in whitelisted countries D13');
  if (to === '+15005550004') throw forbidden('Calls to this number are blocked');
}
