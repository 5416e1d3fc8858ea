import { redactLine } from '../http/redact.ts';

/** What a failure is about, in words of no provider. */
export type FailureClass =
  | 'auth'
  | 'not_on_channel'
  | 'window_closed'
  | 'template_missing'
  | 'template_params'
  | 'template_paused'
  | 'opted_out'
  | 'rate_limited'
  | 'media'
  | 'balance'
  | 'provider_down'
  | 'unknown';

export interface MessagingFailure {
  failure: FailureClass;
  /** For a user: what is wrong and what to do, with the provider's words. */
  message: string;
  /** The provider's code as text; null when the failure is ours or has none. */
  code: string | null;
  /** The provider's own words, without secrets. */
  words: string | null;
  /** The message was not sent, and the same one may be taken later. */
  retryable: boolean;
  retryAfterSeconds?: number;
  /** It may have been sent: never to be sent again unasked. */
  outcomeUnknown?: true;
}

const adviceByClass: Record<FailureClass, (provider: string) => string> = {
  auth: (provider) => `${provider} does not accept the account or what it may do; correct the messaging configuration`,
  not_on_channel: () => 'The number cannot be reached on the messaging app; check it, or use another channel',
  window_closed: () => 'The person has not written for 24 hours, so that only an approved template may be sent; send a template',
  template_missing: (provider) => `${provider} has no such approved template in this language; choose one of the list of templates`,
  template_params: () => 'The parameters do not fit the template; give a value for each of its placeholders',
  template_paused: (provider) => `${provider} has paused or disabled the template; choose another one or improve it there`,
  opted_out: () => 'The person does not want these messages; send them no more',
  rate_limited: (provider) => `${provider} takes no more messages for the moment; send it later`,
  media: () => 'The media of the message cannot be used; check its address, type and size',
  balance: (provider) => `The account with ${provider} has no balance or no way to pay; see to it there`,
  provider_down: (provider) => `${provider} has a disturbance; try again later`,
  unknown: (provider) => `${provider} does not send the message`,
};

/** What a provider said of a failure. */
export interface FailureDetails {
  code?: string | number | null | undefined;
  words?: unknown;
  retryAfterSeconds?: number | undefined;
  outcomeUnknown?: boolean;
  /** Instead of the advice that goes with the class. */
  advice?: string;
  /** Instead of what goes with the class. */
  retryable?: boolean;
}

/** A failure at a provider. `secrets` are taken out of its words. */
export function providerFailure(
  provider: string,
  failure: FailureClass,
  told: FailureDetails,
  secrets: readonly string[] = [],
): MessagingFailure {
  const { retryAfterSeconds, outcomeUnknown = false } = told;
  const code = told.code == null || told.code === '' ? null : String(told.code);
  const said = redactLine(told.words, ...secrets);
  const source = [code, said].filter(Boolean).join(': ');
  const unclear = outcomeUnknown ? '. Whether the message was sent is not known, so it is not sent again' : '';
  return {
    failure,
    message: `${told.advice ?? adviceByClass[failure](provider)}${source && ` (${provider}: ${source})`}${unclear}`,
    code,
    words: said || null,
    retryable: !outcomeUnknown && (told.retryable ?? (failure === 'rate_limited' || failure === 'provider_down')),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(outcomeUnknown && { outcomeUnknown }),
  };
}

/** A failure found before anything was asked of a provider. */
export const localFailure = (failure: FailureClass, message: string): MessagingFailure => ({
  failure,
  message,
  code: null,
  words: null,
  retryable: false,
});

/** The class that words alone tell, where a provider gives no code; `unknown` when they tell none. */
export const classifyText = (words: string): FailureClass => textPatterns.find(([wording]) => wording.test(words))?.[1] ?? 'unknown';

const textPatterns: [RegExp, FailureClass][] = [
  [/portal user not found|unauthori[sz]ed|authenticat|api.?key|access token|forbidden/i, 'auth'],
  [/rate.?limit|too many (requests|messages)|throttl/i, 'rate_limited'],
  [/opt(ed)?[ -]?out|unsubscribed|blocked by|stopped marketing/i, 'opted_out'],
  [/(balance|wallet|credits?)\b.*(low|insufficient|not enough|no )|(insufficient|not enough|no|low) (balance|credits?|wallet)/i, 'balance'],
  [/24 hours|session (is |has )?(expired|closed|inactive)|ticket has been expired|inactive for session/i, 'window_closed'],
  [/template.*(paused|disabled|inactive)/i, 'template_paused'],
  [/template.*(not (exist|found|approved)|(doesn't|does not) exist|invalid)|(no|unknown|invalid) template/i, 'template_missing'],
  [/param(eter)?s?\b|placeholder|variable/i, 'template_params'],
  [/media|image|video|document/i, 'media'],
  [/(not|isn't|n't).*\b(on )?whatsapp|invalid (whatsapp|phone|destination|recipient|contact)|number (does )?not exist/i, 'not_on_channel'],
];
