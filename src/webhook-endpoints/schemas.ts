import { z } from '@hono/zod-openapi';
import { listSchema, pageQuery } from '../http/pagination.ts';
import { createdAt, timestamp, updatedAt } from '../http/router.ts';
import { cleanLine } from '../library/text/clean-text.ts';
import { parseIsoInstant } from '../library/time/instants.ts';
import { testEventType, webhookEventTypes } from './event-paths.ts';

const WebhookEventTypeName = z.enum(webhookEventTypes);

const url = z
  .string('Must be text')
  .max(2000, 'Must have 2000 characters or fewer')
  .describe('Where the webhooks are posted: a public http or https address, without credentials in it. Redirects are not followed.');
const description = z
  .string('Must be text')
  .transform(cleanLine)
  .refine((text) => text.length <= 200, 'Must have 200 characters or fewer')
  .describe('What the endpoint is for, for people.');
const events = z
  .array(WebhookEventTypeName)
  .min(1, 'Must have at least one type; null stands for all')
  .transform((types) => [...new Set(types)])
  .nullable()
  .describe('The types of events that it is told of; null: all, also those that are added later.');

export const NewEndpointBody = z
  .object({ url, description: description.default(''), events: events.default(null) })
  .openapi('NewWebhookEndpoint');
export const EndpointPatchBody = z
  .object({ url: url.optional(), description: description.optional(), events: events.optional() })
  .openapi('WebhookEndpointPatch');

const maxOverlapSeconds = 7 * 86_400;

export const RotateBody = z
  .object({
    overlap_seconds: z
      .int()
      .min(0, 'Must be 0 or more')
      .max(maxOverlapSeconds, `Must be ${maxOverlapSeconds} (7 days) or less`)
      .default(86_400)
      .describe('How long messages are signed with the secret before, too; 0: not at all.'),
  })
  .openapi('WebhookSecretRotation');

export const EndpointRecord = z
  .object({
    id: z.int().describe('Id of the endpoint.'),
    url: z.string().describe('Where the webhooks are posted.'),
    description: z.string().describe('What the endpoint is for, for people; may be empty.'),
    events: z.array(WebhookEventTypeName).nullable().describe('The types of events that it is told of; null: all.'),
    status: z
      .enum(['active', 'paused', 'disabled'])
      .describe(
        '`active`: webhooks are sent; `paused`: they wait until a person resumes it; `disabled`: the service has given it up, and records nothing for it.',
      ),
    disabled_reason: z
      .string()
      .nullable()
      .describe('Why it is disabled: a word, `gone` or `failing`, and a sentence; null when it is not.'),
    disabled_at: timestamp.nullable().describe('When the service disabled it, ISO 8601 in UTC; null: it has not.'),
    failing_since: timestamp
      .nullable()
      .describe('The first failed attempt since the last success, ISO 8601 in UTC; null: the last one succeeded.'),
    warning: z.string().nullable().describe('What needs the attention of a person, in words; null: nothing.'),
    previous_secret_until: timestamp
      .nullable()
      .describe('Until when messages are also signed with the secret before the last rotation; null: there was none.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('An address that is told what ends or breaks in the organization.')
  .openapi('WebhookEndpoint');

export const EndpointWithSecretRecord = EndpointRecord.extend({
  secret: z
    .string()
    .describe(
      '`whsec_` and the key in base64, with which Standard Webhooks libraries verify the messages. It is shown in this answer alone.',
    ),
})
  .describe('A webhook endpoint with its new secret.')
  .openapi('WebhookEndpointWithSecret');

export const EndpointQuery = z.object(pageQuery);
export const EndpointList = listSchema('webhook_endpoints', EndpointRecord);

export const WebhookEventPayload = z
  .object({
    type: z.string().describe(`What has happened, such as \`call.completed\`, or \`${testEventType}\`.`),
    timestamp: timestamp.describe('When it happened, ISO 8601 in UTC.'),
    data: z
      .looseObject({ record_url: z.string().describe('The address of the record in this API; a path when PUBLIC_URL is not set.') })
      .describe('The facts, by the type of the event; see `webhooks` in this document.'),
  })
  .describe('The body of a webhook, the same with each attempt.')
  .openapi('WebhookPayload');

const Attempt = z
  .object({
    at: timestamp.describe('When it was sent, ISO 8601 in UTC.'),
    answer_status: z.int().nullable().describe('The HTTP status that the receiver answered; null: there was no answer.'),
    answer_body: z.string().nullable().describe('The first KiB of what it answered; null without an answer.'),
    error: z.string().nullable().describe('Why it does not count as delivered; null when it does.'),
    latency_ms: z.int().describe('Milliseconds until the answer, or until it was given up.'),
  })
  .describe('One request to the receiver.')
  .openapi('WebhookAttempt');

export const DeliveryRecord = z
  .object({
    id: z.int().describe('Id of the delivery, among those of its endpoint.'),
    event_id: z.string().describe('Id of the event, sent as `webhook-id`: the same with each attempt and for each endpoint.'),
    type: z.string().describe('The kind of event.'),
    status: z
      .enum(['pending', 'delivered', 'failed'])
      .describe(
        '`pending`: it is still sent; `delivered`: the receiver answered 2xx; `failed`: all attempts have failed. It can be replayed.',
      ),
    payload: WebhookEventPayload,
    next_attempt_at: timestamp
      .nullable()
      .describe('When it is sent next, ISO 8601 in UTC; null: it has ended, or waits for an earlier event of the same record.'),
    attempts: z.array(Attempt).describe('The latest 20 requests, oldest first.'),
    created_at: createdAt,
    ended_at: timestamp.nullable().describe('When it was delivered or given up, ISO 8601 in UTC; null: it is pending.'),
  })
  .describe('One event for one endpoint, and what became of it.')
  .openapi('WebhookDelivery');

const instant = (meaning: string) =>
  z
    .string('Must be text')
    .transform((text) => parseIsoInstant(text))
    .refine((moment) => moment !== null, 'Not an ISO 8601 date or time, such as 2027-01-31 or 2027-01-31T00:00:00Z')
    .transform(Number)
    .openapi({ type: 'string', format: 'date-time' })
    .describe(`${meaning}, an ISO 8601 date (its beginning in UTC) or time.`);

export const DeliveryQuery = z.object({
  ...pageQuery,
  status: z.enum(['pending', 'delivered', 'failed']).optional().describe('Only deliveries in this state.'),
  type: z
    .enum([...webhookEventTypes, testEventType])
    .optional()
    .describe('Only events of this type.'),
  event_id: z.string().max(100).optional().describe('Only the delivery of this event.'),
  from: instant('Only events from this moment on').optional(),
  to: instant('Only events before this moment').optional(),
});
export const DeliveryList = listSchema('deliveries', DeliveryRecord);

export const ReplayBody = z
  .object({
    from: instant('The first moment of the range'),
    to: instant('The moment before which the range ends'),
    status: z
      .enum(['failed', 'delivered', 'all'])
      .default('failed')
      .describe('Which deliveries of the range are sent again; pending ones are sent anyway.'),
  })
  .openapi('WebhookReplay');

export const ReplayRecord = z
  .object({
    replayed: z.int().describe('How many deliveries are sent again.'),
    next_from: timestamp
      .nullable()
      .describe('The range was too long for one request: send it again with this as `from`. Null: all of it is being sent.'),
  })
  .describe('What a replay has set going.')
  .openapi('WebhookReplayResult');
