import { parseCallState } from './calls.ts';
import { readTwilioCallback } from './callbacks.ts';
import { toRefusal, describeFailure, errorsFromNotifications } from './errors.ts';
import { hasValidTwilioSignature } from './signature.ts';
import { announceTwiml, connectTwiml, dialHumanTwiml, hangUpTwiml, twimlContentType } from './twiml.ts';
import { accountSidProblem } from './account-sid.ts';
import { secretProblem } from '../../../library/security/secret-problem.ts';
import { placeResultFromStatus, createCarrierExchange, type CarrierResponse } from '../exchange.ts';
import { systemRuntime } from '../../http/runtime.ts';
import { fetchRecording } from '../recording.ts';
import type {
  CallQuery,
  CarrierAdapter,
  CallToPlace,
  CommandResult,
  ListResult,
  LookUpResult,
  PlaceResult,
  Telephony,
  TelephonyOptions,
} from '../telephony.ts';
import { formFields, percentEncoded } from '../../../library/text/clean-text.ts';

export interface TwilioAccount {
  accountSid: string;
  authToken: string;
}

const carrier = 'Twilio';
const callNotInProgressCode = 21220;
const pageSize = '50';
/** How far the carrier's clock may be behind ours. */
const clockSkewMs = 60_000;

const callPath = (callId: string) => `/Calls/${percentEncoded(callId)}.json`;

/** The Calls API of Twilio (https://www.twilio.com/docs/voice/api/call-resource). */
export function twilioTelephony(account: TwilioAccount, options: TelephonyOptions): Telephony {
  const { runtime = systemRuntime } = options;
  const exchange = createCarrierExchange(carrier, options);
  const base = `${options.baseUrl.replace(/\/+$/, '')}/2010-04-01/Accounts/${percentEncoded(account.accountSid)}`;
  const authorization = `Basic ${Buffer.from(`${account.accountSid}:${account.authToken}`).toString('base64')}`;
  const get = (path: string) => exchange.send({ method: 'GET', url: base + path, headers: { authorization } });
  const post = (path: string, form: URLSearchParams) =>
    exchange.send({
      method: 'POST',
      url: base + path,
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
    });
  const failed = (answer: CarrierResponse) => ({ failure: describeFailure(answer, account.authToken) });

  return {
    documents: {
      contentType: twimlContentType,
      connect: connectTwiml,
      hangUp: hangUpTwiml,
      dialHuman: dialHumanTwiml,
      announce: announceTwiml,
    },
    signsUrl: true,

    isSigned: ({ url, headers, body }) =>
      hasValidTwilioSignature(
        {
          url,
          body,
          contentType: headers.get('content-type'),
          signature: headers.get('x-twilio-signature'),
          settings: headers.get('x-twilio-webhooks-signature-settings'),
        },
        { authToken: account.authToken },
      ),

    readCallback: (body, now) => readTwilioCallback(formFields(body), now),

    async place(call): Promise<PlaceResult> {
      const answer = await post('/Calls.json', toCallForm(call));
      const common = placeResultFromStatus(carrier, answer, runtime.now());
      if (common !== undefined || 'unreachable' in answer) return common!;
      if (answer.status >= 300) return { refused: toRefusal(answer, call, account.authToken) };
      const state = parseCallState(answer.body);
      return state === undefined
        ? { unknown: `${carrier} answered with status ${answer.status} and something that is no call` }
        : { placed: { callId: state.callId, status: state.status } };
    },

    async lookUp(callId): Promise<LookUpResult> {
      const answer = await get(callPath(callId));
      if ('unreachable' in answer || (answer.status >= 300 && answer.status !== 404)) return failed(answer);
      // A 404 without Twilio's own code comes from a proxy or gateway.
      if (answer.status === 404) return answer.body?.['code'] === 20404 ? { missing: true } : failed(answer);
      const call = parseCallState(answer.body);
      return call === undefined ? { failure: `${carrier} answered something that is no call` } : { call };
    },

    async list({ to, from, since }: CallQuery): Promise<ListResult> {
      // Not filtered by StartTime: a call that waits to be dialled has none.
      const answer = await get(`/Calls.json?${new URLSearchParams({ To: to, From: from, PageSize: pageSize })}`);
      if ('unreachable' in answer || answer.status >= 300) return failed(answer);
      const listed = answer.body?.['calls'];
      if (!Array.isArray(listed)) return { failure: `${carrier} answered something that is no list of calls` };
      const earliest = Math.floor((since - clockSkewMs) / 1000) * 1000;
      const calls = listed.flatMap((item) => parseCallState(item) ?? []);
      const recent = calls.filter(({ createdAt }) => createdAt === undefined || createdAt >= earliest);
      // The newest calls come first: once a call is too old, further pages are older.
      const isLastPage = answer.body?.['next_page_uri'] == null || recent.length < calls.length;
      return { calls: recent, isComplete: isLastPage && calls.length === listed.length };
    },

    async hangUp(callId): Promise<CommandResult> {
      const answer = await post(callPath(callId), new URLSearchParams({ Status: 'completed' }));
      if ('unreachable' in answer) return failed(answer);
      if (answer.status < 300) return { done: true };
      const code = answer.body?.['code'];
      return code === callNotInProgressCode || code === 20404 ? { gone: true } : failed(answer);
    },

    async listCallErrors(callId) {
      const answer = await get(`/Calls/${percentEncoded(callId)}/Notifications.json?PageSize=20`);
      return 'unreachable' in answer || answer.status >= 300 ? [] : errorsFromNotifications(answer.body, account.authToken);
    },

    async fetchRecording(location) {
      // The credentials are sent to the carrier only, whatever address the callback names.
      if (!location.startsWith(`${base}/`)) return { refused: 'The recording is not at the carrier, so it was not fetched' };
      const carrierOrigin = new URL(base).origin;
      return fetchRecording(carrier, options, { url: `${location}.mp3`, headers: { authorization }, carrierOrigin });
    },
  };
}

function toCallForm({ to, from, urls, detectsMachines = true, awaitsBeep = false, ringSeconds, maxSeconds }: CallToPlace): URLSearchParams {
  const form = new URLSearchParams({ To: to, From: from, Url: urls.answer, Method: 'POST', StatusCallback: urls.status });
  form.append('StatusCallbackMethod', 'POST');
  for (const event of ['initiated', 'answered', 'completed']) form.append('StatusCallbackEvent', event);
  if (ringSeconds !== undefined) form.append('Timeout', String(ringSeconds));
  if (maxSeconds !== undefined) form.append('TimeLimit', String(maxSeconds));
  if (detectsMachines) {
    form.append('MachineDetection', awaitsBeep ? 'DetectMessageEnd' : 'Enable');
    form.append('AsyncAmd', 'true');
    form.append('AsyncAmdStatusCallback', urls.machine ?? urls.status);
    form.append('AsyncAmdStatusCallbackMethod', 'POST');
  }
  if (urls.recording !== undefined) {
    form.append('Record', 'true');
    form.append('RecordingChannels', 'dual');
    form.append('RecordingStatusCallback', urls.recording);
    form.append('RecordingStatusCallbackMethod', 'POST');
    for (const event of ['completed', 'absent']) form.append('RecordingStatusCallbackEvent', event);
  }
  return form;
}

/** https://www.twilio.com/docs/voice/twiml/connect/conversationrelay */
export const twilioCarrier: CarrierAdapter<'account_sid' | 'auth_token'> = {
  name: carrier,
  credentials: {
    account_sid: {
      isSecret: false,
      description: 'The account SID of Twilio, which begins with `AC`.',
      findProblem: accountSidProblem,
    },
    auth_token: { isSecret: true, description: 'The auth token of the Twilio account.', findProblem: secretProblem },
  },
  baseUrl: ({ TWILIO_BASE_URL }) => TWILIO_BASE_URL,
  create: ({ account_sid: accountSid, auth_token: authToken }, options) => twilioTelephony({ accountSid, authToken }, options),
  speech: { ttsProviders: ['Google', 'Amazon', 'ElevenLabs'], transcriptionProviders: ['Google', 'Deepgram'], hasHints: true },
  holdsLastToken: false,
  errorHints: {
    accountRefused:
      'ConversationRelay is not switched on in the Twilio account; accept the Predictive and Generative AI/ML Features Addendum in the Twilio console under Voice, Settings, General',
    unexplainedEnd:
      '; if every call ends so, see the error log of the Twilio console, and whether ConversationRelay is switched on there under Voice, Settings, General',
  },
};
