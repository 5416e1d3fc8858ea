import { z } from 'zod';
import { eventFailure } from './gupshup-errors.ts';
import { Code } from './texts.ts';
import type { MessageEvent, MessageStatus } from './messaging.ts';

const Version2 = z.looseObject({
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

const Version3 = z.looseObject({
  gs_app_id: z.string(),
  entry: z.array(
    z.looseObject({
      changes: z.array(z.looseObject({ value: z.looseObject({ statuses: z.array(z.unknown()).nullish() }).nullish() })),
    }),
  ),
});

const Version3Status = z.looseObject({
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
 * The statuses of messages in a callback of Gupshup, of version 2 and of version 3, which has Meta's form; `now` (epoch ms) stands in where
 * it tells no time. A message is known by `gsId`: `id` is the messaging app's own, once it has one.
 */
export function readGupshupCallback(body: unknown, now: number, apiKey: string): MessageEvent[] {
  const event = Version2.safeParse(body);
  if (event.success) {
    const { timestamp, payload } = event.data;
    const { ts, code, reason } = payload.payload ?? {};
    const at = millisecondsOf(ts) ?? timestamp ?? now;
    return eventOf({ id: payload.gsId || payload.id, status: payload.type, at, code, reason }, apiKey);
  }
  const webhook = Version3.safeParse(body);
  if (!webhook.success) return [];
  return webhook.data.entry
    .flatMap(({ changes }) => changes)
    .flatMap(({ value }) => value?.statuses ?? [])
    .flatMap((told) => {
      const status = Version3Status.safeParse(told);
      if (!status.success) return [];
      const { gs_id: gsId, id, errors, timestamp } = status.data;
      const error = errors?.[0];
      const at = millisecondsOf(timestamp) ?? now;
      return eventOf({ id: gsId || id, status: status.data.status, at, code: error?.code, reason: error?.message ?? error?.title }, apiKey);
    });
}

interface Heard {
  id: string | null | undefined;
  status: string;
  at: number;
  code: number | null | undefined;
  reason: string | null | undefined;
}

function eventOf({ id: messageId, status: word, at, code, reason }: Heard, apiKey: string): MessageEvent[] {
  const status = statuses.get(word);
  if (!messageId || status === undefined) return [];
  if (status !== 'failed') return [{ messageId, status, at }];
  return [{ messageId, status, at, failure: eventFailure(code ?? undefined, reason, apiKey) }];
}

const earliestMs = 1e11;
/** Seconds in version 2; version 3 has been seen with either. */
const millisecondsOf = (time: number | null | undefined) => (time ? (time < earliestMs ? time * 1000 : time) : undefined);
