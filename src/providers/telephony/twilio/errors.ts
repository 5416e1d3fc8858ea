import type { ReceivedResponse } from '../../http/exchange.ts';
import { isRecord } from '../../../library/json/json.ts';
import type { CarrierError } from '../carrier-error.ts';
import { redactLine } from '../../http/redact.ts';
import type { CarrierResponse } from '../exchange.ts';
import type { CallToPlace, Refusal, RefusalKind } from '../telephony.ts';

type CallNumbers = Pick<CallToPlace, 'to' | 'from'>;

const invalidNumber = ({ to }: CallNumbers) => `${to} is not a phone number that can be called; correct it`;
const invalidCallerId = ({ from }: CallNumbers) => `${from} is not a phone number to call from; correct it in the from_numbers`;
const countryNotAllowed = ({ to }: CallNumbers) =>
  `The Twilio account may not call the country of ${to}; allow it in the Twilio console under Voice, Settings, Geo permissions`;
const blocked = ({ to }: CallNumbers) => `Twilio does not put calls through to ${to}; take the number out`;
const accountClosed = () => 'The Twilio account is suspended or closed; see the Twilio console';
const invalidCallbackUrl = () =>
  'Twilio does not accept the addresses that it is to call back; PUBLIC_URL must be an address that can be reached from outside';

/** https://www.twilio.com/docs/api/errors */
const refusalsByCode: Record<number, [RefusalKind, (numbers: CallNumbers) => string]> = {
  10001: ['account', accountClosed],
  13224: ['number', invalidNumber],
  13225: ['blocked', blocked],
  13227: ['blocked', countryNotAllowed],
  20005: ['account', accountClosed],
  21201: ['number', invalidNumber],
  21203: ['blocked', countryNotAllowed],
  21205: ['request', invalidCallbackUrl],
  21210: [
    'caller_id',
    ({ from }) =>
      `${from} is neither a number of the Twilio account nor verified there; buy or verify it, or take it out of the from_numbers`,
  ],
  21211: ['number', invalidNumber],
  21212: ['caller_id', invalidCallerId],
  21213: ['caller_id', invalidCallerId],
  21214: ['number', ({ to }) => `Twilio cannot reach ${to}; check the number`],
  21215: ['blocked', countryNotAllowed],
  21216: ['blocked', blocked],
  21217: ['number', invalidNumber],
  21219: ['blocked', ({ to }) => `The Twilio account is a trial, which calls verified numbers alone; verify ${to} or upgrade the account`],
  21609: ['request', invalidCallbackUrl],
};

/** The refusal of a call in an answer with a status from 300 to 499. */
export function toRefusal({ status, body }: ReceivedResponse, numbers: CallNumbers, authToken: string): Refusal {
  const code = typeof body?.['code'] === 'number' ? body['code'] : undefined;
  const [kind, message] = describeRefusal(status, code, numbers, redactLine(body?.['message'], authToken));
  return {
    code: String(code ?? `http_${status}`),
    message: code === undefined ? message : `${message} (Twilio error ${code})`,
    kind,
    retryable: false,
  };
}

function describeRefusal(status: number, code: number | undefined, numbers: CallNumbers, carrierWords: string): [RefusalKind, string] {
  const known = code === undefined ? undefined : refusalsByCode[code];
  if (known) return [known[0], known[1](numbers)];
  if (status === 401)
    return ['account', 'Twilio does not accept the account_sid and auth_token; correct them in the telephony configuration'];
  if (status === 404) return ['account', 'Twilio knows no account of this account_sid; correct it in the telephony configuration'];
  if (status === 402 || status === 403)
    return ['account', `The Twilio account may not place calls${carrierWords && `: ${carrierWords}`}; see the Twilio console`];
  if (status < 400) return ['request', 'The address of the Twilio API redirects to another; correct TWILIO_BASE_URL'];
  return ['request', `Twilio refuses the call with status ${status}${carrierWords && `: ${carrierWords}`}`];
}

/** Describes a failed answer in words. */
export function describeFailure(answer: CarrierResponse, authToken: string): string {
  if ('unreachable' in answer) return answer.message;
  if (answer.status === 401) return 'Twilio does not accept the account_sid and auth_token; correct them in the telephony configuration';
  const carrierWords = redactLine(answer.body?.['message'], authToken);
  return `Twilio answered with status ${answer.status}${carrierWords && `: ${carrierWords}`}`;
}

/** The `log` of an error; warnings have another. */
const errorLogLevel = '0';

/**
 * The errors among the notifications of a call, which come newest first. `message_text` is a form with `Msg` in it, or plain text
 * (https://www.twilio.com/docs/voice/api/call-notification-resource).
 */
export function errorsFromNotifications(body: Record<string, unknown> | undefined, secret: string): CarrierError[] {
  const listed = Array.isArray(body?.['notifications']) ? body['notifications'].filter(isRecord) : [];
  return listed
    .filter(({ log }) => String(log ?? errorLogLevel) === errorLogLevel)
    .map((notification) => toCarrierError(notification, secret))
    .toReversed();
}

function toCarrierError({ error_code: code, message_text: text }: Record<string, unknown>, secret: string): CarrierError {
  const words = redactLine(messageText(text), secret);
  return (typeof code === 'string' && code !== '') || typeof code === 'number' ? { code: String(code), words } : { words };
}

function messageText(text: unknown): string {
  if (typeof text !== 'string') return '';
  return (/(?:^|&)Msg=/.test(text) && new URLSearchParams(text).get('Msg')) || text;
}
