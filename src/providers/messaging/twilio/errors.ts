import { failureFromStatus, parseRetryAfterHeader, type ProviderResponse } from '../exchange.ts';
import { providerFailure, type FailureClass, type MessagingFailure, type FailureDetails } from '../failures.ts';

const provider = 'Twilio';

type CodeMeaning = FailureClass | [FailureClass, Pick<FailureDetails, 'advice' | 'retryable'>];

const invalidAccount: CodeMeaning = [
  'auth',
  {
    advice: 'Twilio does not accept the account_sid and auth_token, or the account is closed; correct them in the messaging configuration',
  },
];
const invalidSender: CodeMeaning = [
  'auth',
  { advice: 'The from_number is no sender of the messaging app in this Twilio account; correct it or set it up at Twilio' },
];
const missingContent: CodeMeaning = [
  'template_missing',
  { advice: 'Twilio has no such content; correct content_sid, or choose a template of the list of templates' },
];

/** The codes of Twilio (https://www.twilio.com/docs/api/errors). Any other code is `unknown`. */
const meaningsByCode: Record<number, CodeMeaning> = {
  10001: invalidAccount,
  14107: 'rate_limited',
  20003: invalidAccount,
  20005: invalidAccount,
  20404: invalidAccount,
  20429: 'rate_limited',
  21211: 'not_on_channel',
  21212: invalidSender,
  21408: ['auth', { advice: 'The Twilio account may not send to this country; allow it in the Twilio console' }],
  21603: invalidSender,
  21606: invalidSender,
  21610: 'opted_out',
  21611: 'rate_limited',
  21614: 'not_on_channel',
  21620: 'media',
  21655: missingContent,
  21656: 'template_params',
  21659: invalidSender,
  21660: invalidSender,
  21701: invalidSender,
  21703: invalidSender,
  30001: 'rate_limited',
  30002: invalidAccount,
  30005: 'not_on_channel',
  63003: 'not_on_channel',
  63007: invalidSender,
  63010: 'provider_down',
  63012: 'provider_down',
  63014: 'opted_out',
  63015: [
    'not_on_channel',
    { advice: 'The sandbox of Twilio sends to people who have joined it alone; let the number join, or use a sender of your own' },
  ],
  63016: 'window_closed',
  63017: 'rate_limited',
  63018: 'rate_limited',
  63019: 'media',
  63020: ['auth', { advice: 'The sender of the messaging app is not set up to the end; see the Twilio console' }],
  63024: 'not_on_channel',
  63027: 'template_missing',
  63028: 'template_params',
  63032: 'not_on_channel',
  63033: 'opted_out',
  63036: 'not_on_channel',
  63038: ['rate_limited', { advice: 'The Twilio account has sent as many messages as it may in a day; send it tomorrow' }],
  63040: 'template_missing',
  63041: 'template_paused',
  63042: 'template_paused',
  63049: [
    'rate_limited',
    {
      retryable: false,
      advice: 'The messaging app holds back marketing messages to this person for now; try again in some days at the earliest',
    },
  ],
};

/** A failure by its code, from an answer or a status callback. */
export function failureFromCode(code: number | null, details: Omit<FailureDetails, 'code'>, authToken: string): MessagingFailure {
  const meaning = (code === null ? undefined : meaningsByCode[code]) ?? 'unknown';
  const [failure, more] = typeof meaning === 'string' ? [meaning, {}] : meaning;
  return providerFailure(provider, failure, { code, ...more, ...details }, [authToken]);
}

/** The failure of an answer of Twilio; undefined: it is a success. */
export function failureFromResponse(
  answer: ProviderResponse,
  asked: { now: number; isSend: boolean },
  authToken: string,
): MessagingFailure | undefined {
  const code = 'unreachable' in answer ? undefined : answer.body?.['code'];
  if ('unreachable' in answer || answer.status === 429 || answer.status >= 500 || typeof code !== 'number') {
    const common = failureFromStatus(provider, answer, asked);
    if (common) return common;
  }
  if ('unreachable' in answer || answer.status < 300) return undefined;
  const details = { words: answer.body?.['message'], retryAfterSeconds: parseRetryAfterHeader(answer, asked.now) };
  if (typeof code === 'number') return failureFromCode(code, details, authToken);
  return providerFailure(
    provider,
    answer.status === 401 || answer.status === 403 ? 'auth' : 'unknown',
    { code: answer.status, ...details },
    [authToken],
  );
}
