import { z } from 'zod';
import { classifyText, providerFailure } from '../failures.ts';
import { isWhatsAppCode, whatsAppFailure } from '../meta/errors.ts';
import { Code } from '../parse-fields.ts';
import type { MessageEvent, MessageStatus } from '../messaging.ts';

const Webhook = z.looseObject({
  eventType: z.string(),
  localMessageId: z.string().min(1),
  created: z.string().nullish(),
  timestamp: z.coerce.number().nullish().catch(null),
  failedCode: Code,
  failedDetail: z.string().nullish(),
});

/** By the name of the event without `_v2` and `_bsuid`: an event has several names. */
const statuses = new Map<string, MessageStatus>(
  Object.entries({
    templateMessageSent: 'sent',
    sessionMessageSent: 'sent',
    sentMessageDELIVERED: 'delivered',
    sentMessageREAD: 'read',
    // A person who replies has read the message.
    sentMessageREPLIED: 'read',
    templateMessageFailed: 'failed',
    sessionMessageFailed: 'failed',
  }),
);

/** The status in a webhook of WATI. `now` (epoch ms) is used when the webhook has no time. */
export function readWatiWebhook(body: unknown, now: number, apiToken: string): MessageEvent[] {
  const webhook = Webhook.safeParse(body);
  if (!webhook.success) return [];
  const { eventType, localMessageId: messageId, failedCode, failedDetail: words } = webhook.data;
  const status = statuses.get(eventType.replace(/(_v2)?(_bsuid)?$/, ''));
  if (status === undefined) return [];
  const at = parseTime(webhook.data, now);
  if (status !== 'failed') return [{ messageId, status, at }];
  const failure =
    failedCode != null && isWhatsAppCode(failedCode)
      ? whatsAppFailure('WATI', failedCode, { words }, [apiToken])
      : providerFailure('WATI', classifyText(words ?? ''), { code: failedCode, words }, [apiToken]);
  return [{ messageId, status, at, failure }];
}

/** `timestamp` is the time of the event; `created` is that of the message in some events, and that of the event in others. */
function parseTime({ timestamp, created }: z.infer<typeof Webhook>, now: number): number {
  if (timestamp) return timestamp * 1000;
  const time = Date.parse(created ?? '');
  return Number.isNaN(time) ? now : time;
}
