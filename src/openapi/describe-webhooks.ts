import { z } from '@hono/zod-openapi';
import { createRouter } from '../http/router.ts';
import { eventExamples, exampleMoment } from '../webhook-endpoints/event-examples.ts';
import { eventTypes } from '../webhook-endpoints/event-types.ts';
import { toPayload } from '../webhook-endpoints/payload.ts';
import { WebhookEventPayload } from '../webhook-endpoints/schemas.ts';

const exampleOrigin = 'https://calls.example.com';

const headers = z.object({
  'webhook-id': z.string().describe('Id of the event: the same with each attempt, so that a repeat is known by it.'),
  'webhook-timestamp': z.string().describe('When this attempt was made, in seconds since 1970.'),
  'webhook-signature': z
    .string()
    .describe(
      '`v1,` and the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64; during a rotation two of them, with a blank between.',
    ),
});

const responses = {
  '2XX': { description: 'The event is delivered. The first KiB of the answer is kept with the delivery.' },
  '410': { description: 'The receiver wants no more webhooks: the endpoint is disabled at once.' },
  default: { description: 'The event is sent again, ten times in three days, and not before Retry-After. Redirects are not followed.' },
};

/** The `webhooks` of the OpenAPI document: the request that a receiver gets for each type of event. */
export function describeWebhooks(): unknown {
  const router = createRouter();
  for (const [type, { description, data }] of Object.entries(eventTypes)) {
    const { timestamp, data: anyData } = WebhookEventPayload.shape;
    const schema = z.object({
      type: z.literal(type).describe('What has happened.'),
      timestamp,
      data: z.object({ ...data, record_url: anyData.shape.record_url }).describe('The facts of the event.'),
    });
    const stored = eventExamples[type as keyof typeof eventExamples];
    const example = toPayload({ type, data: stored, created_at: exampleMoment }, exampleOrigin);
    router.openAPIRegistry.registerWebhook({
      method: 'post',
      path: type,
      operationId: `webhookEvents.${toCamelCase(type)}`,
      tags: ['webhookEndpoints'],
      summary: description,
      security: [],
      request: { headers, body: { required: true, content: { 'application/json': { schema, example } } } },
      responses,
    });
  }
  return router.getOpenAPI31Document({ openapi: '3.1.0', info: { title: '', version: '' } }).webhooks;
}

const toCamelCase = (type: string): string => type.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());
