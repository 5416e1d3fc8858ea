import type { ExamplesByOperation } from '../http/operation-examples.ts';
import { eventExamples, exampleMoment } from './event-examples.ts';
import { toPayload } from './payload.ts';

const path = { endpoint_id: 1 };

const delivery = {
  id: exampleMoment,
  event_id: 'evt_5f0c1e6d2b7a4c0f9d3e8a1b6c4d7e2f',
  type: 'webhook_endpoint.test',
  status: 'delivered',
  payload: toPayload({ type: 'webhook_endpoint.test', data: eventExamples['webhook_endpoint.test'], created_at: exampleMoment }, ''),
  next_attempt_at: null,
  attempts: [{ at: '2026-11-20T10:15:30.412Z', answer_status: 200, answer_body: '{"received":true}', error: null, latency_ms: 83 }],
  created_at: '2026-11-20T10:15:30.000Z',
  ended_at: '2026-11-20T10:15:30.495Z',
};

const body = {
  url: 'https://example.com/webhooks',
  description: 'Orders of the shop',
  events: ['call.completed', 'campaign.completed', 'webhook_endpoint.disabled'],
};
const endpoint = {
  id: 1,
  ...body,
  status: 'active',
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  warning: null,
  previous_secret_until: null,
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-20T10:00:00.000Z',
};
const forAll = { ...endpoint, events: null, updated_at: '2026-11-20T10:05:00.000Z' };
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const page = { total: 1, limit: 50, offset: 0, next_cursor: null };

/** Example requests that work in the order of the OpenAPI document, where the ids of deliveries come from its links. */
export const webhookEndpointExamples: ExamplesByOperation = {
  'webhookEndpoints.create': [
    { name: 'some', summary: 'For some events', body, answer: { ...endpoint, secret } },
    {
      name: 'all',
      summary: 'For all events',
      body: { url: 'https://example.com/all-webhooks' },
      answer: { ...endpoint, id: 2, url: 'https://example.com/all-webhooks', description: '', events: null, secret },
    },
  ],
  'webhookEndpoints.list': { answer: { webhook_endpoints: [endpoint], ...page } },
  'webhookEndpoints.get': { path, answer: endpoint },
  'webhookEndpoints.update': { path, body: { events: null }, answer: forAll },
  'webhookEndpoints.rotateSecret': {
    path,
    body: { overlap_seconds: 86_400 },
    answer: { ...forAll, previous_secret_until: '2026-11-21T10:10:00.000Z', secret },
  },
  'webhookEndpoints.pause': { path, answer: { ...forAll, status: 'paused' } },
  'webhookEndpoints.resume': { path, answer: forAll },
  'webhookEndpoints.sendTest': {
    path,
    answer: { ...delivery, status: 'pending', next_attempt_at: delivery.created_at, attempts: [], ended_at: null },
  },
  'webhookEndpoints.listDeliveries': { path, query: { status: 'delivered' }, answer: { deliveries: [delivery], ...page } },
  'webhookEndpoints.getDelivery': { path, answer: delivery },
  'webhookEndpoints.replayDelivery': {
    path,
    answer: { ...delivery, status: 'pending', next_attempt_at: '2026-11-20T11:00:00.000Z', ended_at: null },
  },
  'webhookEndpoints.replay': {
    path,
    body: { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z', status: 'failed' },
    answer: { replayed: 12, next_from: null },
  },
  'webhookEndpoints.delete': { path: { endpoint_id: 2 }, answer: { status: 'deleted' } },
};
