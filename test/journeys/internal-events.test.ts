import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { publishCampaignCompleted } from '../../durable-objects/campaign/publish-completed.ts';
import type { Campaign } from '../../durable-objects/campaign/campaign-store.ts';
import type { StoredTally } from '../../durable-objects/campaign/row-tally.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { emptyTally } from '../../src/campaigns/rows/row-states.ts';
import type { RunCompletion } from '../../src/calls/records/store.ts';
import type { CallSetup } from '../../src/calls/live-call/call-setup.ts';
import { toCallCompletedData } from '../../src/calls/post-call/run-completion.ts';
import { deliver, dropQueueMessages } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

afterEach(() => vi.restoreAllMocks());

const gold = { field: 'contact.custom_fields.tier', operator: 'eq', value: 'gold' };
const onGold = (on?: string[]) => ({ type: 'data_condition', config: { condition: gold, ...(on ? { on } : {}) } });
const onEvent = (event: string, filter?: unknown) => ({ type: 'event', config: { event, ...(filter ? { filter } : {}) } });

const newContact = async (client: Client, tier: string | null = null) =>
  (await client.post('/contacts', { phone: newPhone(), custom_fields: tier === null ? {} : { tier } })).body.id as number;
const setTier = (client: Client, id: number, tier: string | null) => client.put(`/contacts/${id}`, { custom_fields: { tier } });

/** Every recorded change of the organization's contacts has been worked off. */
const settled = (organizationId: number) =>
  vi.waitFor(
    async () => {
      const { results } = await env.DB.prepare('SELECT id FROM contact_change WHERE organization_id = ?').bind(organizationId).all();
      expect(results).toEqual([]);
    },
    { timeout: 10_000, interval: 20 },
  );

const total = async (client: Client, workflowId: number) => (await client.get(`/automation-workflows/${workflowId}/runs`)).body.total;

test('a condition fires on each change from not matching to matching, also on changes in quick succession', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onGold() });
  const contact = await newContact(client, 'silver');
  for (const tier of ['gold', 'silver', 'gold']) await setTier(client, contact, tier);
  await waitForEndedRuns(client, workflow, 2);
  await settled(id);
  expect(await total(client, workflow)).toBe(2);
});

test('changes that are far apart fire each, and a change without effect on the condition does not fire', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onGold() });
  const contact = await newContact(client, 'silver');
  for (let fired = 1; fired <= 3; fired++) {
    await setTier(client, contact, 'gold');
    await waitForEndedRuns(client, workflow, fired);
    await settled(id);
    await client.put(`/contacts/${contact}`, { first_name: `Ada ${fired}` });
    await setTier(client, contact, 'gold');
    await settled(id);
    await setTier(client, contact, 'silver');
    await settled(id);
  }
  expect(await total(client, workflow)).toBe(3);
  for (const run of (await client.get(`/automation-workflows/${workflow}/runs`)).body.runs)
    expect(run).toMatchObject({
      contact_id: contact,
      initial_context: { event_type: 'contact.updated', contact_id: contact, changed_fields: ['custom_fields'] },
    });
});

test('a contact that is created matching fires once, unless only updates are watched', async () => {
  const { client, id } = await newOrganization();
  const both = await createActiveWorkflow(client, { trigger: onGold() });
  const created = await createActiveWorkflow(client, { trigger: onGold(['created']) });
  const updated = await createActiveWorkflow(client, { trigger: onGold(['updated']) });
  const contact = await newContact(client, 'gold');
  await waitForEndedRuns(client, both, 1);
  await settled(id);
  expect([await total(client, created), await total(client, updated)]).toEqual([1, 0]);
  await setTier(client, contact, 'silver');
  await setTier(client, contact, 'gold');
  await waitForEndedRuns(client, both, 2);
  await settled(id);
  expect([await total(client, created), await total(client, updated)]).toEqual([1, 1]);
});

test('changes of contacts fire nothing while the workflow or the trigger is paused', async () => {
  const { client, id } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onGold() });
  const [trigger] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
  const contact = await newContact(client);
  await client.patch(`/automation-workflows/${workflow}`, { status: 'paused' });
  await setTier(client, contact, 'gold');
  await client.patch(`/automation-workflows/${workflow}`, { status: 'active' });
  await client.patch(`/automation-workflows/triggers/${trigger.id}`, { state: 'paused' });
  await setTier(client, contact, 'silver');
  await setTier(client, contact, 'gold');
  await settled(id);
  expect(await total(client, workflow)).toBe(0);
});

test('a bulk upsert of a thousand matching contacts fires a thousand times, across pages, once each', { tags: 'soak' }, async () => {
  const { client, id } = await newOrganization();
  // A run that waits has an object. One that only decides is completed without one.
  const definition = chain({ id: 'nap', type: 'wait', data: { duration: 'P1D' } });
  const workflow = await createActiveWorkflow(client, { definition, trigger: onGold() });
  const contacts = Array.from({ length: 1000 }, () => ({ phone: newPhone(), custom_fields: { tier: 'gold' } }));
  const upsert = () => client.post('/contacts/bulk-upsert', { list_name: 'Members', contacts });
  const lost = dropQueueMessages();
  // The objects of the runs are not started, since this test does not need their steps.
  const start = vi.fn(async () => 'started');
  const resting = vi.spyOn(env.AUTOMATION_RUN, 'getByName').mockReturnValue({ start } as never);
  expect((await upsert()).body.created).toBe(1000);
  lost.restore();
  const message = { v: 1, kind: 'contact_changes', organization_id: id };
  // Two consumers get the same page at once, as after a redelivery.
  await Promise.all([deliver('fanout', [message]), deliver('fanout', [message])]);
  await settled(id);
  await upsert();
  await settled(id);
  resting.mockRestore();
  const counted = await env.DB.prepare(
    'SELECT count(*) AS runs, count(DISTINCT contact_id) AS people FROM automation_run WHERE workflow_id = ?',
  )
    .bind(workflow)
    .first();
  expect(counted).toEqual({ runs: 1000, people: 1000 });
  expect(new Set(start.mock.calls.map((call: unknown[]) => call[1])).size).toBe(1000);
  expect((await client.get(`/automation-workflows/${workflow}`)).body).toMatchObject({ runs_count: 1000, active_runs_count: 1000 });
  await env.DB.prepare('DELETE FROM automation_run WHERE workflow_id = ?').bind(workflow).run();
});

test('a change that an event, a webhook or a journey makes fires like any other', async () => {
  const { client } = await newOrganization();
  const onCreated = await createActiveWorkflow(client, { trigger: onEvent('contact.created') });
  const onTagged = await createActiveWorkflow(client, {
    trigger: { type: 'data_condition', config: { condition: { field: 'contact.tags', operator: 'contains', value: 'vip' } } },
  });
  const tagging = await createActiveWorkflow(client, {
    trigger: onEvent('contact.created'),
    definition: chain({ id: 'tag', type: 'update_contact', data: { add_tags: ['vip'] } }),
  });
  const { body } = await client.post('/events', { event_type: 'ordered', phone: newPhone() });
  for (const workflow of [onCreated, tagging, onTagged])
    expect((await waitForEndedRuns(client, workflow, 1))[0]).toMatchObject({ contact_id: body.contact_id });
});

test('contact.created and contact.updated start runs with the change in their context, and a filter reads the changed contact', async () => {
  const { client } = await newOrganization();
  const telling = chain({
    id: 'tell',
    type: 'set_context',
    data: { assign: { summary: '{{ event.type }}: {{ event.data.changed_fields | join: "," }} of {{ contact.first_name }}' } },
  });
  const created = await createActiveWorkflow(client, { trigger: onEvent('contact.created'), definition: telling });
  const updated = await createActiveWorkflow(client, { trigger: onEvent('contact.updated'), definition: telling });
  const adas = await createActiveWorkflow(client, {
    trigger: onEvent('contact.updated', {
      all: [
        { field: 'contact.first_name', operator: 'eq', value: 'Ada' },
        { field: 'event.type', operator: 'eq', value: 'contact.updated' },
      ],
    }),
  });
  const { body: contact } = await client.post('/contacts', { phone: newPhone(), first_name: 'Eve' });
  expect((await waitForEndedRuns(client, created, 1))[0].context.summary).toBe(
    'contact.created: phone,first_name,tags,custom_fields of Eve',
  );
  await client.put(`/contacts/${contact.id}`, { first_name: 'Ada', title: 'Countess' });
  const [run] = await waitForEndedRuns(client, updated, 1);
  expect(run).toMatchObject({ contact_id: contact.id, context: { summary: 'contact.updated: first_name,title of Ada' } });
  await waitForEndedRuns(client, adas, 1);
});

test('run.completed and run.failed start runs that name the run that ended; tests and cancelled runs start none', async () => {
  const { client } = await newOrganization();
  const failing = {
    nodes: [
      { id: 'in', type: 'trigger', data: {} },
      { id: 'bad', type: 'wait', data: { duration: '{{ nothing }}' } },
    ],
    edges: [{ id: 'a', source: 'in', target: 'bad' }],
  };
  const sound = await createActiveWorkflow(client, {});
  const broken = await createActiveWorkflow(client, { definition: failing });
  const sleeping = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } }) });
  const of = (id: number) => ({ field: 'data.automation_workflow_id', operator: 'eq', value: id });
  const telling = chain({
    id: 'tell',
    type: 'set_context',
    data: { assign: { summary: '{{ event.type }} {{ run_id }} {{ data.outcome }}{{ error.type }}' } },
  });
  const completed = await createActiveWorkflow(client, { trigger: onEvent('run.completed', of(sound)), definition: telling });
  const failed = await createActiveWorkflow(client, {
    trigger: onEvent('run.failed', { any: [of(broken), of(sleeping)] }),
    definition: telling,
  });
  const contact = await newContact(client);
  const { body: good } = await client.post(`/automation-workflows/${sound}/execute`, { contact_id: contact });
  const { body: bad } = await client.post(`/automation-workflows/${broken}/execute`, {});
  const { body: asleep } = await client.post(`/automation-workflows/${sleeping}/execute`, {});
  await client.post(`/automation-workflows/runs/${asleep.id}/stop`);
  await client.post(`/automation-workflows/${sound}/test`, {});
  await client.post(`/automation-workflows/${sound}/test`, { dry_run: false });
  expect((await waitForEndedRuns(client, completed, 1))[0]).toMatchObject({
    contact_id: contact,
    context: { summary: `run.completed ${good.id} done` },
  });
  expect((await waitForEndedRuns(client, failed, 1))[0].context.summary).toBe(`run.failed ${bad.id} invalid_wait`);
});

test('journeys that start each other by their ends stop at a depth of eight, and the trigger says so', async () => {
  const { client } = await newOrganization();
  const loop = await createActiveWorkflow(client, { trigger: onEvent('run.completed') });
  await client.post(`/automation-workflows/${loop}/execute`, {});
  await waitForEndedRuns(client, loop, 9);
  await vi.waitFor(async () =>
    expect((await client.get(`/automation-workflows/${loop}/triggers`)).body.triggers[0].last_error).toMatch(/8 deep/),
  );
  expect(await total(client, loop)).toBe(9);
});

test('journeys that start each other by changing a contact stop at a depth of eight, and the trigger says so', async () => {
  const { client, id } = await newOrganization();
  const counting = chain({
    id: 'count',
    type: 'update_contact',
    data: { set: { 'custom_fields.count': '{{ contact.custom_fields.count | plus: 1 }}' } },
  });
  const loop = await createActiveWorkflow(client, { trigger: onEvent('contact.updated'), definition: counting });
  const contact = await newContact(client);
  await client.put(`/contacts/${contact}`, { custom_fields: { count: 0 } });
  await waitForEndedRuns(client, loop, 9);
  await settled(id);
  await vi.waitFor(async () =>
    expect((await client.get(`/automation-workflows/${loop}/triggers`)).body.triggers[0].last_error).toMatch(/8 deep/),
  );
  expect((await client.get(`/contacts/${contact}`)).body.custom_fields.count).toBe(9);
  await client.put(`/contacts/${contact}`, { custom_fields: { count: 100 } });
  await waitForEndedRuns(client, loop, 18);
});

test('a run of each trigger type finds the names of its sample context', async () => {
  const { client } = await newOrganization();
  const names = ['contact.phone', 'event.type', 'event.data', 'data'];
  const seeing = chain({
    id: 'see',
    type: 'set_context',
    data: { assign: Object.fromEntries(names.map((name) => [`seen_${name.replace('.', '_')}`, `{{ ${name} }}`])) },
  });
  const watching = {
    contact_event: { type: 'contact_event', config: { event_type: 'ordered' } },
    data_condition: { type: 'data_condition', config: { condition: { field: 'contact.phone', operator: 'exists' }, on: ['created'] } },
    event: onEvent('run.completed', { field: 'data.workflow_name', operator: 'eq', value: 'Journey' }),
  };
  const workflow = await createActiveWorkflow(client, {});
  const { body: meta } = await client.get(`/automation-workflows/${workflow}/trigger-meta`);
  for (const [type, trigger] of Object.entries(watching)) {
    const seer = await createActiveWorkflow(client, { trigger, definition: seeing });
    await client.patch(`/automation-workflows/${seer}`, { name: 'Seer' });
    const { body } = await client.post('/events', { event_type: 'ordered', phone: newPhone(), data: { order_id: 'A-17', total: 120.5 } });
    if (type === 'event') await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: body.contact_id });
    const [run] = await waitForEndedRuns(client, seer, 1);
    const sample = type === 'event' ? ofEnded(meta) : meta.trigger_types.find((one: { type: string }) => one.type === type).sample_context;
    expect(typeof run.context.seen_contact_phone, type).toBe('string');
    expect(typeof run.context.seen_event_type, type).toBe('string');
    expect(run.context.seen_event_data, type).toEqual(run.context.seen_data);
    for (const [name, value] of Object.entries(sample.event.data)) {
      expect(run.context.seen_data, `${type}: data.${name}`).toHaveProperty(name);
      expect(sample[name]).toEqual(value);
    }
    expect(sample.data).toEqual(sample.event.data);
    await client.delete(`/automation-workflows/${seer}`);
  }
});

function ofEnded(meta: { internal_event_samples: Record<string, object> }) {
  const data = { event_type: 'run.completed', ...meta.internal_event_samples['run.completed'] };
  return { event: { data }, data, ...data } as Record<string, any>;
}

test('the data of every published event have a sample, and those of calls and campaigns equal what is sent', async () => {
  const { client, id } = await newOrganization();
  const { body } = await client.get(`/automation-workflows/${await createActiveWorkflow(client, {})}/trigger-meta`);
  expect(Object.keys(body.internal_event_samples).toSorted()).toEqual(body.internal_events.toSorted());
  const facts = { runId: 1, agentId: 2, agentName: 'Greeter', phone: '+1', campaignId: null, automationRunId: null } as CallSetup;
  const settlement = {
    outcome: 'completed',
    reason: null,
    disposition: null,
    result: { gathered_context: {}, cost_info: {}, annotations: {} },
  };
  const completed = toCallCompletedData(facts, settlement as unknown as RunCompletion);
  expect(Object.keys(body.internal_event_samples['call.completed']).toSorted()).toEqual(Object.keys(completed).toSorted());
  const hearing = await createActiveWorkflow(client, { trigger: onEvent('campaign.completed') });
  const campaign = { id: 4, name: 'Spring', agentId: 12 } as Campaign;
  const tally = { rows: { ...emptyTally(), completed: 3 }, outcomes: { completed: 3 } } as unknown as StoredTally;
  await publishCampaignCompleted((await backgroundContext(env, id, () => undefined))!, campaign, tally);
  const [run] = await waitForEndedRuns(client, hearing);
  const { event_type: type, ...data } = run.initial_context;
  expect(type).toBe('campaign.completed');
  expect(Object.keys(body.internal_event_samples['campaign.completed']).toSorted()).toEqual(Object.keys(data).toSorted());
});
