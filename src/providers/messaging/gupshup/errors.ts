import { failureFromStatus, type ProviderResponse } from '../exchange.ts';
import { classifyText, providerFailure, type FailureClass, type MessagingFailure } from '../failures.ts';
import { isWhatsAppCode, whatsAppFailure } from '../meta/errors.ts';

const provider = 'Gupshup';

/** Gupshup's own codes (https://partner-docs.gupshup.io/docs/error-codes). Codes of the WhatsApp platform come as well. */
const classesByCode: Record<number, FailureClass> = {
  1002: 'not_on_channel',
  1003: 'balance',
  1004: 'window_closed',
  1005: 'template_missing',
  1006: 'opted_out',
  1007: 'template_missing',
  1008: 'opted_out',
  1010: 'media',
  1011: 'media',
  1012: 'opted_out',
  4001: 'rate_limited',
  4003: 'template_missing',
};

/** The failure in an event. */
export function failureFromEvent(code: number | undefined, words: unknown, apiKey: string): MessagingFailure {
  if (code !== undefined && classesByCode[code] === undefined && isWhatsAppCode(code))
    return whatsAppFailure(provider, code, { words }, [apiKey]);
  const failure = (code === undefined ? undefined : classesByCode[code]) ?? classifyText(typeof words === 'string' ? words : '');
  return providerFailure(provider, failure, { code, words }, [apiKey]);
}

/** The failure of an answer of Gupshup; undefined: it is a success. */
export function failureFromResponse(
  answer: ProviderResponse,
  asked: { now: number; isSend: boolean },
  apiKey: string,
): MessagingFailure | undefined {
  const common = failureFromStatus(provider, answer, asked);
  if (common || 'unreachable' in answer) return common;
  const { status, body, text } = answer;
  if (status < 300 && body?.['status'] !== 'error') return undefined;
  const words = body?.['message'] ?? (body === undefined ? text : undefined);
  const isUnknownKey = status === 401 || status === 403;
  if (isUnknownKey)
    return providerFailure(provider, 'auth', { code: status, words, advice: 'Gupshup does not accept the api_key; correct it' }, [apiKey]);
  return providerFailure(provider, classifyText(typeof words === 'string' ? words : ''), { code: status, words }, [apiKey]);
}
