import { stateOfTelnyxCall, telnyxCallOf } from './telnyx-calls.ts';
import { firstErrorOf, refusalOf, wordsOf } from './telnyx-errors.ts';
import { commonPlaceResult, exchangeWith, type Answer } from './exchange.ts';
import { fetchRecording } from './recording.ts';
import type {
  CallState,
  CallToPlace,
  CommandResult,
  ListResult,
  LookUpResult,
  PlaceResult,
  Telephony,
  TelephonyOptions,
} from './telephony.ts';
import type { Relay } from './call-document.ts';

export interface TelnyxAccount {
  apiKey: string;
  /** Of the Voice API application that places the calls. */
  connectionId: string;
}

const carrier = 'Telnyx';
/** Of active calls, 250 a page. */
const mostPages = 8;
const shortestCallSeconds = 60;
const [shortestRingSeconds, longestRingSeconds] = [5, 600];

/**
 * The Voice API of Telnyx (https://developers.telnyx.com/api-reference/call-commands/dial). It fetches no document: an answered call
 * waits for `commands.connect`. Its `command_id` is the attempt key, so that the same attempt placed twice within a minute is one call.
 */
export function telnyxTelephony(account: TelnyxAccount, options: TelephonyOptions): Telephony {
  const exchange = exchangeWith(carrier, options);
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
  const failed = (answer: Answer) => ({ failure: wordsOf(answer, account.apiKey) });

  async function command(callId: string, action: string, body: object): Promise<CommandResult> {
    const answer = await post(`/calls/${encodeURIComponent(callId)}/actions/${action}`, body);
    if ('lost' in answer) return failed(answer);
    if (answer.status < 300) return { done: true };
    return isGone(answer) ? { gone: true } : failed(answer);
  }

  return {
    provider: 'telnyx',

    commands: {
      answer: (callId, statusUrl, key) =>
        command(callId, 'answer', { webhook_url: statusUrl, webhook_url_method: 'POST', client_state: toBase64(key), command_id: key }),
      connect: (callId, relay, key) => command(callId, 'conversation_relay_start', { ...relayFields(relay), command_id: key }),
    },

    async place(call): Promise<PlaceResult> {
      const answer = await post('/calls', dialFields(call, account.connectionId));
      const common = commonPlaceResult(carrier, answer, exchange.outside.now());
      if (common !== undefined || 'lost' in answer) return common!;
      if (answer.status >= 300) return refusalOf(answer, call, account.apiKey);
      const placed = telnyxCallOf(answer.body?.['data']);
      return placed === undefined
        ? { unknown: `${carrier} answered with status ${answer.status} and something that is no call` }
        : { placed: { callId: placed.call_control_id, status: 'queued' } };
    },

    async lookUp(callId): Promise<LookUpResult> {
      const answer = await get(`/calls/${encodeURIComponent(callId)}`);
      if ('lost' in answer) return failed(answer);
      if (answer.status >= 300) return isGone(answer) ? { missing: true } : failed(answer);
      const call = telnyxCallOf(answer.body?.['data']);
      return call === undefined ? { failure: `${carrier} answered something that is no call` } : { call: stateOfTelnyxCall(call) };
    },

    async list({ attemptKey }): Promise<ListResult> {
      const state = toBase64(attemptKey);
      const calls: CallState[] = [];
      let after: string | undefined;
      for (let page = 0; page < mostPages; page++) {
        const query = new URLSearchParams({ 'page[limit]': '250', ...(after === undefined ? {} : { 'page[after]': after }) });
        const answer = await get(`/connections/${encodeURIComponent(account.connectionId)}/active_calls?${query}`);
        if ('lost' in answer || answer.status >= 300) return failed(answer);
        const listed = answer.body?.['data'];
        if (!Array.isArray(listed)) return { failure: `${carrier} answered something that is no list of calls` };
        const found = listed.flatMap((item) => telnyxCallOf(item) ?? []).filter(({ client_state }) => client_state === state);
        calls.push(...found.map((call) => stateOfTelnyxCall({ ...call, is_alive: true })));
        after = nextCursor(answer.body?.['meta']);
        if (after === undefined) break;
      }
      // Calls that have ended are listed nowhere.
      return { calls, isComplete: false };
    },

    hangUp: (callId) => command(callId, 'hangup', {}),

    // A signed link to a store of the carrier's choice; it needs no credentials and gets none.
    fetchRecording: (url) => fetchRecording(carrier, exchange, { url, headers: {}, carrierOrigin: new URL(base).origin }),
  };
}

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** 90018: the call has ended; 90015 and 404: no such call. */
function isGone(answer: Exclude<Answer, { lost: string }>): boolean {
  const { code } = firstErrorOf(answer.body);
  return code === '90018' || code === '90015' || (answer.status === 404 && code !== undefined);
}

function nextCursor(meta: unknown): string | undefined {
  const { next, cursors } = (meta ?? {}) as { next?: unknown; cursors?: { after?: unknown } };
  return typeof next === 'string' && typeof cursors?.after === 'string' ? cursors.after : undefined;
}

function dialFields({ attemptKey, to, from, urls, ...call }: CallToPlace, connectionId: string): object {
  const { machineDetection = 'sync', ringSeconds, maximumSeconds } = call;
  return {
    connection_id: connectionId,
    to,
    from,
    command_id: attemptKey,
    client_state: toBase64(attemptKey),
    webhook_url: urls.status,
    webhook_url_method: 'POST',
    ...(ringSeconds !== undefined && { timeout_secs: Math.min(Math.max(ringSeconds, shortestRingSeconds), longestRingSeconds) }),
    ...(maximumSeconds !== undefined && { time_limit_secs: Math.max(maximumSeconds, shortestCallSeconds) }),
    ...(machineDetection !== 'off' && { answering_machine_detection: 'detect' }),
    ...(urls.recording !== undefined && { record: 'record-from-answer', record_format: 'mp3', record_channels: 'dual' }),
  };
}

const relayFields = (relay: Relay): object => ({
  url: relay.url,
  greeting: relay.greeting,
  interruptible_greeting: relay.isGreetingInterruptible,
  interruptible: relay.isInterruptible,
  language: relay.language,
  voice: relay.voice,
  tts_provider: relay.ttsProvider,
  transcription_engine: relay.transcriptionProvider,
  dtmf_detection: relay.hasDtmf,
  custom_parameters: relay.parameters,
});
