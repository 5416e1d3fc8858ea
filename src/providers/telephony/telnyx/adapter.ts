import type { ReceivedResponse } from '../../http/exchange.ts';
import { endStatusFromEvents, toCallState, toHumanState, parseTelnyxCall } from './calls.ts';
import { readTelnyxCallback } from './callbacks.ts';
import { hasValidTelnyxSignature, isTelnyxPublicKey } from './signature.ts';
import { tryParseJson } from '../../../library/json/json.ts';
import { secretProblem } from '../../../library/security/secret-problem.ts';
import { firstError, toPlaceResult, describeFailure } from './errors.ts';
import { sha256Hex } from '../../../library/security/hash.ts';
import { placeResultFromStatus, createCarrierExchange, type CarrierResponse } from '../exchange.ts';
import { systemRuntime } from '../../http/runtime.ts';
import { fetchRecording } from '../recording.ts';
import { isRecordingPath, recordingLink } from './recordings.ts';
import type {
  CarrierAdapter,
  CallState,
  CallToPlace,
  CommandResult,
  DialHumanResult,
  HumanToDial,
  ListResult,
  LookUpResult,
  PlaceResult,
  RecordingResult,
  RelayOptions,
  Telephony,
  TelephonyOptions,
} from '../telephony.ts';
import { percentEncoded } from '../../../library/text/clean-text.ts';

export interface TelnyxAccount {
  apiKey: string;
  /** The id of the Voice API application that places the calls. */
  connectionId: string;
  /** The account's public key, in base64; without it no request counts as signed. */
  publicKey?: string;
}

const carrier = 'Telnyx';
/** How many pages of 250 active calls are read. */
const maxPages = 8;
const minCallSeconds = 60;
/** Of an announcement (https://developers.telnyx.com/api-reference/call-commands/speak-text). */
const speakVoice = 'female';
const speakLanguage = 'en-US';
const [minRingSeconds, maxRingSeconds] = [5, 600];

/**
 * The Voice API of Telnyx (https://developers.telnyx.com/api-reference/call-commands/dial). It fetches no document: an answered call waits
 * for `commands.connect`. Each command carries an id, by which Telnyx ignores a repeat within a minute.
 */
export function telnyxTelephony(account: TelnyxAccount, options: TelephonyOptions): Telephony {
  const { runtime = systemRuntime } = options;
  const exchange = createCarrierExchange(carrier, options);
  const base = options.baseUrl.replace(/\/+$/, '');
  const authorization = `Bearer ${account.apiKey}`;
  const get = (path: string) => exchange.send({ method: 'GET', url: base + path, headers: { authorization } });
  const post = (path: string, body: object) =>
    exchange.send({
      method: 'POST',
      url: base + path,
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const failed = (answer: CarrierResponse) => ({ failure: describeFailure(answer, account.apiKey) });

  async function command(callId: string, action: string, key: string, body: object): Promise<CommandResult> {
    const path = `/calls/${percentEncoded(callId)}/actions/${action}`;
    const answer = await post(path, { ...body, command_id: commandId(action, key) });
    if ('unreachable' in answer) return failed(answer);
    if (answer.status < 300) return { done: true };
    return isGone(answer) ? { gone: true } : failed(answer);
  }

  /**
   * The line of the caller stays when that of the human ends. Without an announcement the carrier's own transfer; else a call of its own in the caller's session, which is bridged later
   * (https://developers.telnyx.com/api-reference/call-commands/transfer-call).
   */
  async function dialHuman(callId: string, human: HumanToDial): Promise<DialHumanResult> {
    const request = human.isAnnounced
      ? { path: '/calls', body: { connection_id: account.connectionId, link_to: callId, ...toHumanRequest(human, 'client_state') } }
      : {
          path: `/calls/${percentEncoded(callId)}/actions/transfer`,
          body: { ...toHumanRequest(human, 'target_leg_client_state'), park_after_unbridge: 'self' },
        };
    const answer = await post(request.path, request.body);
    if ('unreachable' in answer) return failed(answer);
    if (answer.status < 300) return { done: true };
    if (isGone(answer)) return { gone: true };
    const { failure } = failed(answer);
    return answer.status < 500 && answer.status !== 408 && answer.status !== 429 ? { refused: failure } : { failure };
  }

  return {
    signsUrl: false,

    isSigned: ({ headers, body }, now) =>
      hasValidTelnyxSignature(
        { body, signature: headers.get('telnyx-signature-ed25519'), timestamp: headers.get('telnyx-timestamp') },
        account.publicKey ?? '',
        now,
      ),

    readCallback: (body, now) => readTelnyxCallback(tryParseJson(body), now),

    commands: {
      answer: (callId, statusUrl, key) =>
        command(callId, 'answer', key, { webhook_url: statusUrl, webhook_url_method: 'POST', client_state: toBase64(key) }),
      connect: (callId, relay, key) => command(callId, 'conversation_relay_start', key, toRelayRequest(relay)),
      dialHuman,
      announce: (humanCallId, text, language, key) =>
        command(humanCallId, 'speak', key, { payload: text, payload_type: 'text', voice: speakVoice, language: language ?? speakLanguage }),
      bridge: (callId, humanCallId, key) => command(callId, 'bridge', key, { call_control_id: humanCallId, park_after_unbridge: 'self' }),
    },

    async place(call): Promise<PlaceResult> {
      const answer = await post('/calls', toDialRequest(call, account.connectionId));
      const common = placeResultFromStatus(carrier, answer, runtime.now());
      if (common !== undefined || 'unreachable' in answer) return common!;
      if (answer.status >= 300) return toPlaceResult(answer, call, account.apiKey);
      const placed = parseTelnyxCall(answer.body?.['data']);
      return placed === undefined
        ? { unknown: `${carrier} answered with status ${answer.status} and something that is no call` }
        : { placed: { callId: placed.call_control_id, status: 'queued' } };
    },

    async lookUp(callId): Promise<LookUpResult> {
      const answer = await get(`/calls/${percentEncoded(callId)}`);
      if ('unreachable' in answer) return failed(answer);
      if (answer.status >= 300) return isGone(answer) ? { missing: true } : failed(answer);
      const call = parseTelnyxCall(answer.body?.['data']);
      if (call === undefined) return { failure: `${carrier} answered something that is no call` };
      if (call.is_alive === true) return { call: toCallState(call, 'initiated') };
      const end = endStatusFromEvents(await eventsOf(call.call_leg_id));
      return end === undefined ? { ended: true } : { call: toCallState(call, end) };
    },

    async list({ attemptKey }): Promise<ListResult> {
      const state = toBase64(attemptKey);
      const calls: CallState[] = [];
      let after: string | undefined;
      for (let page = 0; page < maxPages; page++) {
        const query = new URLSearchParams({ 'page[limit]': '250', ...(after === undefined ? {} : { 'page[after]': after }) });
        const answer = await get(`/connections/${percentEncoded(account.connectionId)}/active_calls?${query}`);
        if ('unreachable' in answer || answer.status >= 300) return failed(answer);
        const listed = answer.body?.['data'];
        if (!Array.isArray(listed)) return { failure: `${carrier} answered something that is no list of calls` };
        const found = listed.flatMap((item) => parseTelnyxCall(item) ?? []).filter(({ client_state }) => client_state === state);
        calls.push(...found.map((call) => toCallState(call, 'initiated')));
        after = nextCursor(answer.body?.['meta']);
        if (after === undefined) break;
      }
      // Ended calls are not listed.
      return { calls, isComplete: false };
    },

    hangUp: (callId) => command(callId, 'hangup', callId, {}),

    // Telnyx reports errors only in its answers to commands.
    listCallErrors: async () => [],

    async fetchRecording(location): Promise<RecordingResult> {
      let url: string | undefined = location;
      if (isRecordingPath(location)) {
        const answer = await get(location);
        if ('unreachable' in answer || (answer.status >= 300 && answer.status !== 404)) return failed(answer);
        url = recordingLink(answer.body);
        if (url === undefined) return { missing: true };
      }
      // A signed link to the carrier's storage. It needs no credentials, so none are sent.
      return fetchRecording(carrier, options, { url, headers: {}, carrierOrigin: new URL(base).origin });
    },
  };

  /** The events of a call's leg; undefined if Telnyx does not list them. */
  async function eventsOf(leg: string | null | undefined): Promise<unknown> {
    if (!leg) return undefined;
    const query = new URLSearchParams({ 'filter[leg_id]': leg, 'filter[type]': 'webhook', 'page[size]': '250' });
    const answer = await get(`/call_events?${query}`);
    return 'unreachable' in answer || answer.status >= 300 ? undefined : answer.body?.['data'];
  }
}

/**
 * The id of a command: the same for a repeat, and different for each other command and key. A UUID (version 8), the form that Telnyx uses.
 */
export function commandId(command: string, key: string): string {
  const hex = sha256Hex(`${command} ${key}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** 90018: the call has ended; 90015 and 404: no such call. */
function isGone(answer: ReceivedResponse): boolean {
  const { code } = firstError(answer.body);
  return code === '90018' || code === '90015' || (answer.status === 404 && code !== undefined);
}

function nextCursor(meta: unknown): string | undefined {
  const { next, cursors } = (meta ?? {}) as { next?: unknown; cursors?: { after?: unknown } };
  return typeof next === 'string' && typeof cursors?.after === 'string' ? cursors.after : undefined;
}

function toDialRequest({ attemptKey, to, from, urls, ...call }: CallToPlace, connectionId: string): object {
  const { detectsMachines = true, awaitsBeep = false, ringSeconds, maxSeconds } = call;
  return {
    connection_id: connectionId,
    to,
    from,
    command_id: commandId('dial', attemptKey),
    client_state: toBase64(attemptKey),
    webhook_url: urls.status,
    webhook_url_method: 'POST',
    ...(ringSeconds !== undefined && { timeout_secs: Math.min(Math.max(ringSeconds, minRingSeconds), maxRingSeconds) }),
    ...(maxSeconds !== undefined && { time_limit_secs: Math.max(maxSeconds, minCallSeconds) }),
    ...(detectsMachines && { answering_machine_detection: awaitsBeep ? 'detect_beep' : 'detect' }),
    ...(urls.recording !== undefined && { record: 'record-from-answer', record_format: 'mp3', record_channels: 'dual' }),
  };
}

const toHumanRequest = (
  { attemptKey, leg, to, from, detectsMachines, ringSeconds, maxSeconds, statusUrl }: HumanToDial,
  stateField: 'client_state' | 'target_leg_client_state',
): object => ({
  to,
  ...(from !== null && { from }),
  timeout_secs: ringSeconds,
  time_limit_secs: maxSeconds,
  ...(detectsMachines && { answering_machine_detection: 'detect' }),
  [stateField]: toBase64(toHumanState(leg, attemptKey)),
  command_id: commandId('dial_human', `${attemptKey}:${leg}`),
  webhook_url: statusUrl,
  webhook_url_method: 'POST',
});

const toRelayRequest = (relay: RelayOptions): object => ({
  url: relay.url,
  greeting: relay.greeting,
  interruptible_greeting: relay.isGreetingInterruptible,
  interruptible: relay.isInterruptible,
  language: relay.language,
  voice: relay.voice,
  tts_provider: relay.ttsProvider,
  transcription_engine: relay.transcriptionProvider,
  ...(relay.speechModel !== undefined && { transcription_engine_config: { transcription_model: relay.speechModel } }),
  dtmf_detection: relay.hasDtmf,
  custom_parameters: relay.parameters,
});

const publicKeyProblem = (value: string): string | null =>
  isTelnyxPublicKey(value) ? null : 'Is no public key, which is 32 bytes in base64; Telnyx shows it under Keys & Credentials, Public Key';

const connectionProblem = (value: string): string | null =>
  /^[\w-]+$/.test(value) ? null : 'Is no id of a connection; Telnyx shows it beside the Voice API application';

/** https://developers.telnyx.com/api-reference/call-commands/start-conversation-relay */
export const telnyxCarrier: CarrierAdapter<'api_key' | 'connection_id' | 'public_key'> = {
  name: carrier,
  credentials: {
    api_key: { isSecret: true, description: 'An API key of the Telnyx account.', findProblem: secretProblem },
    connection_id: {
      isSecret: false,
      description: 'The id of the Voice API application at Telnyx.',
      findProblem: connectionProblem,
    },
    public_key: {
      isSecret: false,
      description: 'The public key of the Telnyx account, by which the signatures of its webhooks are checked.',
      findProblem: publicKeyProblem,
    },
  },
  baseUrl: ({ TELNYX_BASE_URL }) => TELNYX_BASE_URL,
  create: ({ api_key: apiKey, connection_id: connectionId, public_key: publicKey }, options) =>
    telnyxTelephony({ apiKey, connectionId, publicKey }, options),
  speech: {
    transcriptionProviders: ['Google', 'Telnyx', 'Deepgram', 'Azure', 'xAI', 'AssemblyAI', 'Speechmatics', 'Soniox'],
    hasHints: false,
  },
  // Telnyx closes the socket after ten frames that it does not understand.
  holdsLastToken: true,
  errorHints: { accountRefused: 'the Telnyx account may not use Conversation Relay; see the Telnyx portal', unexplainedEnd: '' },
};
