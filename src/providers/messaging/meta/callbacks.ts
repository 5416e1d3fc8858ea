import { z } from 'zod';
import { providerFailure } from '../failures.ts';
import { whatsAppFailure, joinDescription } from './errors.ts';
import { Code } from '../parse-fields.ts';
import type { MessageEvent, MessageStatus } from '../messaging.ts';

const Status = z.looseObject({
  id: z.string().min(1),
  status: z.string(),
  timestamp: z.coerce.number().optional().catch(undefined),
  errors: z
    .array(
      z.looseObject({
        code: Code,
        title: z.string().nullish(),
        message: z.string().nullish(),
        error_data: z.looseObject({ details: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
});

const Webhook = z.looseObject({
  entry: z.array(
    z.looseObject({
      changes: z.array(z.looseObject({ field: z.string(), value: z.looseObject({ statuses: z.array(z.unknown()).nullish() }).nullish() })),
    }),
  ),
});

const statuses = new Map<string, MessageStatus>(
  Object.entries({ sent: 'sent', delivered: 'delivered', read: 'read', played: 'read', failed: 'failed' }),
);

/** The statuses in a webhook of Meta. `now` (epoch ms) is used when a status has no time. */
export function readMetaWebhook(body: unknown, now: number, accessToken: string): MessageEvent[] {
  const webhook = Webhook.safeParse(body);
  if (!webhook.success) return [];
  return webhook.data.entry
    .flatMap(({ changes }) => changes)
    .filter(({ field }) => field === 'messages')
    .flatMap(({ value }) => value?.statuses ?? [])
    .flatMap((report) => toMessageEvent(report, now, accessToken) ?? []);
}

function toMessageEvent(report: unknown, now: number, accessToken: string): MessageEvent | undefined {
  const parsed = Status.safeParse(report);
  const status = parsed.success ? statuses.get(parsed.data.status) : undefined;
  if (!parsed.success || status === undefined) return undefined;
  const { id, timestamp, errors } = parsed.data;
  const at = timestamp ? timestamp * 1000 : now;
  if (status !== 'failed') return { messageId: id, status, at };
  const { code, title, message, error_data: data } = errors?.[0] ?? {};
  const words = joinDescription(message ?? title, data?.details);
  const secrets = [accessToken];
  const failure = code == null ? providerFailure('Meta', 'unknown', { words }, secrets) : whatsAppFailure('Meta', code, { words }, secrets);
  return { messageId: id, status, at, failure };
}
