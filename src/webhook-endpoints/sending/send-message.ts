import type { Context } from '../../context.ts';
import { sendWebhook, type WebhookAnswer } from '../../providers/http/send-webhook.ts';
import { urlPolicy } from '../../providers/http/url-policy.ts';
import type { EndpointRow } from '../endpoints/store.ts';
import type { MessageRow } from '../deliveries/store.ts';
import { toPayload } from '../payload.ts';
import { signWithAll } from '../signing-secrets.ts';
import type { AttemptEnd } from './endpoint-health.ts';
import { nextAttemptAt } from './retry-schedule.ts';
import type { AttemptOutcome } from './store.ts';

/** One attempt to deliver a message: what it changes in the message, and what it tells of the receiver. */
export interface SentMessage {
  outcome: AttemptOutcome;
  end: AttemptEnd;
}

/** Sends a message once. Never throws. `secrets` sign it. */
export async function sendMessage(context: Context, endpoint: EndpointRow, message: MessageRow, secrets: string[]): Promise<SentMessage> {
  const { clock, settings } = context;
  const at = clock();
  const event = { ...message, data: JSON.parse(message.data) as Record<string, unknown> };
  const body = JSON.stringify(toPayload(event, settings.PUBLIC_URL));
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'voice-agent-automation-service',
    ...(await signWithAll(secrets, message.event_id, at, body)),
  };
  const answer = await sendWebhook(endpoint.url, headers, body, { policy: urlPolicy(settings), now: at });
  return toSentMessage(message, answer, { at, endedAt: clock(), random: Math.random() });
}

/** The result of an attempt that began `at` and ended at `endedAt` (epoch ms). `random` is from 0 to below 1. */
function toSentMessage(
  message: Pick<MessageRow, 'sequence' | 'subject' | 'tries'>,
  answer: WebhookAnswer,
  { at, endedAt, random }: { at: number; endedAt: number; random: number },
): SentMessage {
  const status = 'status' in answer ? answer.status : null;
  const isDelivered = status !== null && status >= 200 && status < 300;
  const nextAt = isDelivered ? null : nextAttemptAt(message.tries + 1, endedAt, random);
  const attempt = {
    at,
    status,
    error: 'failure' in answer ? answer.failure : isDelivered ? null : describeRefusal(answer.status),
    // SQLite ends a text at a zero character.
    body: 'body' in answer ? answer.body.replaceAll('\u0000', '') : null,
    latency_ms: Math.max(0, endedAt - at),
  };
  const { sequence, subject, tries } = message;
  return {
    outcome: {
      sequence,
      subject,
      tries,
      status: isDelivered ? 'delivered' : nextAt === null ? 'failed' : 'pending',
      due_at: nextAt,
      attempt,
    },
    end: { isDelivered, status, retryAfterMs: isDelivered || !('retryAfterMs' in answer) ? null : answer.retryAfterMs },
  };
}

const describeRefusal = (status: number): string =>
  status >= 300 && status < 400
    ? `The receiver answered ${status}: redirects are not followed; make the address that it leads to the address of the endpoint`
    : `The receiver answered ${status}; only 200 to 299 is a success`;
