import { formFields } from '../../../library/text/clean-text.ts';
import { hasValidTwilioSignature } from '../../telephony/twilio/signature.ts';
import { failureFromCode } from './errors.ts';
import type { CallbackRequest, CallbackResult, MessageStatus } from '../messaging.ts';

const statuses = new Map<string, MessageStatus>(
  Object.entries({
    accepted: 'accepted',
    scheduled: 'accepted',
    queued: 'accepted',
    sending: 'accepted',
    sent: 'sent',
    delivered: 'delivered',
    read: 'read',
    failed: 'failed',
    undelivered: 'failed',
    canceled: 'failed',
  }),
);

/** Checks and reads a status callback of Twilio. It has no time, so `now` (epoch ms) is used. */
export function readTwilioMessageCallback({ url, headers, body }: CallbackRequest, now: number, authToken: string): CallbackResult {
  const signed = {
    url,
    body,
    contentType: headers.get('content-type'),
    signature: headers.get('x-twilio-signature'),
    settings: headers.get('x-twilio-webhooks-signature-settings'),
  };
  if (!hasValidTwilioSignature(signed, { authToken })) return { isUnsigned: true };
  const form = formFields(body);
  const messageId = form.get('MessageSid') || form.get('SmsSid');
  const status = statuses.get(form.get('MessageStatus') ?? form.get('SmsStatus') ?? '');
  if (!messageId || status === undefined) return { events: [] };
  if (status !== 'failed') return { events: [{ messageId, status, at: now }] };
  const code = Number(form.get('ErrorCode')) || null;
  const failure = failureFromCode(code, { words: form.get('ErrorMessage') ?? form.get('ChannelStatusMessage') }, authToken);
  return { events: [{ messageId, status, at: now, failure }] };
}
