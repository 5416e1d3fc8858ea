import { z } from 'zod';
import { invalid, TelnyxError } from './errors.ts';

const webhookUrl = z.url({ protocol: /^https?$/ });
const base64 = z.base64();

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
  answering_machine_detection: z.enum(['premium', 'detect', 'detect_beep', 'detect_words', 'greeting_end', 'disabled']).default('disabled'),
  record: z.literal('record-from-answer').optional(),
  record_format: z.enum(['wav', 'mp3']).optional(),
  record_channels: z.enum(['single', 'dual']).optional(),
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

/** Twilio's block of magic numbers has its meaning here, too. */
function checkNumbers({ to, from }: Dial): void {
  for (const [field, number] of Object.entries({ to, from })) if (!e164.test(number)) throw notE164(field);
  if (from.startsWith('+1500555') && from !== '+15005550006') throw forbidden('Unverified origination number D35');
  if (to === '+15005550001' || to === '+15005550002') throw notE164('to');
  if (to === '+15005550003') throw forbidden('Dialed number is not included in whitelisted countries D13');
  if (to === '+15005550004') throw forbidden('Calls to this number are blocked');
}
