import { createRoute, z } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { createRouter, errorResponses, jsonResponse } from '../../../http/router.ts';
import type { HttpEnvironment } from '../../../http/environment.ts';
import { readBytes } from '../../../http/middleware/read-body.ts';
import { escapeLeadingPlus } from '../../../library/phone/unescaped-plus.ts';
import type { DeliveryPayload } from '../../runs/cause.ts';
import { DeliveryAccepted } from '../schemas.ts';
import { bodyLimit } from './decode-content.ts';
import { answerChallenge, receiveWebhook } from './receive.ts';

/** All query parameters of the sender are the journey's `webhook.query`; a name that occurs several times has a list. */
const request = { params: z.object({ trigger_uuid: z.string().max(100) }), query: z.looseObject({}) };
const challengeQuery = z.looseObject({
  challenge: z.string().optional().describe('What is answered; `hub.challenge` is read as well.'),
  verify_token: z.string().optional().describe('The `auth.verify_token` of the trigger; `hub.verify_token` is read as well.'),
});

const receiveRoute = createRoute({
  method: 'post',
  path: '/automation-workflows/webhook/{trigger_uuid}',
  operationId: 'webhooks.receive',
  summary: 'Receive a webhook of any content type, verified as its trigger says',
  security: [],
  request,
  // Described alone: the body is read as bytes, since signatures are checked over these.
  requestBody: {
    description:
      'What the sender sends, up to 1 MiB: JSON, a form or text, plain or compressed by gzip or deflate; anything else is kept in base64. It may be empty.',
    content: { '*/*': { schema: {} } },
  },
  responses: { 202: jsonResponse(DeliveryAccepted), ...errorResponses(404, 409, 413, 415) },
});
const challengeRoute = createRoute({
  method: 'get',
  path: '/automation-workflows/webhook/{trigger_uuid}',
  operationId: 'webhooks.answerChallenge',
  summary: "Answer a sender's challenge",
  security: [],
  request: { ...request, query: challengeQuery },
  responses: { 200: { description: 'The challenge', content: { 'text/plain': { schema: z.string() } } }, ...errorResponses(403, 404) },
});

const createDefer = (c: HonoContext<HttpEnvironment>) => (work: Promise<unknown>) =>
  c.executionCtx.waitUntil(work.catch((error: unknown) => c.var.log.error('deferred work failed', error)));

function readQuery(url: string): DeliveryPayload['query'] {
  const parameters = Map.groupBy(new URLSearchParams(escapeLeadingPlus(new URL(url).search)), ([name]) => name);
  return Object.fromEntries([...parameters].map(([name, entries]) => [name, toQueryValue(entries.map(([, value]) => value))]));
}

const toQueryValue = (values: string[]): string | string[] => (values.length === 1 ? values[0]! : values);

/** Open without credentials: mounted before authentication, since the trigger's own scheme verifies the sender. */
export const webhookRoutes = createRouter()
  .openapi(receiveRoute, async (c) => {
    const body = await readBytes(c.req.raw, bodyLimit);
    const address = c.req.header('cf-connecting-ip');
    const incoming = { uuid: c.req.valid('param').trigger_uuid, address, headers: c.req.raw.headers, query: readQuery(c.req.url), body };
    const accepted = await receiveWebhook(c.env, incoming, { log: c.var.log, defer: createDefer(c) });
    const [first] = accepted.deliveries;
    const isDuplicate = accepted.deliveries.every((delivery) => delivery.isDuplicate);
    const deliveries = accepted.deliveries.map((delivery) => ({ delivery_id: delivery.deliveryId, duplicate: delivery.isDuplicate }));
    const answer = { status: 'accepted' as const, delivery_id: first.deliveryId, duplicate: isDuplicate };
    return c.json(accepted.isSplit ? { ...answer, deliveries } : answer, 202);
  })
  .openapi(challengeRoute, async (c) =>
    c.text(await answerChallenge(c.env, c.req.valid('param').trigger_uuid, c.req.query(), createDefer(c)), 200),
  );
