import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { finalizeUnanswered } from '../../src/calls/post-call/finalize-unanswered.ts';
import { draft, farWindow, rowsRead } from '../campaigns/campaign-service.ts';
import { callingOrganization } from '../support/carrier.ts';
import { chain, createActiveWorkflow } from '../support/journeys.ts';
import { newPhone, type Client } from '../support/organization.ts';
import { newRun, withAgent } from '../voice-agents/runs.ts';
import { newEndpoint, newReceiver, path, type Receiver } from './endpoints.ts';

// Nobody ticks here: the area whose record ends has the endpoints woken.

afterEach(() => vi.restoreAllMocks());

const received = (receiver: Receiver, count: number): Promise<Receiver['received'][number]['event'][]> =>
  vi.waitFor(
    () => {
      expect(receiver.received).toHaveLength(count);
      return receiver.received.map(({ event }) => event);
    },
    { timeout: 15_000, interval: 20 },
  );

const receiverOf = async (client: Client): Promise<Receiver> => {
  const receiver = newReceiver();
  expect((await client.post(path, { url: receiver.url })).status).toBe(200);
  return receiver;
};

test('a run that completes at once is told of, and so is one that fails', async () => {
  const { client, receiver } = await newEndpoint();
  const workflow = await createActiveWorkflow(client, { definition: chain() });
  const { id } = (await client.post(`/automation-workflows/${workflow}/execute`, { context: {} })).body;
  expect(await received(receiver, 1)).toMatchObject([
    { type: 'run.completed', data: { run_id: id, automation_workflow_id: workflow, outcome: 'done', error_type: null } },
  ]);
  const failing = await createActiveWorkflow(client, {
    definition: chain({ id: 'ask', type: 'http_request', data: { method: 'GET', url: 'http://10.0.0.1/' } }),
  });
  await client.post(`/automation-workflows/${failing}/execute`, { context: {} });
  const events = await received(receiver, 2);
  expect(events[1]).toMatchObject({ type: 'run.failed', data: { automation_workflow_id: failing, error_type: expect.any(String) } });
});

test('a campaign that is paused and then cancelled is told of in this order', async () => {
  const { client, id: organizationId, agentId } = await callingOrganization();
  const receiver = await receiverOf(client);
  const people = `phone\n${newPhone()}\n${newPhone()}\n`;
  const { id } = await draft(client, organizationId, people, { workflow_id: agentId, schedule_config: farWindow() });
  await client.post(`/campaign/${id}/start`);
  await rowsRead(client, id);
  expect((await client.post(`/campaign/${id}/pause`)).status).toBe(200);
  expect((await client.post(`/campaign/${id}/cancel`)).status).toBe(200);
  const events = await received(receiver, 2);
  expect(events).toMatchObject([
    { type: 'campaign.paused', data: { campaign_id: id, state: 'paused', total_rows: 2 } },
    { type: 'campaign.cancelled', data: { campaign_id: id, state: 'cancelled' } },
  ]);
});

test('calls that nobody answers are told of, each once, and those that were never dialled are not', async () => {
  const { context, agent, client, organizationId } = await withAgent().then(async (organization) => ({
    ...organization,
    organizationId: organization.context.organization.id,
  }));
  const receiver = await receiverOf(client);
  const keys = ['single:0:a', 'single:0:b'];
  const heldKey = 'single:0:held';
  for (const attemptKey of [...keys, heldKey]) await newRun(context, agent, { attemptKey });
  const deferred: Promise<unknown>[] = [];
  const own = (await backgroundContext(env, organizationId, (work) => deferred.push(work)))!;
  const call = {
    reason: null,
    returned: null,
    returnedUntil: null,
    neverReachedCarrier: false,
    ownNumber: null,
    answeredAt: null,
    endedAt: 1,
    durationSeconds: 0,
  };
  const calls = keys.map((key) => ({ ...call, key, outcome: 'busy' as const, statusCallbacks: [] }));
  const held = { ...call, key: heldKey, outcome: 'cancelled' as const, returned: 'contact_policy' as const, statusCallbacks: [] };
  for (let time = 0; time < 2; time++) await finalizeUnanswered(own, [held, ...calls]);
  const events = await received(receiver, 2);
  expect(events.map(({ type, data }) => [type, data['outcome']])).toEqual([
    ['call.completed', 'busy'],
    ['call.completed', 'busy'],
  ]);
  await Promise.all(deferred);
});
