import { isRecord } from '../../../library/json/json.ts';
import { failureFromStatus, parseRetryAfterHeader, type ProviderResponse } from '../exchange.ts';
import { providerFailure, type FailureClass, type MessagingFailure, type FailureDetails } from '../failures.ts';

const provider = 'Meta';

type CodeMeaning = FailureClass | [FailureClass, Pick<FailureDetails, 'advice' | 'retryable'>];

const retryLater = { retryable: true };
const marketingHeldBack: CodeMeaning = [
  'rate_limited',
  {
    retryable: false,
    advice: 'The messaging app holds back marketing messages to this person for now; try again in some days at the earliest',
  },
];

/**
 * The codes of the WhatsApp platform, which other providers forward
 * (https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes). Any other code is `unknown`.
 */
const meaningsByCode: Record<number, CodeMeaning> = {
  0: 'auth',
  2: ['provider_down', retryLater],
  3: 'auth',
  4: 'rate_limited',
  10: 'auth',
  33: ['auth', { advice: 'Meta knows no business phone number of this phone_number_id; correct it' }],
  190: ['auth', { advice: 'Meta does not accept the access_token, or it has expired; give a new one' }],
  368: ['auth', { advice: 'Meta has restricted the business account for a violation of its policies; see the WhatsApp Manager' }],
  80007: 'rate_limited',
  130429: 'rate_limited',
  130472: marketingHeldBack,
  130497: ['auth', { advice: 'Meta does not let the business account send to this country' }],
  131000: ['provider_down', retryLater],
  131005: 'auth',
  131008: 'template_params',
  131009: 'template_params',
  131016: ['provider_down', retryLater],
  131021: ['not_on_channel', { advice: 'The message goes to the number that it comes from; give another one' }],
  131026: 'not_on_channel',
  131030: ['not_on_channel', { advice: 'A test number sends to listed recipients alone; add the number to the list at Meta' }],
  131031: ['auth', { advice: 'Meta has locked the business account; see the WhatsApp Manager' }],
  131037: ['auth', { advice: 'The display name of the sending number is not approved yet; see the WhatsApp Manager' }],
  131042: 'balance',
  131045: ['auth', { advice: 'The sending number is not registered rightly; register it again at Meta' }],
  131047: 'window_closed',
  131048: [
    'rate_limited',
    { advice: 'Meta limits the sending number because people reported or blocked it; see its quality in the WhatsApp Manager' },
  ],
  131049: marketingHeldBack,
  131050: 'opted_out',
  131052: 'media',
  131053: 'media',
  131056: ['rate_limited', { advice: 'Too many messages to this one person in a short time; send it later' }],
  131057: ['provider_down', retryLater],
  132000: 'template_params',
  132001: 'template_missing',
  132005: ['template_params', { advice: 'The message is too long with these parameters; give shorter ones' }],
  132007: ['template_paused', { advice: 'The template violates a policy of the messaging app; change it at Meta' }],
  132012: 'template_params',
  132015: 'template_paused',
  132016: 'template_paused',
  132018: 'template_params',
  133004: ['provider_down', retryLater],
  133010: ['auth', { advice: 'The sending number is not registered with the Cloud API; register it at Meta' }],
};

/** Whether `code` is a known code of the WhatsApp platform. */
export const isWhatsAppCode = (code: number): boolean => meaningsByCode[code] !== undefined;

/** A failure by its code. `saidBy`: the provider that forwards it. */
export function whatsAppFailure(
  saidBy: string,
  code: number,
  details: Omit<FailureDetails, 'code'>,
  secrets: readonly string[],
): MessagingFailure {
  const meaning = meaningsByCode[code] ?? (code >= 200 && code <= 299 ? 'auth' : 'unknown');
  const [failure, more] = typeof meaning === 'string' ? [meaning, {}] : meaning;
  return providerFailure(saidBy, failure, { code, ...more, ...details }, secrets);
}

/** The failure of an answer of Meta; undefined: it is a success. */
export function failureFromResponse(
  answer: ProviderResponse,
  asked: { now: number; isSend: boolean },
  accessToken: string,
): MessagingFailure | undefined {
  if ('unreachable' in answer) return failureFromStatus(provider, answer, asked);
  const error = isRecord(answer.body?.['error']) ? answer.body['error'] : undefined;
  if (error === undefined && answer.status < 300) return undefined;
  const code = error?.['code'];
  const isKnown = typeof code === 'number' && (isWhatsAppCode(code) || (code >= 200 && code <= 299));
  if (!isKnown) {
    const common = failureFromStatus(provider, answer, asked);
    if (common) return common;
  }
  const details = isRecord(error?.['error_data']) ? error['error_data']['details'] : undefined;
  const failureDetails = {
    words: joinDescription(error?.['message'], details),
    retryAfterSeconds: parseRetryAfterHeader(answer, asked.now),
    // 131000 with a server error does not say whether the message was sent.
    outcomeUnknown: asked.isSend && code === 131000 && answer.status >= 500,
  };
  // The object does not exist, or the token may not use it.
  if (code === 100 && error?.['error_subcode'] === 33)
    return providerFailure(
      provider,
      'auth',
      {
        code,
        ...failureDetails,
        advice: 'Meta knows no such phone_number_id or waba_id, or the access_token may not use it; correct them',
      },
      [accessToken],
    );
  return typeof code === 'number'
    ? whatsAppFailure(provider, code, failureDetails, [accessToken])
    : providerFailure(provider, answer.status === 401 || answer.status === 403 ? 'auth' : 'unknown', { code: answer.status }, [
        accessToken,
      ]);
}

/** The title without its code, such as `(#131026)`, and the more precise details. */
export function joinDescription(message: unknown, details: unknown): string {
  const title = typeof message === 'string' ? message.replace(/^\(#\d+\)\s*/, '') : '';
  return [title, details].filter((part) => typeof part === 'string' && part !== '').join('; ');
}
