import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { deliver, dropQueueMessages, tickAt, waitUntilHandled } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState, runStub } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } });
const onEvent = { type: 'contact_event', config: { event_types: ['ordered'] } };
const runsOf = async (client: Client, workflow: number) => (await client.get(`/automation-workflows/${workflow}/runs`)).body.runs as any[];

/** Waits until the event is handled; returns it as the API lists it. */
async function handled(client: Client, eventId: number): Promise<any> {
  await waitUntilHandled(eventId);
  const { body } = await client.get('/events?limit=500');
  return body.events.find((event: { id: number }) => event.id === eventId);
}

async function ordered(client: Client, phone: string, data: object = {}) {
  const { body } = await client.post('/events', { event_type: 'ordered', phone, data });
  return handled(client, body.event_id);
}

test('reentry never: a key enters once; a second event shows the reason, and execute and fire are a 409 with the reason', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, settings: { reentry: { mode: 'never' } } });
  const phone = newPhone();
  expect((await ordered(client, phone)).note).toBeNull();
  const [run] = await waitForEndedRuns(client, workflow);
  const again = await ordered(client, phone);
  expect(again.note).toContain(`Workflow ${workflow}: Entry key "${run.entry_key}" entered at ${run.created_at} (run ${run.id})`);
  expect(again.note).toContain('once only');
  const executed = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: run.contact_id });
  expect(executed).toMatchObject({ status: 409, body: { detail: expect.stringContaining('once only') } });
  await ordered(client, newPhone());
  await waitForEndedRuns(client, workflow, 2);
});

test('reentry after: a key enters again when the time has passed, not before', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, settings: { reentry: { mode: 'after', after: 'P1D' } } });
  const phone = newPhone();
  await ordered(client, phone);
  const [run] = await waitForEndedRuns(client, workflow);
  expect((await ordered(client, phone)).note).toContain(new Date(Date.parse(run.created_at) + 86_400_000).toISOString());
  await env.DB.batch([
    env.DB.prepare('UPDATE workflow_entry SET entered_at = entered_at - 86400001 WHERE workflow_id = ?').bind(workflow),
    env.DB.prepare('UPDATE automation_run SET created_at = created_at - 86400001 WHERE workflow_id = ?').bind(workflow),
  ]);
  expect((await ordered(client, phone)).note).toBeNull();
  await waitForEndedRuns(client, workflow, 2);
});

test('reentry counts by entry key: one contact may enter with each appointment', async () => {
  const { client } = await newOrganization();
  const settings = { reentry: { mode: 'never' }, entry_key: '{{ data.appointment }}' };
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, settings });
  const phone = newPhone();
  for (const appointment of ['a', 'b', 'a']) await ordered(client, phone, { appointment });
  expect((await waitForEndedRuns(client, workflow, 2)).map((run) => run.entry_key).toSorted()).toEqual(['a', 'b']);
});

test('two entries of one key in one batch: the second sees the first', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, settings: { reentry: { mode: 'never' } } });
  const lost = dropQueueMessages();
  const phone = newPhone();
  const events = [];
  for (let count = 0; count < 3; count++) events.push((await client.post('/events', { event_type: 'ordered', phone })).body.event_id);
  lost.restore();
  await deliver(
    'events',
    events.map((event) => ({ v: 1, kind: 'event', organization_id: id, id: event })),
  );
  await waitForEndedRuns(client, workflow, 1);
});

test('a reentry rule that is set later counts the earlier runs of the contact', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent });
  const phone = newPhone();
  await ordered(client, phone);
  await waitForEndedRuns(client, workflow);
  await client.patch(`/automation-workflows/${workflow}`, { settings: { reentry: { mode: 'never' } } });
  expect((await ordered(client, phone)).note).toContain('once only');
});

test('a test run does not count as an entry, and no rule keeps it out', async () => {
  const { client } = await newOrganization();
  const settings = { reentry: { mode: 'never' }, one_live_run_per_key: true, max_active_runs: 1 };
  const workflow = await createActiveWorkflow(client, { definition: nap, settings });
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const tryOut = () => client.post(`/automation-workflows/${workflow}/test`, { context: {}, contact_id: contact, dry_run: false });
  expect([(await tryOut()).status, (await tryOut()).status]).toEqual([200, 200]);
  const execute = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact });
  expect(execute.status).toBe(200);
  expect((await tryOut()).status).toBe(200);
});

test('one live run per key: while it lives another is refused with its id, once it has ended the next begins', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, definition: nap, settings: { one_live_run_per_key: true } });
  const phone = newPhone();
  await ordered(client, phone);
  const [run] = await runsOf(client, workflow);
  await waitForRunState(client, run.id, 'waiting');
  expect((await ordered(client, phone)).note).toContain(`Run ${run.id} with entry key "${run.entry_key}" is live`);
  const executed = await client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: run.contact_id });
  expect(executed).toMatchObject({ status: 409, body: { detail: expect.stringContaining('one_live_run_per_key') } });
  await client.post(`/automation-workflows/runs/${run.id}/stop`);
  expect((await ordered(client, phone)).note).toBeNull();
  expect(await runsOf(client, workflow)).toHaveLength(2);
});

test('one live run per key: of twenty at once one begins', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { definition: nap, settings: { one_live_run_per_key: true } });
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.post(`/automation-workflows/${workflow}/execute`, { context: {}, contact_id: contact })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
});

test('one live run per key: an ended run whose row is out of date does not block the next run', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, definition: nap, settings: { one_live_run_per_key: true } });
  const phone = newPhone();
  await ordered(client, phone);
  const [run] = await runsOf(client, workflow);
  await waitForRunState(client, run.id, 'waiting');
  // The run ends, and its projection is lost on the way.
  await runInDurableObject(runStub(id, run.id), async (instance) => {
    const object = instance as unknown as { writeProjection(revision: number): Promise<void>; stop(ending: object): Promise<boolean> };
    const real = object.writeProjection;
    object.writeProjection = () => Promise.reject(new Error('D1 is away'));
    await object.stop({ state: 'cancelled' }).catch(() => undefined);
    object.writeProjection = real;
  });
  expect((await ordered(client, phone)).note).toBeNull();
  expect(await runsOf(client, workflow)).toHaveLength(2);
});

test('one live run per key: the rule also counts runs that began before it was set', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, definition: nap });
  const phone = newPhone();
  await ordered(client, phone);
  await ordered(client, phone);
  await client.patch(`/automation-workflows/${workflow}`, { settings: { one_live_run_per_key: true } });
  await vi.waitFor(async () => {
    const row = await env.DB.prepare('SELECT count(*) AS total FROM automation_run WHERE workflow_id = ? AND is_sole = 1')
      .bind(workflow)
      .first<{ total: number }>();
    expect(row?.total).toBe(1);
  });
  expect((await ordered(client, phone)).note).toContain('is live');
});

test('max_active_runs: triggered runs beyond it wait in queued, oldest first, and each end lets the next begin; execute and fire are a 409', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, definition: nap, settings: { max_active_runs: 2 } });
  for (let count = 0; count < 4; count++) await ordered(client, newPhone());
  const states = async () => (await runsOf(client, workflow)).toReversed().map((run) => `${run.state} ${run.hold}`);
  await vi.waitFor(async () => expect(await states()).toEqual(['waiting null', 'waiting null', 'queued max_active', 'queued max_active']));
  expect((await client.get(`/automation-workflows/${workflow}`)).body).toMatchObject({ runs_count: 4, active_runs_count: 4 });
  const executed = await client.post(`/automation-workflows/${workflow}/execute`, { context: {} });
  expect(executed).toMatchObject({
    status: 409,
    body: { detail: expect.stringMatching(/2 runs are active and settings.max_active_runs is 2/) },
  });
  const manual = await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'manual', config: {} });
  expect((await client.post(`/automation-workflows/${workflow}/triggers/${manual.body.id}/fire`, {})).status).toBe(409);
  const [, third, , first] = await runsOf(client, workflow);
  await client.post(`/automation-workflows/runs/${first.id}/stop`);
  await waitForRunState(client, third.id, 'waiting');
  await vi.waitFor(async () => expect(await states()).toEqual(['cancelled null', 'waiting null', 'waiting null', 'queued max_active']));
});

test('max_active_runs: a queued run can be stopped, a raised limit lets all begin, and none begins while the workflow is paused', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, definition: nap, settings: { max_active_runs: 1 } });
  for (let count = 0; count < 5; count++) await ordered(client, newPhone());
  const [last] = await runsOf(client, workflow);
  expect(await client.post(`/automation-workflows/runs/${last.id}/stop`)).toMatchObject({
    status: 200,
    body: { state: 'cancelled', hold: null },
  });
  await client.patch(`/automation-workflows/${workflow}`, { status: 'paused' });
  await client.patch(`/automation-workflows/${workflow}`, { settings: { max_active_runs: 10 } });
  const live = async (state: string) => (await client.get(`/automation-workflows/${workflow}/runs?state=${state}`)).body.total;
  expect(await live('queued')).toBe(3);
  await client.patch(`/automation-workflows/${workflow}`, { status: 'active' });
  await vi.waitFor(async () => expect([await live('queued'), await live('waiting')]).toEqual([0, 4]));
});

test('max_active_runs: no more runs are active than the limit, and all of them end', async () => {
  const { client } = await newOrganization();
  const definition = chain({ id: 'nap', type: 'wait', data: { duration: 'PT0.05S' } });
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, definition, settings: { max_active_runs: 3 } });
  let highest = 0;
  const watch = setInterval(async () => {
    const row = await env.DB.prepare('SELECT active_runs_count - held_runs_count AS admitted FROM automation_workflow WHERE id = ?')
      .bind(workflow)
      .first<{ admitted: number }>();
    highest = Math.max(highest, row!.admitted);
  }, 5);
  await Promise.all(Array.from({ length: 30 }, () => client.post('/events', { event_type: 'ordered', phone: newPhone() })));
  await waitForEndedRuns(client, workflow, 30);
  clearInterval(watch);
  expect(highest).toBeGreaterThan(0);
  expect(highest).toBeLessThanOrEqual(3);
  expect((await client.get(`/automation-workflows/${workflow}`)).body).toMatchObject({ runs_count: 30, active_runs_count: 0 });
});

test('max_active_runs: a place that is free when an event comes goes to the run that was held longest, which starts at once', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, definition: nap, settings: { max_active_runs: 1 } });
  for (let count = 0; count < 2; count++) await ordered(client, newPhone());
  const [held] = await runsOf(client, workflow);
  expect(held.state).toBe('queued');
  await env.DB.prepare("UPDATE automation_workflow SET settings = json_set(settings, '$.max_active_runs', 2) WHERE id = ?")
    .bind(workflow)
    .run();
  await ordered(client, newPhone());
  await waitForRunState(client, held.id, 'waiting');
  expect((await runsOf(client, workflow)).map(({ state }) => state)).toEqual(['queued', 'waiting', 'waiting']);
});

test('max_active_runs: the minute tick starts a queued run whose message was lost', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onEvent, definition: nap, settings: { max_active_runs: 1 } });
  await ordered(client, newPhone());
  await ordered(client, newPhone());
  const lost = dropQueueMessages();
  await client.patch(`/automation-workflows/${workflow}`, { settings: { max_active_runs: 2 } });
  lost.restore();
  const queued = async () => (await client.get(`/automation-workflows/${workflow}/runs?state=queued`)).body.total;
  expect(await queued()).toBe(1);
  await tickAt(Date.now() + 60_000);
  await vi.waitFor(async () => expect(await queued()).toBe(0));
});

test('fire starts runs for the contacts that the rules admit, and names the others', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, {
    trigger: { type: 'manual', config: {} },
    definition: nap,
    settings: { reentry: { mode: 'never' } },
  });
  const contacts = [];
  for (let count = 0; count < 3; count++) contacts.push((await client.post('/contacts', { phone: newPhone() })).body.id);
  const { body: page } = await client.get(`/automation-workflows/${workflow}/triggers`);
  const fire = (contact_ids: number[]) =>
    client.post(`/automation-workflows/${workflow}/triggers/${page.triggers[0].id}/fire`, { contact_ids });
  await fire([contacts[0]]);
  expect((await fire(contacts)).body).toMatchObject({
    triggered: 2,
    refused: [{ contact_id: contacts[0], rule: 'reentry', message: expect.stringContaining('once only') }],
  });
  expect(await fire(contacts)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('once only') } });
});
