import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, dropQueueMessages, waitUntilHandled } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } });
const onCart = { type: 'contact_event', config: { event_types: ['cart'] } };

/** Started by an event `cart` and asleep. */
async function sleeping(client: Client, workflow: number, phone: string, data: object = {}) {
  const before = (await client.get(`/automation-workflows/${workflow}/runs`)).body.total;
  await client.post('/events', { event_type: 'cart', phone, data });
  return vi.waitFor(
    async () => {
      const { body } = await client.get(`/automation-workflows/${workflow}/runs`);
      expect(body.total).toBe(before + 1);
      expect(body.runs[0].state).toBe('waiting');
      return body.runs[0].id as number;
    },
    { timeout: 10_000, interval: 10 },
  );
}

test("an exit event of the contact wakes the run and ends it at once as exited; another contact's does not", async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    trigger: onCart,
    definition: nap,
    settings: { exit_on: [{ event_type: 'ordered' }] },
  });
  const [ada, bob] = [newPhone(), newPhone()];
  const hers = await sleeping(client, workflow, ada);
  const his = await sleeping(client, workflow, bob);
  const { body: event } = await client.post('/events', { event_type: 'ordered', phone: ada });
  expect(await waitForRunState(client, hers, 'completed')).toMatchObject({ outcome: 'exited', error: null });
  const { body } = await client.get(`/automation-workflows/runs/${hers}/history`);
  expect(body.history.at(-1)).toMatchObject({
    node_id: 'nap',
    status: 'skipped',
    output: { ended_by: `event ordered (id ${event.event_id}) ended the run by exit_on` },
  });
  expect((await client.get(`/automation-workflows/runs/${his}`)).body.state).toBe('waiting');
});

test('an exit with an entry key ends the run of that key alone, whichever contact the event names', async () => {
  const { client } = await newOrganization();
  const settings = { entry_key: '{{ data.cart }}', exit_on: [{ event_type: 'emptied', entry_key: '{{ data.id }}' }] };
  const workflow = await createActiveWorkflow(client, { trigger: onCart, definition: nap, settings });
  const phone = newPhone();
  const first = await sleeping(client, workflow, phone, { cart: 'c1' });
  const second = await sleeping(client, workflow, phone, { cart: 'c2' });
  await client.post('/events', { event_type: 'emptied', data: { id: 'c1' } });
  await waitForRunState(client, first, 'completed');
  expect((await client.get(`/automation-workflows/runs/${second}`)).body.state).toBe('waiting');
});

test("an event ends a run only if the exit's filter matches", async () => {
  const { client } = await newOrganization();
  const settings = { exit_on: [{ event_type: 'ordered', filter: { field: 'data.total', operator: 'gte', value: 10 } }] };
  const workflow = await createActiveWorkflow(client, { trigger: onCart, definition: nap, settings });
  const phone = newPhone();
  const run = await sleeping(client, workflow, phone);
  const small = await client.post('/events', { event_type: 'ordered', phone, data: { total: 5 } });
  await waitUntilHandled(small.body.event_id);
  expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('waiting');
  await client.post('/events', { event_type: 'ordered', phone, data: { total: 15 } });
  await waitForRunState(client, run, 'completed');
});

test('an event that is both trigger and exit event does not end the run that it starts, and ends the run before', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    trigger: onCart,
    definition: nap,
    settings: { exit_on: [{ event_type: 'cart' }] },
  });
  const phone = newPhone();
  const first = await sleeping(client, workflow, phone);
  const second = await sleeping(client, workflow, phone);
  expect((await waitForRunState(client, first, 'completed')).outcome).toBe('exited');
  expect((await client.get(`/automation-workflows/runs/${second}`)).body.state).toBe('waiting');
});

test('an event that ends the run of a key and starts the next does both, one at a time or several in a batch', async () => {
  const { client, id } = await newOrganization();
  const settings = {
    entry_key: '{{ data.appointment }}',
    one_live_run_per_key: true,
    exit_on: [{ event_type: 'cart', entry_key: '{{ data.appointment }}' }],
  };
  const workflow = await createActiveWorkflow(client, { trigger: onCart, definition: nap, settings });
  const lost = dropQueueMessages();
  const phone = newPhone();
  const move = async () =>
    (await client.post('/events', { event_type: 'cart', phone, data: { appointment: 'a1' } })).body.event_id as number;
  const message = (event: number) => ({ v: 1, kind: 'event', organization_id: id, id: event });
  await deliver('events', [message(await move())]);
  await deliver('events', [message(await move())]);
  await deliver('events', [message(await move()), message(await move()), message(await move())]);
  lost.restore();
  await vi.waitFor(
    async () => {
      const { body } = await client.get(`/automation-workflows/${workflow}/runs`);
      expect(body.runs.map((run: { state: string; outcome: string | null }) => `${run.state} ${run.outcome}`)).toEqual([
        'waiting null',
        ...Array.from({ length: 4 }, () => 'completed exited'),
      ]);
    },
    { timeout: 10_000, interval: 20 },
  );
});

test('an exit event that is handled before the event that starts the run, or with it, ends the run nevertheless', async () => {
  for (const order of ['before', 'with'] as const) {
    const { client, id } = await newOrganization();
    const workflow = await createActiveWorkflow(client, {
      trigger: onCart,
      definition: nap,
      settings: { exit_on: [{ event_type: 'ordered' }] },
    });
    const phone = newPhone();
    const lost = dropQueueMessages();
    const cart = (await client.post('/events', { event_type: 'cart', phone })).body.event_id;
    const ordered = (await client.post('/events', { event_type: 'ordered', phone })).body.event_id;
    const message = (event: number) => ({ v: 1, kind: 'event', organization_id: id, id: event });
    for (const batch of order === 'with' ? [[ordered, cart]] : [[ordered], [cart]]) await deliver('events', batch.map(message));
    lost.restore();
    expect((await waitForEndedRuns(client, workflow))[0]).toMatchObject({ state: 'completed', outcome: 'exited' });
  }
});

test('an exit event from before the run began does not end the run when it is handled late', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    trigger: onCart,
    definition: nap,
    settings: { exit_on: [{ event_type: 'ordered' }] },
  });
  const phone = newPhone();
  const lost = dropQueueMessages();
  const ordered = (await client.post('/events', { event_type: 'ordered', phone })).body.event_id;
  lost.restore();
  const run = await sleeping(client, workflow, phone);
  await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: ordered }]);
  expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('waiting');
});

test('an exit by key ends runs from before the setting, and ends none after the setting is removed', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onCart, definition: nap, settings: { entry_key: '{{ data.cart }}' } });
  const phone = newPhone();
  const first = await sleeping(client, workflow, phone, { cart: 'c1' });
  const settings = { entry_key: '{{ data.cart }}', exit_on: [{ event_type: 'emptied', entry_key: '{{ data.id }}' }] };
  await client.patch(`/automation-workflows/${workflow}`, { settings });
  await vi.waitFor(async () => {
    const row = await env.DB.prepare('SELECT is_exitable FROM automation_run WHERE id = ?').bind(first).first<{ is_exitable: number }>();
    expect(row?.is_exitable).toBe(1);
  });
  await client.post('/events', { event_type: 'emptied', data: { id: 'c1' } });
  await waitForRunState(client, first, 'completed');
  const second = await sleeping(client, workflow, phone, { cart: 'c2' });
  await client.patch(`/automation-workflows/${workflow}`, { settings: { exit_on: null } });
  expect((await env.DB.prepare('SELECT 1 FROM exit_topic WHERE organization_id = ?').bind(id).all()).results).toEqual([]);
  const late = await client.post('/events', { event_type: 'emptied', data: { id: 'c2' } });
  await deliver('events', [{ v: 1, kind: 'event', organization_id: id, id: late.body.event_id }]);
  expect((await client.get(`/automation-workflows/runs/${second}`)).body.state).toBe('waiting');
});

test('an exit event ends a queued run, too', async () => {
  const { client } = await newOrganization();
  const settings = { max_active_runs: 1, exit_on: [{ event_type: 'ordered' }] };
  const workflow = await createActiveWorkflow(client, { trigger: onCart, definition: nap, settings });
  await sleeping(client, workflow, newPhone());
  const phone = newPhone();
  await client.post('/events', { event_type: 'cart', phone });
  const queued = await vi.waitFor(async () => {
    const { body } = await client.get(`/automation-workflows/${workflow}/runs?state=queued`);
    expect(body.total).toBe(1);
    return body.runs[0].id as number;
  });
  await client.post('/events', { event_type: 'ordered', phone });
  expect(await waitForRunState(client, queued, 'completed')).toMatchObject({ outcome: 'exited', hold: null });
});

test("another organization's event with the same key ends nothing", async () => {
  const [mine, theirs] = [await newOrganization(), await newOrganization()];
  const settings = { entry_key: '{{ data.cart }}', exit_on: [{ event_type: 'emptied', entry_key: '{{ data.id }}' }] };
  const workflow = await createActiveWorkflow(mine.client, { trigger: onCart, definition: nap, settings });
  const run = await sleeping(mine.client, workflow, newPhone(), { cart: 'c1' });
  const { body } = await theirs.client.post('/events', { event_type: 'emptied', data: { id: 'c1' } });
  await deliver('events', [{ v: 1, kind: 'event', organization_id: theirs.id, id: body.event_id }]);
  expect((await mine.client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('waiting');
});
