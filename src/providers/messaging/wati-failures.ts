import { isRecord } from '../../library/json.ts';
import { commonFailure, type Answer } from './exchange.ts';
import { classOfWords, failureAt, type MessagingFailure } from './failures.ts';
import { isPlatformCode, platformFailure } from './meta-errors.ts';

const provider = 'WATI';
const platformCode = /\b(1[0-9]{5}|470)\b/;

/** The receiver of a template message in WATI's answer. */
export function receiverOf(body: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  const receivers = body?.['receivers'];
  const first: unknown = Array.isArray(receivers) ? receivers[0] : undefined;
  return isRecord(first) ? first : undefined;
}

/**
 * Why WATI has not done what it was asked; undefined when it has. A refusal mostly has status 200: `result` is false, or the receiver has
 * errors or no account.
 */
export function watiFailure(answer: Answer, asked: { now: number; isSend: boolean }, apiToken: string): MessagingFailure | undefined {
  const common = commonFailure(provider, answer, asked);
  if (common || 'lost' in answer) return common;
  const { status, body } = answer;
  // Both may come without a body.
  if (status === 401 || status === 403)
    return failureAt(provider, 'auth', {
      code: status,
      advice: 'WATI does not accept the api_token for this api_endpoint; give a token of this account that may send template messages',
    });
  if (status === 404)
    return failureAt(provider, 'auth', { code: status, advice: 'There is no WATI account at the api_endpoint; copy it from WATI' });
  const receiver = receiverOf(body);
  const faults = [body?.['error'], body?.['info'], receiver?.['errors'], body?.['message'], body?.['items']].flatMap(phrasesOf);
  const words = [...new Set(faults)].join('; ');
  if (receiver?.['isValidWhatsAppNumber'] === false) return failureAt(provider, 'not_on_channel', { words }, [apiToken]);
  const isRefused =
    status >= 400 ||
    body?.['result'] === false ||
    body?.['success'] === false ||
    body?.['result'] === 'error' ||
    phrasesOf(receiver?.['errors']).length > 0;
  if (!isRefused) return undefined;
  const code = Number(platformCode.exec(words)?.[1]);
  if (isPlatformCode(code)) return platformFailure(provider, code, { words }, [apiToken]);
  return failureAt(provider, classOfWords(words), { code: status === 200 ? null : status, words }, [apiToken]);
}

/** The texts in what may be a text, a list of them, or objects with codes and descriptions. */
function phrasesOf(part: unknown): string[] {
  if (typeof part === 'string') return part === '' ? [] : [part];
  if (typeof part === 'number') return [String(part)];
  if (Array.isArray(part)) return part.flatMap(phrasesOf);
  if (!isRecord(part)) return [];
  const said = ['code', 'errorCode', 'message', 'description', 'error'].flatMap((name) => phrasesOf(part[name]));
  return said.length > 0 ? [said.join(': ')] : [];
}
