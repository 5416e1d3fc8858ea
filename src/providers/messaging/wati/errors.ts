import { isRecord } from '../../../library/json/json.ts';
import { failureFromStatus, type ProviderResponse } from '../exchange.ts';
import { classifyText, providerFailure, type MessagingFailure } from '../failures.ts';
import { isWhatsAppCode, whatsAppFailure } from '../meta/errors.ts';

const provider = 'WATI';
const whatsAppCodePattern = /\b(1[0-9]{5}|470)\b/;

/** The receiver of a template message in WATI's answer. */
export function firstReceiver(body: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const receivers = body?.['receivers'];
  const first: unknown = Array.isArray(receivers) ? receivers[0] : undefined;
  return isRecord(first) ? first : undefined;
}

/**
 * The failure of an answer of WATI; undefined: it is a success. Most refusals have status 200: `result` is false, or the receiver has
 * errors or no account.
 */
export function failureFromResponse(
  answer: ProviderResponse,
  asked: { now: number; isSend: boolean },
  apiToken: string,
): MessagingFailure | undefined {
  const common = failureFromStatus(provider, answer, asked);
  if (common || 'unreachable' in answer) return common;
  const { status, body } = answer;
  // Both statuses may come without a body.
  if (status === 401 || status === 403)
    return providerFailure(provider, 'auth', {
      code: status,
      advice: 'WATI does not accept the api_token for this api_endpoint; give a token of this account that may send template messages',
    });
  if (status === 404)
    return providerFailure(provider, 'auth', { code: status, advice: 'There is no WATI account at the api_endpoint; copy it from WATI' });
  const receiver = firstReceiver(body);
  const faults = [body?.['error'], body?.['info'], receiver?.['errors'], body?.['message'], body?.['items']].flatMap(collectPhrases);
  const words = [...new Set(faults)].join('; ');
  if (receiver?.['isValidWhatsAppNumber'] === false) return providerFailure(provider, 'not_on_channel', { words }, [apiToken]);
  const isRefused =
    status >= 400 ||
    body?.['result'] === false ||
    body?.['success'] === false ||
    body?.['result'] === 'error' ||
    collectPhrases(receiver?.['errors']).length > 0;
  if (!isRefused) return undefined;
  const code = Number(whatsAppCodePattern.exec(words)?.[1]);
  if (isWhatsAppCode(code)) return whatsAppFailure(provider, code, { words }, [apiToken]);
  return providerFailure(provider, classifyText(words), { code: status === 200 ? null : status, words }, [apiToken]);
}

/** The texts in a text, in a list, or in objects with codes and descriptions. */
function collectPhrases(part: unknown): string[] {
  if (typeof part === 'string') return part === '' ? [] : [part];
  if (typeof part === 'number') return [String(part)];
  if (Array.isArray(part)) return part.flatMap(collectPhrases);
  if (!isRecord(part)) return [];
  const said = ['code', 'errorCode', 'message', 'description', 'error'].flatMap((name) => collectPhrases(part[name]));
  return said.length > 0 ? [said.join(': ')] : [];
}
