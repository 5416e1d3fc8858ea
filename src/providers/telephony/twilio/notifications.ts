import { isRecord } from '../../../library/json/json.ts';
import type { CarrierError } from '../carrier-error.ts';
import { redactLine } from '../../http/redact.ts';

/** What is no more than a warning has another `log`. */
const errorLogLevel = '0';

/**
 * The errors among the notifications of a call, which the list gives newest first; `message_text` is a form with `Msg` in it, or plain text
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
