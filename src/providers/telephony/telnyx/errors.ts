import type { ReceivedResponse } from '../../http/exchange.ts';
import { isRecord } from '../../../library/json/json.ts';
import { redactLine } from '../../http/redact.ts';
import type { CarrierResponse } from '../exchange.ts';
import type { CallToPlace, PlaceResult, RefusalKind } from '../telephony.ts';

interface TelnyxError {
  code?: string;
  text: string;
  /** The path of the faulty field, such as `/to`. */
  pointer: string;
}

/** The first error of `{ errors: [{ code, title, detail, source: { pointer } }] }`. */
export function firstError(body: Record<string, unknown> | undefined): TelnyxError {
  const first: unknown = Array.isArray(body?.['errors']) ? body['errors'][0] : undefined;
  if (!isRecord(first)) return { text: '', pointer: '' };
  const { code, title, detail, source } = first;
  const pointer = isRecord(source) && typeof source['pointer'] === 'string' ? source['pointer'] : '';
  return {
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
    text: [title, detail].filter((part) => typeof part === 'string').join(': '),
    pointer,
  };
}

/**
 * Dial codes and words for limits of live calls or of calls per second, which pass.
 * (https://developers.telnyx.com/docs/voice/sip-trunking/troubleshooting/response-codes)
 */
const temporaryLimitPattern = /\b(?:D1|D2|D3|D22|D24)\b|(?:channel|concurrent|rate)[^.]*limit/i;

const invalidApiKeyMessage = 'Telnyx does not accept the api_key; correct it in the telephony configuration';

type CallNumbers = Pick<CallToPlace, 'to' | 'from'>;

/**
 * The result of `place` for an answer with a status from 300 to 499.
 * (https://developers.telnyx.com/development/api-fundamentals/api-errors)
 */
export function toPlaceResult({ status, body }: ReceivedResponse, numbers: CallNumbers, apiKey: string): PlaceResult {
  const error = firstError(body);
  if (status === 403 && temporaryLimitPattern.test(error.text)) return { busy: {} };
  const [kind, message] = describeRefusal(status, error, numbers, redactLine(error.text, apiKey));
  const messageWithCode = error.code === undefined ? message : `${message} (Telnyx error ${error.code})`;
  return { refused: { code: error.code ?? `http_${status}`, message: messageWithCode, kind, retryable: false } };
}

function describeRefusal(
  status: number,
  { code, text, pointer }: TelnyxError,
  { to, from }: CallNumbers,
  carrierWords: string,
): [RefusalKind, string] {
  if (status === 401) return ['account', invalidApiKeyMessage];
  if (/\bD13\b|whitelisted countr/i.test(text))
    return ['blocked', `The Telnyx account may not call the country of ${to}; allow it in the outbound voice profile of the connection`];
  if (/\/from\b/.test(pointer) || /\bD35\b|\bD51\b|origination number|caller.?id/i.test(text))
    return [
      'caller_id',
      `${from} is not a number that the Telnyx account may call from; buy or verify it, or take it out of the from_numbers`,
    ];
  if (/\/to\b/.test(pointer) || code === '10016' || code === '10002')
    return ['number', `${to} is not a phone number that can be called; correct it`];
  if (/connection_id/.test(pointer + text))
    return [
      'account',
      'Telnyx knows no Voice API application of this connection_id with a webhook address; correct it in the telephony configuration',
    ];
  if (/webhook_url/.test(pointer))
    return [
      'request',
      'Telnyx does not accept the address that it is to call back; PUBLIC_URL must be an address that can be reached from outside',
    ];
  if (code === '20100' || status === 402) return ['account', 'The Telnyx account has no credit left; add some'];
  if (status === 403)
    return ['account', `The Telnyx account may not place calls${carrierWords && `: ${carrierWords}`}; see the Telnyx portal`];
  if (status < 400 || status === 404) return ['request', 'There is no Telnyx API at TELNYX_BASE_URL; correct it'];
  return ['request', `Telnyx refuses the call with status ${status}${carrierWords && `: ${carrierWords}`}`];
}

/** Describes a failed answer in words. */
export function describeFailure(answer: CarrierResponse, apiKey: string): string {
  if ('unreachable' in answer) return answer.message;
  if (answer.status === 401) return invalidApiKeyMessage;
  const carrierWords = redactLine(firstError(answer.body).text, apiKey);
  return `Telnyx answered with status ${answer.status}${carrierWords && `: ${carrierWords}`}`;
}
