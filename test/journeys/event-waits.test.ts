import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, dropQueueMessages, tickAt, waitUntilHandled } from '../support/background.ts';
import { createActiveWorkflow, waitForEndedRuns, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

interface Waiting {
  event_types: string[];
  timeout?: string;
  [key: string]: unknown;
}

/** A graph with a wait whose two handles lead to exits with different outcomes. */
const waitingFor = (data: Waiting) => ({
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'hear', type: 'wait_for_event', data: { timeout: 'PT1H', ...data } },
    { id: 'came', type: 'exit', data: { outcome: 'came {{ steps.hear.received }} {{ steps.hear.event.data.n }}' } },
    { id: 'late', type: 'exit', data: { outcome: 'late' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'hear' },
    { id: 'b', source: 'hear', target: 'came', source_handle: 'received' },
    { id: 'c', source: 'hear', target: 'late', source_handle: 'timeout' },
  ],
});

const waiters = async (organizationId: number) =>
  (await env.DB.prepare('SELECT * FROM run_waiter WHERE organization_id = ?').bind(organizationId).all()).results;

async function personOf(client: Client) {
  const phone = newPhone();
  const { body } = await client.post('/contacts', { phone });
  return { phone, id: body.id as number };
}

async function started(client: Client, workflow: number, input: object = {}) {
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, ...input });
  await waitForRunState(client, body.id, 'waiting');
  return body.id as number;
}

/** Waits until the run has written its waiter. */
const asleep = (organizationId: number, count = 1) =>
  vi.waitFor(async () => expect(await waiters(organizationId)).toHaveLength(count), { timeout: 10_000, interval: 10 });

test("an event of the run's contact wakes it; an event of another contact or type does not", async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'] }) });
  const [ada, bob] = [await personOf(client), await personOf(client)];
  const run = await started(client, workflow, { contact_id: ada.id });
  await asleep(id);
  await client.post('/events', { event_type: 'paid', phone: bob.phone, data: { n: 1 } });
  await client.post('/events', { event_type: 'shipped', phone: ada.phone, data: { n: 2 } });
  await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 3 } });
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('came paid 3');
  await vi.waitFor(async () => expect(await waiters(id)).toEqual([]));
  const { body } = await client.get(`/automation-workflows/runs/${run}/history`);
  expect(body.history[1]).toMatchObject({
    node_id: 'hear',
    status: 'completed',
    output: { waiting_for: ['paid'], received: 'paid', why: expect.stringContaining('first paid'), event: { data: { n: 3 } } },
  });
});

test('the first of several event types wakes the run, and the others no longer do', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid', 'refused', 'left'] }) });
  const ada = await personOf(client);
  const run = await started(client, workflow, { contact_id: ada.id });
  await asleep(id, 3);
  await client.post('/events', { event_type: 'refused', phone: ada.phone, data: { n: 1 } });
  await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 2 } });
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('came refused 1');
  await vi.waitFor(async () => expect(await waiters(id)).toEqual([]));
});

test('a match compares a field of the event with a value of the run, numbers and texts alike', async () => {
  const { client, id } = await newOrganization();
  const definition = waitingFor({ event_types: ['paid'], match: { field: 'event.data.cart.id', value: '{{ cart }}' } });
  const workflow = await createActiveWorkflow(client, { definition });
  const seven = await started(client, workflow, { context: { cart: 7 } });
  const eight = await started(client, workflow, { context: { cart: '8' } });
  await asleep(id, 2);
  await client.post('/events', { event_type: 'paid', data: { cart: { id: '9' }, n: 0 } });
  await client.post('/events', { event_type: 'paid', data: { cart: { id: 8 }, n: 1 } });
  expect((await waitForRunState(client, eight, 'completed')).outcome).toBe('came paid 1');
  await client.post('/events', { event_type: 'paid', data: { cart: { id: '7' }, n: 2 } });
  expect((await waitForRunState(client, seven, 'completed')).outcome).toBe('came paid 2');
});

test('a filter reads the event and the run, and the run goes on waiting when the filter refuses the event', async () => {
  const { client, id } = await newOrganization();
  const definition = waitingFor({ event_types: ['paid'], filter: { field: 'data.n', operator: 'gt', value: '{{ least }}' } });
  const workflow = await createActiveWorkflow(client, { definition });
  const ada = await personOf(client);
  const run = await started(client, workflow, { contact_id: ada.id, context: { least: 10 } });
  await asleep(id);
  const small = await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 5 } });
  await waitUntilHandled(small.body.event_id);
  expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('waiting');
  await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 50 } });
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('came paid 50');
});

test('without an event the wait times out along its own edge, and its waiter is deleted', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'], timeout: 'PT1S' }) });
  const ada = await personOf(client);
  const run = await started(client, workflow, { contact_id: ada.id });
  expect(await waitForRunState(client, run, 'completed')).toMatchObject({
    outcome: 'late',
    context: { steps: { hear: { received: null, timed_out: true } } },
  });
  await vi.waitFor(async () => expect(await waiters(id)).toEqual([]));
  await client.post('/events', { event_type: 'paid', phone: ada.phone });
  expect((await client.get(`/automation-workflows/runs/${run}`)).body.outcome).toBe('late');
});

test('a wait takes an event that came after the step before it; an earlier event needs lookback', async () => {
  const { client } = await newOrganization();
  const ada = await personOf(client);
  await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 1 } });
  const deaf = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'], timeout: 'PT1S' }) });
  const keen = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'], timeout: 'PT1H', lookback: 'PT1H' }) });
  const without = await started(client, deaf, { contact_id: ada.id });
  const { body } = await client.post(`/automation-workflows/${keen}/execute`, { context: {}, contact_id: ada.id });
  expect((await waitForRunState(client, body.id, 'completed')).outcome).toBe('came paid 1');
  expect((await waitForRunState(client, without, 'completed')).outcome).toBe('late');
});

test('a look-back with match finds its event among hundreds of others, however its value is written', async () => {
  const { client, id } = await newOrganization();
  const event = `INSERT INTO event (organization_id, event_type, data, created_at, handled_at)
    WITH RECURSIVE n (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n WHERE value < 700)
    SELECT ?, 'billed', json_object('invoice', json_object('id', 'I' || value), 'number', value), ?, 1 FROM n`;
  await env.DB.prepare(event)
    .bind(id, Date.now() - 60_000)
    .run();
  const matches = [
    { field: 'data.invoice.id', value: 'I3' },
    { field: 'invoice.id', value: 'I3' },
    { field: 'number', value: '3' },
    { field: 'data.number', value: 3 },
  ];
  for (const match of matches) {
    const definition = waitingFor({ event_types: ['billed'], match, lookback: 'PT1H' });
    const workflow = await createActiveWorkflow(client, { definition });
    const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
    expect((await waitForRunState(client, body.id, 'completed')).context.steps.hear.event.data).toEqual({
      invoice: { id: 'I3' },
      number: 3,
    });
  }
});

test('a run never takes the event that started it, nor one event twice, however far it looks back and however often the message comes', async () => {
  const { client, id } = await newOrganization();
  const ada = await personOf(client);
  const definition = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'one', type: 'wait_for_event', data: { event_types: ['paid'], timeout: 'PT1H', lookback: 'PT1H' } },
      { id: 'two', type: 'wait_for_event', data: { event_types: ['paid'], timeout: 'PT1H', lookback: 'PT1H' } },
      { id: 'out', type: 'exit', data: { outcome: '{{ steps.one.event.data.n }} {{ steps.two.event.data.n }}' } },
    ],
    edges: [
      { id: 'a', source: 'in', target: 'one' },
      { id: 'b', source: 'one', target: 'two', source_handle: 'received' },
      { id: 'c', source: 'two', target: 'out', source_handle: 'received' },
    ],
  };
  const workflow = await createActiveWorkflow(client, {
    definition,
    trigger: { type: 'contact_event', config: { event_types: ['paid'], filter: { field: 'data.n', operator: 'eq', value: 0 } } },
  });
  const first = await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 0 } });
  const at = (node: string) =>
    vi.waitFor(
      async () => {
        const { body } = await client.get(`/automation-workflows/${workflow}/runs`);
        expect(body.runs).toMatchObject([{ state: 'waiting', current_node_id: node }]);
        expect(await waiters(id)).toHaveLength(1);
      },
      { timeout: 10_000, interval: 20 },
    );
  await at('one');
  await env.DB.prepare('UPDATE event SET handled_at = NULL WHERE id = ?').bind(first.body.event_id).run();
  await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: first.body.event_id }]);
  await at('one');
  const second = await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 1 } });
  await at('two');
  await env.DB.prepare('UPDATE event SET handled_at = NULL WHERE id = ?').bind(second.body.event_id).run();
  await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: second.body.event_id }]);
  await at('two');
  await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 2 } });
  expect((await waitForEndedRuns(client, workflow))[0].outcome).toBe('1 2');
});

test('an event whose message was lost wakes its run with the next tick', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'] }) });
  const ada = await personOf(client);
  const run = await started(client, workflow, { contact_id: ada.id });
  await asleep(id);
  const lost = dropQueueMessages();
  await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 1 } });
  lost.restore();
  await tickAt(Date.now() + 60_000);
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('came paid 1');
});

test('a stale waiter is deleted when an event meets it', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'] }) });
  const ada = await personOf(client);
  const run = await started(client, workflow, { contact_id: ada.id });
  await asleep(id);
  const row = `INSERT INTO run_waiter (organization_id, event_type, field, value, run_id, wait_id) VALUES (?, 'paid', '', ?, ?, ?)`;
  await env.DB.batch([env.DB.prepare(row).bind(id, String(ada.id), run, 99), env.DB.prepare(row).bind(id, String(ada.id), 987_654_321, 1)]);
  await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 1 } });
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('came paid 1');
  await vi.waitFor(async () => expect(await waiters(id)).toEqual([]));
});

test('stopping or archiving ends the wait, and nothing wakes the run again', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'] }) });
  const ada = await personOf(client);
  const run = await started(client, workflow, { contact_id: ada.id });
  await asleep(id);
  await client.post(`/automation-workflows/runs/${run}/stop`);
  expect(await waiters(id)).toEqual([]);
  await client.post('/events', { event_type: 'paid', phone: ada.phone });
  expect((await client.get(`/automation-workflows/runs/${run}`)).body).toMatchObject({ state: 'cancelled', outcome: null });
});

test('a run wakes once when its event and its timeout come together', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'], timeout: 'PT2S' }) });
  const people = [];
  for (let count = 0; count < 20; count++) people.push(await personOf(client));
  const runs = await Promise.all(people.map((person) => started(client, workflow, { contact_id: person.id })));
  await asleep(id, 20);
  // Every timeout comes due at the very moment at which the events arrive.
  await Promise.all([
    ...people.map((person, n) => client.post('/events', { event_type: 'paid', phone: person.phone, data: { n } })),
    ...runs.map((run) =>
      runInDurableObject(runStub(id, run), async (instance) => {
        const object = instance as unknown as { clock: () => number; alarm(): Promise<void> };
        const real = object.clock;
        object.clock = () => real() + 10_000;
        await object.alarm();
      }),
    ),
  ]);
  for (const [n, run] of runs.entries()) {
    const { outcome } = await waitForRunState(client, run, 'completed');
    expect([`came paid ${n}`, 'late']).toContain(outcome);
    const { body } = await client.get(`/automation-workflows/runs/${run}/history`);
    expect(body.history.map((record: { node_id: string }) => record.node_id)).toEqual(['in', 'hear', outcome === 'late' ? 'late' : 'came']);
  }
});

test('an event wakes an evicted run', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'] }) });
  const ada = await personOf(client);
  const run = await started(client, workflow, { contact_id: ada.id });
  await asleep(id);
  await evictDurableObject(runStub(id, run));
  await client.post('/events', { event_type: 'paid', phone: ada.phone, data: { n: 4 } });
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('came paid 4');
});

test('a wait without a contact or a usable match fails with the next step', async () => {
  const { client } = await newOrganization();
  const nobody = await createActiveWorkflow(client, { definition: waitingFor({ event_types: ['paid'] }) });
  const { body } = await client.post(`/automation-workflows/${nobody}/execute`, { context: {} });
  expect((await waitForRunState(client, body.id, 'failed')).error).toMatchObject({
    node_id: 'hear',
    type: 'no_contact',
    message: expect.stringContaining('give match'),
  });
  const blank = await createActiveWorkflow(client, {
    definition: waitingFor({ event_types: ['paid'], match: { field: 'data.id', value: '{{ nothing }}' } }),
  });
  const second = await client.post(`/automation-workflows/${blank}/execute`, { context: {} });
  expect((await waitForRunState(client, second.body.id, 'failed')).error).toMatchObject({
    type: 'invalid_match',
    message: expect.stringContaining('match.value'),
  });
  const created = await client.post('/automation-workflows/', {
    name: 'Bad',
    definition: waitingFor({ event_types: [], timeout: 'soon', match: { field: 'a..b', value: '' } }),
  });
  const refused = await client.patch(`/automation-workflows/${created.body.id}`, { status: 'active' });
  expect(refused.status).toBe(422);
  expect(refused.body.detail.map(({ loc }: { loc: string[] }) => loc.slice(5).join('.'))).toEqual(
    expect.arrayContaining(['event_types', 'timeout', 'match.field', 'match.value']),
  );
});

test("another organization's event of the same type and value wakes nobody", async () => {
  const [mine, theirs] = [await newOrganization(), await newOrganization()];
  const definition = waitingFor({ event_types: ['paid'], match: { field: 'data.cart', value: '{{ cart }}' } });
  const workflow = await createActiveWorkflow(mine.client, { definition });
  const run = await started(mine.client, workflow, { context: { cart: 'x1' } });
  await asleep(mine.id);
  const { body } = await theirs.client.post('/events', { event_type: 'paid', data: { cart: 'x1' } });
  await deliver('events', [{ v: 1, kind: 'event', organization_id: theirs.id, id: body.event_id }]);
  expect((await mine.client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('waiting');
});
