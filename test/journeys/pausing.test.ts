import { evictDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { crashAtCall } from '../support/crashing-object.ts';
import { dropQueueMessages, tickAt } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const setStatus = async (client: Client, workflow: number, status: string) =>
  expect((await client.patch(`/automation-workflows/${workflow}`, { status })).status).toBe(200);

/** Sleeps a moment, then sets a variable (no side effect), then tags the contact (one). */
const acting = chain(
  { id: 'nap', type: 'wait', data: { duration: 'PT0.3S' } },
  { id: 'note', type: 'set_context', data: { assign: { seen: 'yes' } } },
  { id: 'tag', type: 'update_contact', data: { add_tags: ['reached'] } },
);

async function person(client: Client) {
  const { body } = await client.post('/contacts', { phone: newPhone() });
  return body.id as number;
}

const start = async (client: Client, workflow: number, contact: number) =>
  (await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact })).body.id as number;

const held = (client: Client, run: number) =>
  vi.waitFor(
    async () => {
      const { body } = await client.get(`/automation-workflows/runs/${run}`);
      expect(body).toMatchObject({ state: 'waiting', hold: 'paused' });
      return body;
    },
    { timeout: 10_000, interval: 10 },
  );

const tagsOf = async (client: Client, contact: number) => (await client.get(`/contacts/${contact}`)).body.tags;

test('while the workflow is paused waits end in time and other steps run, but a side effect is held until the workflow is active', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: acting });
  const contact = await person(client);
  const run = await start(client, workflow, contact);
  await waitForRunState(client, run, 'waiting');
  await setStatus(client, workflow, 'paused');
  expect(await held(client, run)).toMatchObject({ current_node_id: 'tag', context: { seen: 'yes' } });
  expect(await tagsOf(client, contact)).toEqual([]);
  const listed = await client.get(`/automation-workflows/${workflow}/runs?state=waiting`);
  expect(listed.body.runs).toMatchObject([{ id: run, hold: 'paused' }]);
  await setStatus(client, workflow, 'active');
  await waitForRunState(client, run, 'completed');
  expect(await tagsOf(client, contact)).toEqual(['reached']);
  const { body } = await client.get(`/automation-workflows/runs/${run}/history`);
  expect(body.history.map((record: { node_id: string; status: string }) => `${record.node_id} ${record.status}`)).toEqual([
    'in completed',
    'nap completed',
    'note completed',
    'tag completed',
    'tag completed',
    'out completed',
  ]);
  expect(body.history[3].output).toEqual({ why: expect.stringContaining('held') });
});

test('a paused workflow starts nothing new', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    definition: acting,
    trigger: { type: 'contact_event', config: { event_types: ['x'] } },
  });
  await setStatus(client, workflow, 'paused');
  expect((await client.post(`/automation-workflows/${workflow}/execute`, { context: {} })).status).toBe(409);
  await client.post('/events', { event_type: 'x' });
  expect((await client.get(`/automation-workflows/${workflow}`)).body.runs_count).toBe(0);
});

test('an evicted hold, and a hold whose release message was lost, are released by the tick', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: acting });
  const contacts = [await person(client), await person(client)];
  const runs = await Promise.all(contacts.map((contact) => start(client, workflow, contact)));
  for (const run of runs) await waitForRunState(client, run, 'waiting');
  await setStatus(client, workflow, 'paused');
  for (const run of runs) await held(client, run);
  for (const run of runs) await evictDurableObject(runStub(id, run));
  const lost = dropQueueMessages();
  await setStatus(client, workflow, 'active');
  lost.restore();
  for (const run of runs) expect((await client.get(`/automation-workflows/runs/${run}`)).body.hold).toBe('paused');
  await tickAt(Date.now() + 60_000);
  for (const run of runs) await waitForRunState(client, run, 'completed');
  for (const contact of contacts) expect(await tagsOf(client, contact)).toEqual(['reached']);
});

test('a hold that is written while the workflow is resumed is released', { tags: 'soak' }, async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: acting });
  const contact = await person(client);
  const run = await start(client, workflow, contact);
  await waitForRunState(client, run, 'waiting');
  await setStatus(client, workflow, 'paused');
  // The object has read "paused" and is delayed before it projects its hold. Meanwhile the workflow is resumed and finds no hold.
  const watch = await crashAtCall(runStub(id, run), 2, 'before');
  await vi.waitFor(() => expect(watch.died).toBe(true), { timeout: 10_000, interval: 5 });
  await setStatus(client, workflow, 'active');
  await vi.waitFor(
    async () => {
      await runStub(id, run)
        .start(id, run)
        .catch(() => undefined);
      expect((await client.get(`/automation-workflows/runs/${run}`)).body.state).toBe('completed');
    },
    { timeout: 15_000, interval: 50 },
  );
  expect(await tagsOf(client, contact)).toEqual(['reached']);
});

test('a held run can be stopped, and archiving cancels it', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: acting });
  const contacts = [await person(client), await person(client)];
  const runs = await Promise.all(contacts.map((contact) => start(client, workflow, contact)));
  for (const run of runs) await waitForRunState(client, run, 'waiting');
  await setStatus(client, workflow, 'paused');
  for (const run of runs) await held(client, run);
  expect(await client.post(`/automation-workflows/runs/${runs[0]}/stop`)).toMatchObject({
    status: 200,
    body: { state: 'cancelled', hold: null },
  });
  await client.delete(`/automation-workflows/${workflow}`);
  expect((await waitForRunState(client, runs[1]!, 'cancelled')).error).toMatchObject({ type: 'workflow_archived' });
  for (const contact of contacts) expect(await tagsOf(client, contact)).toEqual([]);
});

test('a resume releases hundreds of runs, each once', { tags: 'soak', timeout: 60_000 }, async () => {
  const { client } = await newOrganization();
  const definition = chain(
    { id: 'nap', type: 'wait', data: { duration: 'PT1S' } },
    { id: 'say', type: 'emit_event', data: { event_type: 'said' } },
  );
  const workflow = await createActiveWorkflow(client, { definition, trigger: { type: 'manual', config: {} } });
  const trigger = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers[0].id;
  const contacts = await Promise.all(Array.from({ length: 130 }, () => person(client)));
  const fire = (contact_ids: number[]) => client.post(`/automation-workflows/${workflow}/triggers/${trigger}/fire`, { contact_ids });
  await fire(contacts.slice(0, 100));
  await fire(contacts.slice(100));
  await setStatus(client, workflow, 'paused');
  await vi.waitFor(
    async () => {
      const row = await env.DB.prepare("SELECT count(*) AS total FROM automation_run WHERE workflow_id = ? AND hold = 'paused'")
        .bind(workflow)
        .first<{ total: number }>();
      expect(row?.total).toBe(130);
    },
    { timeout: 20_000, interval: 50 },
  );
  await setStatus(client, workflow, 'active');
  await vi.waitFor(async () => expect((await client.get(`/automation-workflows/${workflow}`)).body.active_runs_count).toBe(0), {
    timeout: 20_000,
    interval: 50,
  });
  expect((await client.get('/events?event_type=said')).body.total).toBe(130);
});

test('a test run of a paused workflow performs for real', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: acting });
  const contact = await person(client);
  await setStatus(client, workflow, 'paused');
  const { body } = await client.post(`/automation-workflows/${workflow}/test`, { context: {}, contact_id: contact, dry_run: false });
  await waitForRunState(client, body.id, 'completed');
  expect(await tagsOf(client, contact)).toEqual(['reached']);
  expect(await waitForEndedRuns(client, workflow, 0)).toEqual([]);
});
