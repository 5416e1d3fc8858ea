import { isRecord } from '../../library/json.ts';
import type { CarrierFault } from './carrier-fault.ts';
import { quote } from './exchange.ts';

/** What is no more than a warning has another `log`. */
const errorLog = '0';

/**
 * The errors among the notifications of a call, which the list gives newest first; `message_text` is a form with `Msg` in it, or plain text
 * (https://www.twilio.com/docs/voice/api/call-notification-resource).
 */
export function notifiedFaults(body: Record<string, unknown> | undefined, secret: string): CarrierFault[] {
  const listed = Array.isArray(body?.['notifications']) ? body['notifications'].filter(isRecord) : [];
  return listed
    .filter(({ log }) => String(log ?? errorLog) === errorLog)
    .map((notification) => faultIn(notification, secret))
    .toReversed();
}

function faultIn({ error_code: code, message_text: text }: Record<string, unknown>, secret: string): CarrierFault {
  const words = quote(wordsIn(text), secret);
  return (typeof code === 'string' && code !== '') || typeof code === 'number' ? { code: String(code), words } : { words };
}

function wordsIn(text: unknown): string {
  if (typeof text !== 'string') return '';
  return (/(?:^|&)Msg=/.test(text) && new URLSearchParams(text).get('Msg')) || text;
}
