import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { deliver, deliverDeadLettersForADay, dropQueueMessages, tickAt } from '../support/background.ts';
import { createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { Client, newOrganization } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

interface Accepted {
  client: Client;
  organizationId: number;
  workflowId: number;
  triggerId: number;
  /** Posts the retry. */
  retry(by?: Client): ReturnType<Client['post']>;
  message: { v: 1; kind: 'event' | 'delivery'; organization_id: number; id: number };
}

/** An event, or a delivery, whose message was lost, so that it is open. */
const kinds: Record<'event' | 'delivery', () => Promise<Accepted>> = {
  async event() {
    const { client, id: organizationId } = await newOrganization();
    const workflowId = await createActiveWorkflow(client, { trigger: { type: 'contact_event', config: { event_type: 'ordered' } } });
    const [{ id: triggerId }] = (await client.get(`/automation-workflows/${workflowId}/triggers`)).body.triggers;
    const lost = dropQueueMessages();
    const id = (await client.post('/events', { event_type: 'ordered' })).body.event_id;
    lost.restore();
    const retry = (by = client) => by.post(`/events/${id}/retry`);
    return { client, organizationId, workflowId, triggerId, retry, message: { v: 1, kind: 'event', organization_id: organizationId, id } };
  },
  async delivery() {
    const { client, id: organizationId } = await newOrganization();
    const workflowId = await createActiveWorkflow(client, {
      trigger: { type: 'webhook', config: { auth: { type: 'none' }, delivery_id: '$.id' } },
    });
    const [{ id: triggerId, uuid }] = (await client.get(`/automation-workflows/${workflowId}/triggers`)).body.triggers;
    const lost = dropQueueMessages();
    const { delivery_id } = (await client.post(`/automation-workflows/webhook/${uuid}`, { id: 'order/1 ä' })).body;
    lost.restore();
    const { id } = (await env.DB.prepare('SELECT id FROM webhook_delivery WHERE trigger_id = ?').bind(triggerId).first<{ id: number }>())!;
    const path = `/automation-workflows/${workflowId}/triggers/${triggerId}/deliveries/${encodeURIComponent(delivery_id)}/retry`;
    const message = { v: 1 as const, kind: 'delivery' as const, organization_id: organizationId, id };
    return { client, organizationId, workflowId, triggerId, retry: (by = client) => by.post(path), message };
  },
};

const tableOf = { event: 'event', delivery: 'webhook_delivery' };

const recordOf = ({ message }: Accepted) =>
  env.DB.prepare(`SELECT handled_at, note FROM ${tableOf[message.kind]} WHERE id = ?`)
    .bind(message.id)
    .first<{ handled_at: number | null; note: string | null }>();

const untilHandled = (accepted: Accepted) =>
  vi.waitFor(async () => expect((await recordOf(accepted))!.handled_at).not.toBeNull(), { timeout: 10_000, interval: 10 });

describe.each(['event', 'delivery'] as const)('an accepted %s', (kind) => {
  test('that was given up is sent again, and its run starts once however often that is asked', async () => {
    const accepted = await kinds[kind]();
    const { client, workflowId, organizationId, message } = accepted;
    await deliverDeadLettersForADay('events-dead', organizationId, [message]);
    expect((await recordOf(accepted))!.note).toMatch(/^given_up:/);
    const lost = dropQueueMessages();
    const answers = [await accepted.retry(), await accepted.retry()];
    lost.restore();
    expect(answers).toMatchObject([
      { status: 200, body: { state: 'open' } },
      { status: 200, body: { state: 'open' } },
    ]);
    expect(await recordOf(accepted)).toEqual({ handled_at: null, note: null });
    await deliver('events', [message, message]);
    await deliver('events', [message]);
    expect(await waitForEndedRuns(client, workflowId, 1)).toHaveLength(1);
    expect((await client.get(`/automation-workflows/${workflowId}/runs`)).body.total).toBe(1);
    expect(await recordOf(accepted)).toMatchObject({ handled_at: expect.any(Number), note: null });
  });

  test('that is still open is sent again at once', async () => {
    const accepted = await kinds[kind]();
    expect((await accepted.retry()).status).toBe(200);
    await untilHandled(accepted);
    expect((await accepted.client.get(`/automation-workflows/${accepted.workflowId}/runs`)).body.total).toBe(1);
  });

  test('whose second message is lost as well is handled by the next tick', async () => {
    const accepted = await kinds[kind]();
    await deliverDeadLettersForADay('events-dead', accepted.organizationId, [accepted.message]);
    const lost = dropQueueMessages();
    expect((await accepted.retry()).status).toBe(200);
    lost.restore();
    await tickAt(Date.now() + 60_000);
    await untilHandled(accepted);
    expect((await accepted.client.get(`/automation-workflows/${accepted.workflowId}/runs`)).body.total).toBe(1);
  });

  test('that fails again after a retry gets another day before it is given up', async () => {
    const accepted = await kinds[kind]();
    await deliverDeadLettersForADay('events-dead', accepted.organizationId, [accepted.message]);
    const lost = dropQueueMessages();
    await accepted.retry();
    lost.restore();
    await deliver('events-dead', [accepted.message]);
    expect(await recordOf(accepted)).toEqual({ handled_at: null, note: null });
  });

  test('that was handled is refused with a sentence, and stays as it is', async () => {
    const accepted = await kinds[kind]();
    await deliver('events', [accepted.message]);
    const before = await recordOf(accepted);
    expect(await accepted.retry()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('is handled already') } });
    expect(await recordOf(accepted)).toEqual(before);
    expect((await accepted.client.get(`/automation-workflows/${accepted.workflowId}/runs`)).body.total).toBe(1);
  });

  test('is nothing for other organizations and for keys that only read', async () => {
    const accepted = await kinds[kind]();
    await deliverDeadLettersForADay('events-dead', accepted.organizationId, [accepted.message]);
    const before = await recordOf(accepted);
    const { client: stranger } = await newOrganization();
    expect((await accepted.retry(stranger)).status).toBe(404);
    const { api_key: key } = (await accepted.client.post('/user/api-keys', { name: 'reader', scopes: ['read'] })).body;
    expect(await accepted.retry(new Client(key))).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('insufficient_scope') },
    });
    expect(await recordOf(accepted)).toEqual(before);
    const failed = env.DB.prepare('SELECT count(*) AS total FROM failed_message WHERE organization_id = ?').bind(accepted.organizationId);
    expect(await failed.first()).toEqual({ total: 0 });
  });
});

test('an id that is none is a 422 that names it; one that is unknown is a 404', async () => {
  const { client } = await newOrganization();
  expect(await client.post('/events/first/retry')).toMatchObject({ status: 422, body: { detail: [{ loc: ['path', 'event_id'] }] } });
  expect(await client.post('/events/999999999/retry')).toMatchObject({ status: 404, body: { detail: 'Event not found' } });
});

test("a delivery without its sender's id is found by our id, under its own trigger only", async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: { type: 'webhook', config: { auth: { type: 'none' } } } });
  const other = await createActiveWorkflow(client, { trigger: { type: 'webhook', config: { auth: { type: 'none' } } } });
  const [{ id: trigger, uuid }] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  const [{ id: otherTrigger }] = (await client.get(`/automation-workflows/${other}/triggers`)).body.triggers;
  const lost = dropQueueMessages();
  const { delivery_id } = (await client.post(`/automation-workflows/webhook/${uuid}`, { total: 1 })).body;
  lost.restore();
  const retry = (of: number, by: number, id: string) => client.post(`/automation-workflows/${of}/triggers/${by}/deliveries/${id}/retry`);
  expect((await retry(other, otherTrigger, delivery_id)).status).toBe(404);
  expect((await retry(other, trigger, delivery_id)).status).toBe(404);
  expect((await retry(workflow, trigger, 'unknown')).body).toEqual({ detail: 'Delivery not found' });
  expect(await retry(workflow, trigger, delivery_id)).toMatchObject({ status: 200, body: { delivery_id, state: 'open' } });
});

test('a delivery to a trigger that is not active is refused, since it would start nothing', async () => {
  const { client, retry, triggerId, workflowId } = await kinds.delivery();
  await client.patch(`/automation-workflows/triggers/${triggerId}`, { state: 'paused' });
  expect(await retry()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('trigger is paused') } });
  await client.patch(`/automation-workflows/triggers/${triggerId}`, { state: 'active' });
  await client.patch(`/automation-workflows/${workflowId}`, { status: 'paused' });
  expect(await retry()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('workflow is paused') } });
});
