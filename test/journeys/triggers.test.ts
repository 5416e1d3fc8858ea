import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const triggers = (workflowId: number) => `/automation-workflows/${workflowId}/triggers`;
const trigger = (id: number) => `/automation-workflows/triggers/${id}`;

const create = async (client: Client, workflowId: number, body: Record<string, unknown>) => {
  const answer = await client.post(triggers(workflowId), body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};
const draft = async (client: Client) => (await client.post('/automation-workflows', { name: 'Journey', definition: chain() })).body.id;

const condition = { field: 'contact.custom_fields.tier', operator: 'eq', value: 'gold' };
const kinds = [
  { type: 'contact_event', config: { event_type: 'ordered' }, stored: { event_types: ['ordered'] } },
  { type: 'webhook', config: {}, stored: { auth: { type: 'none' }, mapping: {} } },
  {
    type: 'schedule',
    config: { cron: '30 9 * * 1-5' },
    stored: { cron: '30 9 * * 1-5', timezone: 'UTC', catch_up: 'skip' },
  },
  { type: 'data_condition', config: { condition }, stored: { condition, on: ['created', 'updated'] } },
  { type: 'event', config: { event: 'run.failed' }, stored: { event: 'run.failed' } },
  { type: 'manual', config: {}, stored: {} },
];

test('a trigger of each type is created with its defaults, and its record has every field', async () => {
  const { client, id: organizationId } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, {});
  const seen = new Set<string>();
  for (const { type, config, stored } of kinds) {
    const created = await create(client, workflowId, { type, config });
    expect(created).toEqual({
      id: expect.any(Number),
      uuid: expect.stringMatching(uuid),
      organization_id: organizationId,
      automation_workflow_id: workflowId,
      type,
      name: type,
      config: stored,
      warnings: [],
      state: 'active',
      ...(type === 'webhook' ? { webhook_url: `https://service.test/api/v1/automation-workflows/webhook/${created.uuid}` } : {}),
      next_fire_at: type === 'schedule' ? expect.stringMatching(timestamp) : null,
      last_fired_at: null,
      fire_count: 0,
      last_error: null,
      created_at: expect.stringMatching(timestamp),
      updated_at: expect.stringMatching(timestamp),
    });
    seen.add(created.uuid);
  }
  expect(seen.size).toBe(kinds.length);
  const list = await client.get(`${triggers(workflowId)}/`);
  expect(list.body).toMatchObject({ total: 6, limit: 50, offset: 0, next_cursor: null });
  expect(list.body.triggers.map(({ type }: { type: string }) => type)).toEqual(kinds.map(({ type }) => type).toReversed());
});

test('an invalid config is a 422 that names the place', async () => {
  const { client } = await newOrganization();
  const other = await newOrganization();
  const theirList = (await other.client.post('/contacts/lists', { name: 'Theirs' })).body.id;
  const workflowId = await draft(client);
  const refused = async (body: unknown, loc: string, word: RegExp = /./) => {
    const answer = await client.post(triggers(workflowId), body);
    expect(answer.status, JSON.stringify(body)).toBe(422);
    const issue = answer.body.detail.find((one: { loc: string[] }) => one.loc.join('.') === loc);
    expect(issue, `${loc} in ${JSON.stringify(answer.body.detail)}`).toBeDefined();
    expect(issue.msg).toMatch(word);
  };
  await refused({}, 'body.type');
  await refused({ type: 'sometimes' }, 'body.type');
  await refused({ type: 'manual', config: [] }, 'body.config');
  await refused({ type: 'manual', config: { context_schema: { type: 'strang' } } }, 'body.config.context_schema.type');
  await refused({ type: 'contact_event', config: {} }, 'body.config.event_types');
  await refused({ type: 'contact_event', config: { event_types: [''] } }, 'body.config.event_types.0');
  await refused(
    { type: 'contact_event', config: { event_type: 'x', filter: { field: 'a', operator: 'matches' } } },
    'body.config.filter.operator',
    /matches.*allowed/,
  );
  await refused({ type: 'contact_event', config: { event_type: 'x', entry_key: '{{ data.id' } }, 'body.config.entry_key');
  await refused({ type: 'schedule', config: {} }, 'body.config.cron');
  await refused({ type: 'schedule', config: { cron: '99 * * * *' } }, 'body.config.cron', /minute.*"99"/);
  await refused({ type: 'schedule', config: { cron: '0 9 * *' } }, 'body.config.cron', /4 fields/);
  await refused({ type: 'schedule', config: { cron: '0 9 30 2 *' } }, 'body.config.cron', /never comes due/);
  await refused({ type: 'schedule', config: { cron: '0 9 * * *', timezone: 'Mars/Base' } }, 'body.config.timezone', /Mars\/Base/);
  await refused(
    { type: 'schedule', config: { cron: '0 9 * * *', audience: { list_id: theirList } } },
    'body.config.audience.list_id',
    /no contact list/,
  );
  await refused({ type: 'schedule', config: { cron: '0 9 * * *', audience: { list_id: 1e15 } } }, 'body.config.audience.list_id');
  await refused({ type: 'data_condition', config: { on: ['created'] } }, 'body.config.condition');
  await refused({ type: 'data_condition', config: { condition, on: ['deleted'] } }, 'body.config.on.0');
  await refused({ type: 'event', config: { event: 'contact.exploded' } }, 'body.config.event');
  await refused({ type: 'webhook', config: { auth: { type: 'magic' } } }, 'body.config.auth.type');
  await refused({ type: 'webhook', config: { auth: { type: 'hmac_sha256', header: 'X-Signature' } } }, 'body.config.auth.secret');
  await refused(
    { type: 'webhook', config: { auth: { type: 'hmac_sha256', header: 'X Signature', secret: 's' } } },
    'body.config.auth.header',
  );
  await refused({ type: 'webhook', config: { auth: { type: 'standard_webhooks', secret: 'not base64!' } } }, 'body.config.auth.secret');
  await refused({ type: 'webhook', config: { mapping: { phone: 'a..b' } } }, 'body.config.mapping.phone');
  await refused({ type: 'webhook', config: { delivery_id: '$.a..b' } }, 'body.config.delivery_id');
  expect((await client.get(triggers(workflowId))).body.total).toBe(0);
});

test('PATCH changes name, config and state, each without the others', async () => {
  const { client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, {});
  const { id, uuid: address } = await create(client, workflowId, { type: 'contact_event', config: { event_types: ['a', 'b'] } });
  expect((await client.patch(trigger(id), { name: 'Orders' })).body).toMatchObject({ name: 'Orders', config: { event_types: ['a', 'b'] } });
  expect((await client.patch(trigger(id), { state: 'paused' })).body).toMatchObject({ name: 'Orders', state: 'paused' });
  expect((await client.patch(trigger(id), { config: { event_types: ['c'] } })).body).toMatchObject({
    state: 'paused',
    config: { event_types: ['c'] },
    uuid: address,
  });
  expect((await client.patch(`${trigger(id)}/`, { state: 'active' })).body.state).toBe('active');
  for (const event_type of ['a', 'c']) await client.post('/events', { event_type });
  expect((await waitForEndedRuns(client, workflowId, 1))[0].trigger_id).toBe(id);
  for (const [body, loc] of [
    [{ state: 'sideways' }, 'state'],
    [{ state: 'archived' }, 'state'],
    [{ name: '' }, 'name'],
    [{ config: { event_types: [] } }, 'config'],
  ] as const) {
    const answer = await client.patch(trigger(id), body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0].loc[1]).toBe(loc);
  }
});

test('a trigger that is paused or renamed keeps its secret, even when its config names a record that is gone', async () => {
  const { client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, {});
  const config = { auth: { type: 'header_token', header: 'X-Token', token: 'the-very-token' } };
  const hook = await create(client, workflowId, { type: 'webhook', config });
  await client.patch(trigger(hook.id), { name: 'Shop' });
  await client.patch(trigger(hook.id), { state: 'paused' });
  const shown = (await client.patch(trigger(hook.id), { state: 'active' })).body.config;
  expect(shown.auth).toEqual({ type: 'header_token', header: 'X-Token', token: '****' });
  const send = async (token: string) => (await client.post(`/automation-workflows/webhook/${hook.uuid}`, {}, { 'X-Token': token })).status;
  expect([await send('the-very-token'), await send('****')]).toEqual([202, 401]);
  await client.patch(trigger(hook.id), { config: shown });
  expect(await send('the-very-token')).toBe(202);

  const list = (await client.post('/contacts/lists', { name: 'Members' })).body.id;
  const schedule = await create(client, workflowId, { type: 'schedule', config: { cron: '0 9 * * *', audience: { list_id: list } } });
  await client.delete(`/contacts/lists/${list}`);
  expect((await client.patch(trigger(schedule.id), { state: 'paused' })).body).toMatchObject({ state: 'paused', next_fire_at: null });
});

test('DELETE archives a trigger for good: it leaves the list, stays readable by status, and cannot be changed', async () => {
  const { client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, {});
  const { id } = await create(client, workflowId, { type: 'schedule', name: 'Nightly', config: { cron: '0 3 * * *' } });
  expect(await client.delete(trigger(id))).toMatchObject({ status: 200, body: { id, state: 'archived', next_fire_at: null } });
  expect(await client.delete(`${trigger(id)}/`)).toMatchObject({ status: 200, body: { state: 'archived' } });
  expect((await client.get(triggers(workflowId))).body.total).toBe(0);
  expect((await client.get(`${triggers(workflowId)}?status=archived&search=NIGHT`)).body).toMatchObject({ total: 1, triggers: [{ id }] });
  const patched = await client.patch(trigger(id), { state: 'active' });
  expect(patched.status).toBe(409);
  expect(patched.body.detail).toContain('archived');
  const { results } = await env.DB.prepare('SELECT * FROM trigger_topic WHERE trigger_id = ?').bind(id).all();
  expect(results).toEqual([]);
});

test('an archived workflow gets no new triggers', async () => {
  const { client } = await newOrganization();
  const workflowId = await draft(client);
  await client.delete(`/automation-workflows/${workflowId}`);
  expect((await client.post(triggers(workflowId), { type: 'manual' })).status).toBe(409);
});

test('a schedule is due only while it and its workflow are active', async () => {
  const { client } = await newOrganization();
  const workflowId = await draft(client);
  const { id, next_fire_at } = await create(client, workflowId, { type: 'schedule', config: { cron: '0 9 * * *' } });
  expect(next_fire_at).toBeNull();
  const due = async () => (await client.get(triggers(workflowId))).body.triggers[0].next_fire_at !== null;
  const steps: [() => Promise<unknown>, boolean][] = [
    [() => client.patch(`/automation-workflows/${workflowId}`, { status: 'active' }), true],
    [() => client.patch(trigger(id), { state: 'paused' }), false],
    [() => client.patch(trigger(id), { config: { cron: '0 10 * * *' } }), false],
    [() => client.patch(`/automation-workflows/${workflowId}`, { status: 'paused' }), false],
    [() => client.patch(trigger(id), { state: 'active' }), false],
    [() => client.patch(`/automation-workflows/${workflowId}`, { status: 'active' }), true],
    [() => client.delete(`/automation-workflows/${workflowId}`), false],
    [() => client.patch(`/automation-workflows/${workflowId}`, { status: 'draft' }), false],
  ];
  for (const [index, [step, isDue]] of steps.entries()) {
    await step();
    expect(await due(), `step ${index}`).toBe(isDue);
  }
});

test('a schedule that is added during the activation of its workflow is due, whichever comes first', async () => {
  const { client } = await newOrganization();
  for (let round = 0; round < 5; round++) {
    const workflowId = await draft(client);
    await Promise.all([
      client.patch(`/automation-workflows/${workflowId}`, { status: 'active' }),
      ...['0 9 * * *', '0 10 * * *'].map((cron) => client.post(triggers(workflowId), { type: 'schedule', config: { cron } })),
    ]);
    const { body } = await client.get(triggers(workflowId));
    expect(body.triggers.map((one: { next_fire_at: string | null }) => one.next_fire_at !== null)).toEqual([true, true]);
  }
});

test('trigger-meta describes the six types, and a run finds every name of the samples', async () => {
  const { client } = await newOrganization();
  const workflowId = await draft(client);
  await client.post('/events', { event_type: 'cart_added' });
  const { status, body } = await client.get(`/automation-workflows/${workflowId}/trigger-meta/`);
  expect(status).toBe(200);
  expect(body.trigger_types.map(({ type }: { type: string }) => type).toSorted()).toEqual(kinds.map(({ type }) => type).toSorted());
  for (const type of body.trigger_types) {
    expect(type.config_schema).toMatchObject({ type: 'object' });
    expect(typeof type.label).toBe('string');
    expect(typeof type.description).toBe('string');
    expect(typeof type.sample_context).toBe('object');
  }
  expect(body.event_types_seen).toEqual(['cart_added']);
  expect(body.internal_events).toContain('run.completed');
  expect(body.webhook_url_template).toBe('https://service.test/api/v1/automation-workflows/webhook/{trigger_uuid}');
});

test('fire starts one run without contact, or one for each contact, with the context', async () => {
  const { client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, {
    definition: chain({ id: 'greet', type: 'set_context', data: { assign: { text: '{{ greeting }} {{ contact.first_name }}' } } }),
  });
  const { id } = await create(client, workflowId, { type: 'manual' });
  const fire = (body?: unknown) => client.post(`${triggers(workflowId)}/${id}/fire`, body);
  const alone = await fire();
  expect(alone).toMatchObject({
    status: 200,
    body: { triggered: 1, runs: [{ state: 'running', trigger_id: id, contact_id: null, initial_context: {} }] },
  });
  const ids: number[] = [];
  for (const first_name of ['Ada', 'Bob', 'Cleo']) ids.push((await client.post('/contacts', { phone: newPhone(), first_name })).body.id);
  const fired = await fire({ context: { greeting: 'Hello' }, contact_ids: [...ids, ids[0]] });
  expect(fired.body.triggered).toBe(3);
  expect(fired.body.runs.map((run: { contact_id: number }) => run.contact_id)).toEqual(ids);
  expect((await fire({ contact_ids: [] })).body).toEqual({ triggered: 0, runs: [], refused: [] });
  const runs = await waitForEndedRuns(client, workflowId, 4);
  expect(runs.map((run) => run.context.text).toSorted()).toEqual([' ', 'Hello Ada', 'Hello Bob', 'Hello Cleo']);
  expect(runs.map((run) => run.entry_key).toSorted()).toEqual([...ids.map(String), null].toSorted());
  expect((await client.get(triggers(workflowId))).body.triggers[0]).toMatchObject({
    fire_count: 4,
    last_fired_at: expect.stringMatching(timestamp),
  });
});

test('an invalid firing is refused, and nothing starts', async () => {
  const { client } = await newOrganization();
  const other = await newOrganization();
  const schema = { type: 'object', required: ['total'] };
  const workflowId = await createActiveWorkflow(client, { context_schema: schema });
  const elsewhere = await createActiveWorkflow(client, {});
  const own = { type: 'object', properties: { total: { type: 'number' } } };
  const manual = await create(client, workflowId, { type: 'manual', config: { context_schema: own } });
  const hook = await create(client, workflowId, { type: 'webhook' });
  const theirs = (await other.client.post('/contacts', { phone: newPhone() })).body.id;
  const fire = (body: unknown, triggerId = manual.id, of = workflowId) => client.post(`${triggers(of)}/${triggerId}/fire`, body);
  const context = { total: 1 };
  expect(await fire({ context }, hook.id)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('only a manual trigger') },
  });
  expect((await fire({ context }, manual.id, elsewhere)).status).toBe(404);
  expect((await fire({ context }, 987_654_321)).status).toBe(404);
  expect((await fire({ context, contact_ids: [theirs] })).body.detail).toBe(`Contact ${theirs} not found`);
  expect((await fire({ context, contact_ids: [theirs] })).status).toBe(404);
  expect((await fire({ context, contact_ids: Array.from({ length: 101 }, (_, index) => index + 1) })).status).toBe(422);
  expect((await fire({ context, contact_ids: ['x'] })).body.detail[0].loc).toEqual(['body', 'contact_ids', '0']);
  expect((await fire({ context: {} })).body.detail[0].loc).toEqual(['body', 'context', 'total']);
  expect((await fire({ context: { total: 'x' } })).body.detail[0].loc).toEqual(['body', 'context', 'total']);
  await client.patch(trigger(manual.id), { state: 'paused' });
  expect(await fire({ context })).toMatchObject({ status: 409, body: { detail: expect.stringContaining('trigger is paused') } });
  await client.patch(trigger(manual.id), { state: 'active' });
  await client.patch(`/automation-workflows/${workflowId}`, { status: 'paused' });
  expect(await fire({ context })).toMatchObject({ status: 409, body: { detail: expect.stringContaining('workflow is paused') } });
  expect((await client.get(`/automation-workflows/${workflowId}/runs`)).body.total).toBe(0);
});

test('a hundred contacts are fired with a long context in any script', { tags: 'soak' }, async () => {
  const { client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, {});
  const { id } = await create(client, workflowId, { type: 'manual' });
  const contacts = Array.from({ length: 100 }, () => ({ phone: newPhone() }));
  const { body } = await client.post('/contacts/bulk-upsert', { list_name: 'Members', contacts });
  const contact_ids = body.contacts.map((contact: { id: number }) => contact.id);
  const fired = await client.post(`${triggers(workflowId)}/${id}/fire`, { context: { text: '你'.repeat(20_000) }, contact_ids });
  expect(fired).toMatchObject({ status: 200, body: { triggered: 100 } });
  expect((await waitForEndedRuns(client, workflowId, 100)).length).toBe(50);
});

test('an event that fits several triggers of one workflow starts one run for each, and counts at each', async () => {
  const { client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, {});
  const ids: number[] = [];
  for (const event_types of [['ordered'], ['ordered', 'paid']])
    ids.push((await create(client, workflowId, { type: 'contact_event', config: { event_types } })).id);
  const { body } = await client.post('/events', { event_type: 'ordered', phone: newPhone(), data: { total: 1 } });
  const runs = await waitForEndedRuns(client, workflowId, 2);
  expect(runs.map((run) => run.trigger_id).toSorted()).toEqual(ids.toSorted());
  for (const run of runs) expect(run).toMatchObject({ contact_id: body.contact_id, entry_key: String(body.contact_id) });
  for (const one of (await client.get(triggers(workflowId))).body.triggers) expect(one.fire_count).toBe(1);
});

test('a filter that cannot be evaluated is noted at its trigger, and other triggers go on', async () => {
  const { client } = await newOrganization();
  const faulty = await createActiveWorkflow(client, {
    trigger: {
      type: 'contact_event',
      config: { event_type: 'ordered', filter: { field: 'data.hour', operator: 'eq', value: '{{ now | date: "%H", data.zone }}' } },
    },
  });
  const sound = await createActiveWorkflow(client, { trigger: { type: 'contact_event', config: { event_type: 'ordered' } } });
  await client.post('/events', { event_type: 'ordered', data: { hour: '10', zone: 'Mars/Base' } });
  await waitForEndedRuns(client, sound, 1);
  await vi.waitFor(async () =>
    expect((await client.get(triggers(faulty))).body.triggers[0].last_error).toContain('unknown time zone "Mars/Base"'),
  );
  expect((await client.get(`/automation-workflows/${faulty}/runs`)).body.total).toBe(0);
});

test('a triggered run whose context does not fit is recorded as failed, and the sender gets its 201', async () => {
  const { client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, {
    trigger: { type: 'contact_event', config: { event_type: 'ordered' } },
    context_schema: { type: 'object', required: ['total'], properties: { total: { type: 'number' } } },
  });
  expect((await client.post('/events', { event_type: 'ordered', data: { total: 'many' } })).status).toBe(201);
  const [run] = await waitForEndedRuns(client, workflowId, 1);
  expect(run).toMatchObject({
    state: 'failed',
    error: { type: 'context_invalid', node_id: null, message: expect.stringContaining('context.total') },
  });
  expect(run.completed_at).toMatch(timestamp);
  expect((await client.get(`/automation-workflows/runs/${run.id}`)).body).toEqual(run);
  expect((await client.get(`/automation-workflows/runs/${run.id}/history`)).body).toMatchObject({ history: [], total: 0 });
  expect((await client.get(`/automation-workflows/${workflowId}`)).body).toMatchObject({ runs_count: 1, active_runs_count: 0 });
});

test('a context with a thousand faults is one failed run that tells the first of them', async () => {
  const { client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, {
    trigger: { type: 'contact_event', config: { event_type: 'ordered' } },
    context_schema: { type: 'object', properties: { items: { type: 'array', items: { type: 'number' } } } },
  });
  await client.post('/events', { event_type: 'ordered', data: { items: Array.from({ length: 40_000 }, () => 'x') } });
  const [run] = await waitForEndedRuns(client, workflowId, 1);
  expect(run.error.message).toMatch(/context\.items\.0: .*; and at least 980 more$/);
});

test("a trigger's own entry key goes before the workflow's, and without contact the event is the key", async () => {
  const { client } = await newOrganization();
  const settings = { entry_key: '{{ data.order }}' };
  const keyed = await createActiveWorkflow(client, {
    trigger: { type: 'contact_event', config: { event_type: 'ordered', entry_key: 'order-{{ data.order }}' } },
    settings,
  });
  const byWorkflow = await createActiveWorkflow(client, {
    trigger: { type: 'contact_event', config: { event_type: 'ordered' } },
    settings,
  });
  const plain = await createActiveWorkflow(client, { trigger: { type: 'contact_event', config: { event_type: 'ordered' } } });
  const { body } = await client.post('/events', { event_type: 'ordered', data: { order: 'A-17' } });
  const keyOf = async (id: number) => (await waitForEndedRuns(client, id))[0].entry_key;
  expect([await keyOf(keyed), await keyOf(byWorkflow), await keyOf(plain)]).toEqual(['order-A-17', 'A-17', String(body.event_id)]);
});

test('GET shows the run that fire has started', async () => {
  const { client } = await newOrganization();
  const workflowId = await createActiveWorkflow(client, { definition: chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } }) });
  const { id } = await create(client, workflowId, { type: 'manual' });
  const { body } = await client.post(`${triggers(workflowId)}/${id}/fire`, {});
  expect((await waitForRunState(client, body.runs[0].id, 'waiting')).current_node_id).toBe('nap');
});
