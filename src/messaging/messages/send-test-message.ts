import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { normalizePhone } from '../../library/phone/phone-numbers.ts';
import { invalidAt } from '../../library/errors.ts';
import { sendKeyForRequest } from './request-send-key.ts';
import type { TestMessageBody, TestMessageResult } from '../schemas.ts';
import { sendMessage, type MessageContent } from './send-message.ts';

type TestResult = z.infer<typeof TestMessageResult>;

/**
 * Sends one message through the selected provider, also to a suppressed number. The answer has the reason when the message is not sent.
 * Throws 422 for an invalid body.
 */
export async function sendTestMessage(context: Context, body: TestMessageBody, idempotencyKey: string | undefined): Promise<TestResult> {
  const reading = normalizePhone(body.to, context.organization.defaultCountry);
  if (!('phone' in reading)) throw invalidAt(['body', 'to'], reading.detail, 'invalid_phone');
  const sent = await sendMessage(context, {
    sendKey: await sendKeyForRequest(context, body, idempotencyKey),
    to: reading.phone,
    content: toContent(body),
    contactId: null,
    automationRunId: null,
    ignoresSuppression: true,
  });
  const shared = { provider: sent.provider, channel: 'messaging_app' as const };
  if ('messageId' in sent) return { success: true, ...shared, message_id: sent.messageId, status: sent.status, error: null };
  const { message, outcomeUnknown } = sent.failure;
  return { success: false, ...shared, message_id: '', status: outcomeUnknown ? 'unknown' : 'failed', error: message };
}

function toContent({ kind, text, template_name, language, template_params }: TestMessageBody): MessageContent {
  if (kind === 'text') {
    if (!text?.trim()) throw invalidAt(['body', 'text'], 'Is missing; a message of kind text needs one', 'missing');
    return { kind, text };
  }
  const params = Object.fromEntries(Object.entries(template_params ?? {}).map(([name, value]) => [name, String(value)]));
  return { kind, templateName: template_name ?? '', language: language ?? '', params };
}
