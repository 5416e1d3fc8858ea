import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, deliverDeadLettersForADay, tickAt } from '../support/background.ts';
import { chain, createActiveWorkflow, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const onEvent = { type: 'contact_event', config: { event_types: ['ordered'] } };

const runTick = (secondsAhead: number) => tickAt(Date.now() + secondsAhead * 1000);

const unhandled = async (organizationId: number) =>
  (await env.DB.prepare('SELECT id FROM event WHERE organization_id = ? AND handled_at IS NULL').bind(organizationId).all<{ id: number }>())
    .results;

test('a redelivered queue message starts no second run', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent });
  const event = await client.post('/events', { event_type: 'ordered' });
  await waitForEndedRuns(client, workflow);
  const message = { v: 1, kind: 'event', organization_id: id, id: event.body.event_id };
  const result = await deliver('events', [message, message]);
  expect(result.explicitAcks).toHaveLength(2);
  await deliver('events', [message]);
  await waitForEndedRuns(client, workflow, 1);
});

test('two consumers with the same message at once start one run', async () => {
  vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent });
  const event = await client.post('/events', { event_type: 'ordered' });
  const message = { v: 1, kind: 'event', organization_id: id, id: event.body.event_id };
  await Promise.all([deliver('events', [message]), deliver('events', [message]), deliver('events', [message])]);
  await waitForEndedRuns(client, workflow, 1);
});

test('a consumer that dies between inserting the run and starting its object leaves a message that starts it', async () => {
  vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
  const { client, id } = await newOrganization();
  const definition = chain({ id: 'nap', type: 'wait', data: { duration: 'PT0.2S' } });
  const workflow = await createActiveWorkflow(client, { definition, trigger: onEvent });
  const event = await client.post('/events', { event_type: 'ordered' });
  const crash = vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockImplementation(() => {
    throw new Error('the isolate died');
  });
  const message = { v: 1, kind: 'event', organization_id: id, id: event.body.event_id };
  const result = await deliver('events', [message]);
  expect(result.retryMessages).toHaveLength(1);
  expect(await unhandled(id)).toHaveLength(1);
  crash.mockRestore();
  await deliver('events', [message]);
  await waitForEndedRuns(client, workflow, 1);
  expect(await unhandled(id)).toHaveLength(0);
});

test('a run that was inserted but never started is woken by the minute tick', async () => {
  vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
  vi.spyOn(env.EVENTS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
  const { client, id } = await newOrganization();
  const definition = chain({ id: 'nap', type: 'wait', data: { duration: 'PT0.2S' } });
  const workflow = await createActiveWorkflow(client, { definition, trigger: onEvent });
  const event = await client.post('/events', { event_type: 'ordered' });
  const crash = vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockImplementation(() => {
    throw new Error('the isolate died');
  });
  await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: event.body.event_id }]);
  crash.mockRestore();
  await runTick(180);
  await waitForEndedRuns(client, workflow, 1);
});

test('the minute tick sends an event again whose queue message was lost, and it triggers once', async () => {
  const lost = vi.spyOn(env.EVENTS_QUEUE, 'send').mockRejectedValue(new Error('the send was lost') as never);
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent });
  const event = await client.post('/events', { event_type: 'ordered' });
  expect(event.status).toBe(201);
  lost.mockRestore();
  expect(await unhandled(id)).toHaveLength(1);
  await runTick(31);
  await runTick(32);
  await waitForEndedRuns(client, workflow, 1);
  await vi.waitFor(async () => expect(await unhandled(id)).toHaveLength(0));
});

test('the tick sends no event that is too young to be lost', async () => {
  vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
  const sent = vi.spyOn(env.EVENTS_QUEUE, 'sendBatch');
  const { client, id } = await newOrganization();
  await createActiveWorkflow(client, { trigger: onEvent });
  await client.post('/events', { event_type: 'ordered' });
  await runTick(0);
  const ours = sent.mock.calls
    .flatMap(([messages]) => [...messages])
    .filter((message) => (message.body as { organization_id: number }).organization_id === id);
  expect(ours).toHaveLength(0);
});

test('the sweep waits at an unhandled event, and still finds newer ones', async () => {
  vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
  vi.spyOn(env.EVENTS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent });
  const first = await client.post('/events', { event_type: 'ordered' });
  const second = await client.post('/events', { event_type: 'ordered' });
  await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: second.body.event_id }]);
  await runTick(31);
  vi.restoreAllMocks();
  await runTick(32);
  await waitForEndedRuns(client, workflow, 2);
  expect(first.body.event_id).toBeLessThan(second.body.event_id);
});

test('a message that stayed dead for a day ends its event with a note that says why, and is not sent again', async () => {
  vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
  const { client, id } = await newOrganization();
  const event = await client.post('/events', { event_type: 'ordered' });
  await deliverDeadLettersForADay('events-dead', id, [{ v: 1, kind: 'event', organization_id: id, id: event.body.event_id }]);
  const { body } = await client.get('/events');
  expect(body.events[0].note).toContain('given_up: after repeated failures');
  expect(await unhandled(id)).toHaveLength(0);
});

test('one event that cannot be handled does not hold up the others of its batch', async () => {
  vi.spyOn(env.EVENTS_QUEUE, 'send').mockResolvedValue(undefined as never);
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent });
  const events = [];
  for (let index = 0; index < 3; index++)
    events.push((await client.post('/events', { event_type: 'ordered', data: { index } })).body.event_id);
  const broken = events[1];
  await env.DB.prepare("UPDATE event SET data = '@r2:9:missing' WHERE id = ?").bind(broken).run();
  const result = await deliver(
    'events',
    events.map((eventId) => ({ v: 1, kind: 'event', organization_id: id, id: eventId })),
  );
  expect(result.retryMessages.map((message) => message.msgId)).toEqual(['m1']);
  await waitForEndedRuns(client, workflow, 2);
});

test('a paused or archived trigger, and a draft, paused or archived workflow start nothing', async () => {
  const { client } = await newOrganization();
  const silent = await createActiveWorkflow(client, { trigger: onEvent });
  const witness = await createActiveWorkflow(client, { trigger: onEvent });
  await client.patch(`/automation-workflows/${silent}`, { status: 'paused' });
  await client.post('/events', { event_type: 'ordered' });
  await waitForEndedRuns(client, witness, 1);
  await client.patch(`/automation-workflows/${silent}`, { status: 'active' });
  const { body } = await client.get(`/automation-workflows/${silent}/triggers`);
  await client.patch(`/automation-workflows/triggers/${body.triggers[0].id}`, { state: 'paused' });
  await client.post('/events', { event_type: 'ordered' });
  await waitForEndedRuns(client, witness, 2);
  expect((await client.get(`/automation-workflows/${silent}/runs`)).body.total).toBe(0);
});

test('every matching trigger of an event starts its own run, and a filter decides on event and contact', async () => {
  const { client } = await newOrganization();
  const big = await createActiveWorkflow(client, {
    trigger: {
      type: 'contact_event',
      config: { event_type: 'ordered', filter: { field: 'event.data.total', operator: 'gt', value: 100 } },
    },
  });
  const all = await createActiveWorkflow(client, { trigger: onEvent });
  await client.post('/events', { event_type: 'ordered', data: { total: 42 } });
  await client.post('/events', { event_type: 'ordered', data: { total: 142 } });
  await waitForEndedRuns(client, all, 2);
  const [run] = await waitForEndedRuns(client, big, 1);
  expect(run.initial_context).toEqual({ total: 142 });
});

test('a stored event beyond the depth limit triggers nothing and says so', async () => {
  const { client } = await newOrganization();
  const loop = await createActiveWorkflow(client, {
    trigger: onEvent,
    definition: {
      nodes: [
        { id: 'in', type: 'trigger', data: {} },
        { id: 'again', type: 'emit_event', data: { event_type: 'ordered', data: {} } },
      ],
      edges: [{ id: 'a', source: 'in', target: 'again' }],
    },
  });
  await client.post('/events', { event_type: 'ordered' });
  await waitForEndedRuns(client, loop, 9);
  const { body } = await client.get('/events?event_type=ordered');
  expect(body.total).toBe(10);
  expect(body.events[0].note).toMatch(/8 deep/);
});
