import { z } from 'zod';
import { failureFromEvent } from './errors.ts';
import { Code } from '../parse-fields.ts';
import type { MessageEvent, MessageStatus } from '../messaging.ts';

const WebhookV2 = z.looseObject({
  type: z.literal('message-event'),
  timestamp: z.coerce.number().nullish().catch(null),
  payload: z.looseObject({
    id: z.string().nullish(),
    gsId: z.string().nullish(),
    type: z.string(),
    payload: z
      .looseObject({
        ts: z.coerce.number().nullish().catch(null),
        code: Code,
        reason: z.string().nullish(),
      })
      .nullish(),
  }),
});

const WebhookV3 = z.looseObject({
  gs_app_id: z.string(),
  entry: z.array(
    z.looseObject({
      changes: z.array(z.looseObject({ value: z.looseObject({ statuses: z.array(z.unknown()).nullish() }).nullish() })),
    }),
  ),
});

const WebhookV3Status = z.looseObject({
  id: z.string().nullish(),
  gs_id: z.string().nullish(),
  status: z.string(),
  timestamp: z.coerce.number().nullish().catch(null),
  errors: z.array(z.looseObject({ code: Code, title: z.string().nullish(), message: z.string().nullish() })).nullish(),
});

const statuses = new Map<string, MessageStatus>(
  Object.entries({ enqueued: 'accepted', sent: 'sent', delivered: 'delivered', read: 'read', failed: 'failed' }),
);

/**
 * The statuses in a callback of Gupshup, version 2, or version 3, which has Meta's format. `now` (epoch ms) is used when the callback has
 * no time. `gsId` identifies the message; `id` is WhatsApp's own id, once it has one.
 */
export function readGupshupCallback(body: unknown, now: number, apiKey: string): MessageEvent[] {
  const event = WebhookV2.safeParse(body);
  if (event.success) {
    const { timestamp, payload } = event.data;
    const { ts, code, reason } = payload.payload ?? {};
    const at = toMilliseconds(ts) ?? timestamp ?? now;
    return toMessageEvents({ id: payload.gsId || payload.id, status: payload.type, at, code, reason }, apiKey);
  }
  const webhook = WebhookV3.safeParse(body);
  if (!webhook.success) return [];
  return webhook.data.entry
    .flatMap(({ changes }) => changes)
    .flatMap(({ value }) => value?.statuses ?? [])
    .flatMap((report) => {
      const status = WebhookV3Status.safeParse(report);
      if (!status.success) return [];
      const { gs_id: gsId, id, errors, timestamp } = status.data;
      const error = errors?.[0];
      const at = toMilliseconds(timestamp) ?? now;
      return toMessageEvents(
        { id: gsId || id, status: status.data.status, at, code: error?.code, reason: error?.message ?? error?.title },
        apiKey,
      );
    });
}

interface StatusReport {
  id: string | null | undefined;
  status: string;
  at: number;
  code: number | null | undefined;
  reason: string | null | undefined;
}

function toMessageEvents({ id: messageId, status: word, at, code, reason }: StatusReport, apiKey: string): MessageEvent[] {
  const status = statuses.get(word);
  if (!messageId || status === undefined) return [];
  if (status !== 'failed') return [{ messageId, status, at }];
  return [{ messageId, status, at, failure: failureFromEvent(code ?? undefined, reason, apiKey) }];
}

const minEpochMs = 1e11;
/** Seconds in version 2; version 3 has been seen with either. */
const toMilliseconds = (time: number | null | undefined) => (time ? (time < minEpochMs ? time * 1000 : time) : undefined);
