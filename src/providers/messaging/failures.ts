import { redactLine } from '../http/redact.ts';

/** What a failure is about, the same for all providers. */
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
  /** The problem and the remedy for a user, with the provider's words. */
  message: string;
  /** The provider's code as text; null: there is none, or the failure is this service's. */
  code: string | null;
  /** The provider's own words, without secrets. */
  words: string | null;
  /** The message was not sent, and may be accepted later. */
  retryable: boolean;
  retryAfterSeconds?: number;
  /** The message may have been sent: never send it again automatically. */
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

/** The details of a failure at a provider. */
export interface FailureDetails {
  code?: string | number | null | undefined;
  words?: unknown;
  retryAfterSeconds?: number | undefined;
  outcomeUnknown?: boolean;
  /** Replaces the advice of the class. */
  advice?: string;
  /** Replaces the default of the class. */
  retryable?: boolean;
}

/** A failure at a provider. `secrets` are removed from its words. */
export function providerFailure(
  provider: string,
  failure: FailureClass,
  details: FailureDetails,
  secrets: readonly string[] = [],
): MessagingFailure {
  const { retryAfterSeconds, outcomeUnknown = false } = details;
  const code = details.code == null || details.code === '' ? null : String(details.code);
  const said = redactLine(details.words, ...secrets);
  const source = [code, said].filter(Boolean).join(': ');
  const unclear = outcomeUnknown ? '. Whether the message was sent is not known, so it is not sent again' : '';
  return {
    failure,
    message: `${details.advice ?? adviceByClass[failure](provider)}${source && ` (${provider}: ${source})`}${unclear}`,
    code,
    words: said || null,
    retryable: !outcomeUnknown && (details.retryable ?? (failure === 'rate_limited' || failure === 'provider_down')),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(outcomeUnknown && { outcomeUnknown }),
  };
}

/** A failure before any request to a provider. */
export const localFailure = (failure: FailureClass, message: string): MessagingFailure => ({
  failure,
  message,
  code: null,
  words: null,
  retryable: false,
});

/** The class of a failure by its words, for providers without codes; `unknown` for other words. */
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
