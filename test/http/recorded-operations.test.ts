import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { HttpEnvironment } from '../../src/http/environment.ts';
import { recorded } from '../../src/http/recorded-operations.ts';
import { currentActor } from '../../src/database/audit/actor.ts';

/** The record in whose name a request to `path` acts; `route` is the path of the operation in the OpenAPI document. */
async function recordOf(operationId: string, route: string, path: string): Promise<unknown> {
  const app = new Hono<HttpEnvironment>();
  app.use(async (c, next) => {
    c.set('caller', { userId: 1, credential: 'key:1' } as HttpEnvironment['Variables']['caller']);
    await next();
  });
  const handler = recorded({ method: 'put', path: route, operationId }, (c) => c.json(currentActor()!.record));
  app.put(route.replaceAll(/\{(\w+)\}/g, ':$1'), (c, next) => handler(c, next) as Promise<Response>);
  return (await app.request(path, { method: 'PUT' })).json();
}

test('a request is about the record that the end of its path names', async () => {
  expect(
    await recordOf('triggers.update', '/automation-workflows/{workflow_id}/triggers/{trigger_id}', '/automation-workflows/5/triggers/7'),
  ).toEqual({ type: 'automation_trigger', id: '7' });
  expect(await recordOf('integrations.update', '/integration/{integration_id}', '/integration/3')).toEqual({
    type: 'integration',
    id: '3',
  });
  expect(await recordOf('webhookEndpoints.pause', '/webhook-endpoints/{endpoint_id}/pause', '/webhook-endpoints/9/pause')).toEqual({
    type: 'webhook_endpoint',
    id: '9',
  });
});

test('a request whose path names no record is about none yet', async () => {
  expect(await recordOf('contacts.bulkUpsert', '/contacts/bulk-upsert', '/contacts/bulk-upsert')).toEqual({ type: 'contact', id: null });
});
