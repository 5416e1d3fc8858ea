import { exports } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { dropQueueMessages } from '../support/background.ts';
import { createActiveWorkflow, chain, waitForEndedRuns, waitForRunState } from '../support/journeys.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';
import { recordedClient, rowsWritten } from '../support/recorded-database.ts';

afterEach(() => vi.restoreAllMocks());

const nap = chain({ id: 'nap', type: 'wait', data: { duration: 'P7D' } });
const onOrder = (config: Record<string, unknown> = {}) => ({ type: 'contact_event', config: { event_types: ['order_placed'], ...config } });
const large = { field: 'data.total', operator: 'gt', value: 100 };
const gold = { field: 'contact.custom_fields.tier', operator: 'eq', value: 'gold' };

async function newContact(client: Client, more: Record<string, unknown> = {}) {
  const phone = newPhone();
  return { phone, id: (await client.post('/contacts', { phone, ...more })).body.id as number };
}

async function explained(client: Client, workflow: number, contact: number) {
  const { status, body } = await client.get(`/automation-workflows/${workflow}/explain?contact_id=${contact}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

const ruleOf = (checks: any[], rule: string) => checks.find((check) => check.rule === rule);

/** Sends a webhook to the trigger and answers the id of the delivery. */
async function sendTo(url: string, body: unknown): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await exports.default.fetch(new Request(url, { method: 'POST', body: JSON.stringify(body), headers }));
  expect(response.status).toBe(202);
  return ((await response.json()) as { delivery_id: string }).delivery_id;
}

describe('the answer for a contact', () => {
  test('names a trigger that nothing stops, and the contact then enters', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: { ...onOrder(), name: 'Orders' } });
    const contact = await newContact(client);
    const before = await explained(client, workflow, contact.id);
    const [{ trigger_id }] = before.triggers;
    expect(before).toEqual({
      automation_workflow_id: workflow,
      contact_id: contact.id,
      would_enter: true,
      summary: `Would enter by trigger ${trigger_id} "Orders" (contact_event) when an event order_placed of the contact comes`,
      stopped_by: null,
      entry_key: String(contact.id),
      workflow_checks: [{ rule: 'status', passed: true, message: 'The workflow is active', expected: 'active', actual: 'active' }],
      triggers: [
        {
          trigger_id,
          type: 'contact_event',
          name: 'Orders',
          state: 'active',
          would_fire: true,
          when: 'when an event order_placed of the contact comes; no such event of this contact yet',
          entry_key: String(contact.id),
          checks: [{ rule: 'status', passed: true, message: 'The trigger is active', expected: 'active', actual: 'active' }],
        },
      ],
    });
    await client.post('/events', { event_type: 'order_placed', phone: contact.phone });
    const [run] = await waitForEndedRuns(client, workflow);
    expect(run).toMatchObject({ contact_id: contact.id, entry_key: before.entry_key });
  });

  test('names the first trigger that fires, past those that do not', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: onOrder({ filter: gold }) });
    const manual = (await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'manual', name: 'Button' })).body;
    const contact = await newContact(client);
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: true, stopped_by: null });
    expect(answer.summary).toBe(
      `Would enter by trigger ${manual.id} "Button" (manual) when it is fired for the contact: POST /automation-workflows/${workflow}/triggers/${manual.id}/fire`,
    );
    expect(answer.triggers.map((trigger: any) => trigger.would_fire)).toEqual([false, true]);
  });

  test('changes nothing', async () => {
    const { client: plain, key } = await newOrganization();
    const workflow = await createActiveWorkflow(plain, { trigger: onOrder({ filter: large }), settings: { reentry: { mode: 'never' } } });
    const contact = await newContact(plain);
    await plain.post('/events', { event_type: 'order_placed', phone: contact.phone });
    const { client, recording } = recordedClient(key);
    await explained(client, workflow, contact.id);
    expect(rowsWritten(recording)).toBe(0);
    expect(recording.calls).toBeLessThanOrEqual(8);
  });
});

describe('rules of the workflow', () => {
  test('no trigger', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, {});
    const contact = await newContact(client);
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'no_trigger', entry_key: null, triggers: [] });
    expect(answer.summary).toContain('has no trigger');
    expect(ruleOf(answer.workflow_checks, 'no_trigger').passed).toBe(false);
  });

  test('an archived trigger does not count', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: onOrder() });
    const contact = await newContact(client);
    const [trigger] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
    await client.delete(`/automation-workflows/triggers/${trigger.id}`);
    expect(await explained(client, workflow, contact.id)).toMatchObject({ would_enter: false, stopped_by: 'no_trigger' });
  });

  test.each(['draft', 'paused', 'archived'])('status %s', async (status) => {
    const { client } = await newOrganization();
    const contact = await newContact(client);
    const created = (await client.post('/automation-workflows', { name: 'J', definition: chain(), trigger: onOrder() })).body.id;
    if (status !== 'draft') await client.patch(`/automation-workflows/${created}`, { status: 'active' });
    if (status === 'paused') await client.patch(`/automation-workflows/${created}`, { status });
    if (status === 'archived') await client.delete(`/automation-workflows/${created}`);
    const answer = await explained(client, created, contact.id);
    expect(answer).toMatchObject({
      would_enter: false,
      stopped_by: 'status',
      summary: `The workflow is ${status}; only an active one starts runs`,
      workflow_checks: [{ rule: 'status', passed: false, expected: 'active', actual: status }],
    });
    for (const trigger of answer.triggers) {
      expect(trigger.would_fire).toBe(false);
      expect(trigger.checks[0]).toMatchObject({ rule: 'status', passed: true });
    }
  });

  test('a paused trigger', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: onOrder() });
    const contact = await newContact(client);
    const [trigger] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
    await client.patch(`/automation-workflows/triggers/${trigger.id}`, { state: 'paused' });
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'status' });
    expect(answer.summary).toContain(`trigger ${trigger.id}`);
    expect(answer.workflow_checks[0]).toMatchObject({ rule: 'status', passed: true });
    expect(answer.triggers[0]).toMatchObject({ state: 'paused', would_fire: false });
    expect(answer.triggers[0].checks[0]).toMatchObject({ rule: 'status', passed: false, expected: 'active', actual: 'paused' });
  });

  test('max_active_runs: a triggered run waits for its turn, a firing by hand is refused', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: onOrder(), definition: nap, settings: { max_active_runs: 1 } });
    const at = `/automation-workflows/${workflow}`;
    const manual = (await client.post(`${at}/triggers`, { type: 'manual' })).body.id;
    const contact = await newContact(client);
    expect((await explained(client, workflow, contact.id)).triggers.map((one: any) => one.would_fire)).toEqual([true, true]);
    expect((await client.post(`${at}/execute`, {})).status).toBe(200);
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: true, stopped_by: null });
    expect(answer.summary).toContain('and wait for its turn: 1 runs are active and settings.max_active_runs is 1');
    expect(ruleOf(answer.workflow_checks, 'max_active_runs')).toMatchObject({ passed: false, expected: 1, actual: 1 });
    expect(answer.triggers.map((one: any) => one.would_fire)).toEqual([true, false]);
    expect(ruleOf(answer.triggers[1].checks, 'max_active_runs')).toMatchObject({ passed: false, message: expect.stringContaining('409') });
    expect((await client.post(`${at}/triggers/${manual}/fire`, { contact_ids: [contact.id] })).status).toBe(409);
    await client.post('/events', { event_type: 'order_placed', phone: contact.phone });
    await vi.waitFor(async () =>
      expect((await client.get(`${at}/runs?contact_id=${contact.id}`)).body.runs).toEqual([
        expect.objectContaining({ state: 'queued', hold: 'max_active' }),
      ]),
    );
  });

  test('reentry never, and after a time, with the moment of the entry', async () => {
    const { client } = await newOrganization();
    for (const [reentry, words] of [
      [{ mode: 'never' }, 'once only'],
      [{ mode: 'after', after: 'P7D' }, 'may enter again from'],
    ] as const) {
      const workflow = await createActiveWorkflow(client, { trigger: onOrder(), settings: { reentry } });
      const contact = await newContact(client);
      const free = await explained(client, workflow, contact.id);
      expect(free.would_enter).toBe(true);
      expect(ruleOf(free.triggers[0].checks, 'reentry')).toMatchObject({ passed: true, actual: null });
      const run = (await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact.id })).body;
      const answer = await explained(client, workflow, contact.id);
      expect(answer).toMatchObject({ would_enter: false, stopped_by: 'reentry', entry_key: String(contact.id) });
      expect(answer.summary).toContain(words);
      expect(ruleOf(answer.triggers[0].checks, 'reentry')).toMatchObject({
        passed: false,
        expected: reentry,
        actual: { entered_at: run.created_at, run_id: run.id },
      });
    }
  });

  test('reentry counts entries from before there was the rule', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: onOrder() });
    const contact = await newContact(client);
    const run = (await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact.id })).body;
    expect((await explained(client, workflow, contact.id)).would_enter).toBe(true);
    await client.patch(`/automation-workflows/${workflow}`, { settings: { reentry: { mode: 'never' } } });
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'reentry' });
    expect(ruleOf(answer.triggers[0].checks, 'reentry').actual).toEqual({ entered_at: run.created_at, run_id: run.id });
  });

  test('one_live_run_per_key, with the run that is live', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: onOrder(), definition: nap, settings: { one_live_run_per_key: true } });
    const contact = await newContact(client);
    expect((await explained(client, workflow, contact.id)).would_enter).toBe(true);
    const run = (await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact.id })).body.id;
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'one_live_run_per_key' });
    expect(answer.summary).toContain(`Run ${run} with entry key "${contact.id}" is live`);
    expect(ruleOf(answer.triggers[0].checks, 'one_live_run_per_key').actual).toEqual({ run_id: run });
    await client.post(`/automation-workflows/runs/${run}/stop`);
    expect((await explained(client, workflow, contact.id)).would_enter).toBe(true);
  });

  test('the entry key of each trigger', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, {
      trigger: onOrder({ entry_key: 'order-{{ data.order_id }}' }),
      settings: { reentry: { mode: 'never' }, entry_key: 'person-{{ contact.id }}' },
    });
    await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'manual' });
    const contact = await newContact(client);
    const early = await explained(client, workflow, contact.id);
    expect(early.triggers.map((one: any) => one.entry_key)).toEqual([null, `person-${contact.id}`]);
    expect(ruleOf(early.triggers[0].checks, 'reentry')).toMatchObject({
      passed: null,
      message: 'The entry key depends on what comes: order-{{ data.order_id }}',
    });
    expect(early.triggers[0].would_fire).toBeNull();

    await client.post('/events', { event_type: 'order_placed', phone: contact.phone, data: { order_id: 17 } });
    await waitForEndedRuns(client, workflow);
    const answer = await explained(client, workflow, contact.id);
    expect(answer.triggers.map((one: any) => [one.entry_key, one.would_fire])).toEqual([
      ['order-17', false],
      [`person-${contact.id}`, true],
    ]);
    expect(answer).toMatchObject({ would_enter: true, entry_key: `person-${contact.id}` });
  });

  test('an entry key that cannot be rendered', async () => {
    const { client } = await newOrganization();
    const endless = '{% for i in (1..100000) %}{{ i }}{% endfor %}';
    const workflow = await createActiveWorkflow(client, { trigger: { type: 'manual', config: {} }, settings: { entry_key: endless } });
    const contact = await newContact(client);
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'entry_key', entry_key: null });
    expect(ruleOf(answer.triggers[0].checks, 'entry_key')).toMatchObject({ passed: false, expected: endless });
  });
});

describe('context_schema', () => {
  const context_schema = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } };

  test('is checked against the latest event, and is otherwise open with what it requires', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: onOrder(), context_schema });
    const contact = await newContact(client);
    const early = await explained(client, workflow, contact.id);
    expect(early).toMatchObject({ would_enter: false, stopped_by: 'context_schema' });
    expect(early.summary).toMatch(/^May enter .*no such event of this contact yet.*context\.total: Field required/);
    expect(early.triggers[0].would_fire).toBeNull();

    await client.post('/events', { event_type: 'order_placed', phone: contact.phone, data: { total: 'much' } });
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'context_schema' });
    expect(answer.summary).toContain('context.total: Must be number, not string');
    expect(ruleOf(answer.triggers[0].checks, 'context_schema')).toMatchObject({
      passed: false,
      expected: context_schema,
      actual: { total: 'much' },
    });

    await client.post('/events', { event_type: 'order_placed', phone: contact.phone, data: { total: 5 } });
    expect(await explained(client, workflow, contact.id)).toMatchObject({ would_enter: true, stopped_by: null });
  });

  test("is the caller's task for a firing by hand", async () => {
    const { client } = await newOrganization();
    const trigger = { type: 'manual', config: { context_schema: { type: 'object', required: ['reason'] } } };
    const workflow = await createActiveWorkflow(client, { trigger, context_schema });
    const contact = await newContact(client);
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'trigger_context_schema' });
    expect(answer.triggers[0].would_fire).toBeNull();
    const checks = answer.triggers[0].checks;
    expect(ruleOf(checks, 'context_schema')).toMatchObject({ passed: null, message: expect.stringContaining('context.total') });
    expect(ruleOf(checks, 'trigger_context_schema')).toMatchObject({ passed: null, message: expect.stringContaining('context.reason') });
  });

  test('does not stop a firing when it requires nothing', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: { type: 'manual', config: {} }, context_schema: { type: 'object' } });
    const contact = await newContact(client);
    expect(await explained(client, workflow, contact.id)).toMatchObject({ would_enter: true });
  });

  test("is checked against the context of a schedule's next firing", async () => {
    const { client } = await newOrganization();
    const contact = await newContact(client);
    const list = (await client.post('/contacts/lists', { name: 'Members' })).body.id;
    await client.post(`/contacts/lists/${list}/contacts`, { contact_ids: [contact.id] });
    const trigger = { type: 'schedule', config: { cron: '0 * * * *', audience: { list_id: list } } };
    const workflow = await createActiveWorkflow(client, { trigger, context_schema });
    expect(await explained(client, workflow, contact.id)).toMatchObject({ would_enter: false, stopped_by: 'context_schema' });
  });
});

describe('contact_event', () => {
  test('checks its filter against the latest event of its types, and shows the compared values', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, {
      trigger: { type: 'contact_event', config: { event_types: ['order_placed', 'order_paid'], filter: { all: [large, gold] } } },
    });
    const contact = await newContact(client, { custom_fields: { tier: 'gold' } });
    const send = async (event_type: string, total: number) =>
      (await client.post('/events', { event_type, phone: contact.phone, data: { total } })).body.event_id;
    await send('order_placed', 500);
    const id = await send('order_paid', 50);
    await send('other', 500);
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'filter' });
    expect(answer.summary).toMatch(
      new RegExp(`: The filter does not hold for event ${id} \\(order_paid\\) of .*: data.total is 50, the rule is gt 100$`),
    );
    expect(answer.triggers[0].when).toContain(`when an event order_placed or order_paid of the contact comes; the latest is event ${id} `);
    const check = ruleOf(answer.triggers[0].checks, 'filter');
    expect(check).toMatchObject({ passed: false, actual: { event_id: id, event_type: 'order_paid' } });
    expect(check.comparisons).toEqual([
      { field: 'data.total', operator: 'gt', expected: 100, actual: 50, result: false },
      { field: 'contact.custom_fields.tier', operator: 'eq', expected: 'gold', actual: 'gold', result: true },
    ]);
    await send('order_placed', 101);
    expect(await explained(client, workflow, contact.id)).toMatchObject({ would_enter: true, stopped_by: null });
  });

  test('has an open filter without an event, unless the contact alone decides it', async () => {
    const { client } = await newOrganization();
    const both = await createActiveWorkflow(client, { trigger: onOrder({ filter: { all: [large, gold] } }) });
    const silver = await newContact(client, { custom_fields: { tier: 'silver' } });
    const golden = await newContact(client, { custom_fields: { tier: 'gold' } });
    const open = await explained(client, both, golden.id);
    expect(open).toMatchObject({ would_enter: false, stopped_by: 'filter', triggers: [{ would_fire: null }] });
    expect(open.summary).toMatch(/^May enter .*no such event of this contact yet$/);
    expect(ruleOf(open.triggers[0].checks, 'filter')).toMatchObject({
      passed: null,
      actual: null,
      comparisons: [
        { field: 'data.total', actual: null, result: null },
        { field: 'contact.custom_fields.tier', actual: 'gold', result: true },
      ],
    });
    const decided = await explained(client, both, silver.id);
    expect(decided).toMatchObject({ would_enter: false, stopped_by: 'filter', triggers: [{ would_fire: false }] });
    expect(decided.summary).toContain('contact.custom_fields.tier is "silver", the rule is eq "gold"');
  });

  test('ignores events of other contacts', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: onOrder({ filter: large }) });
    const [one, other] = [await newContact(client), await newContact(client)];
    await client.post('/events', { event_type: 'order_placed', phone: other.phone, data: { total: 500 } });
    expect((await explained(client, workflow, one.id)).triggers[0].would_fire).toBeNull();
    expect((await explained(client, workflow, other.id)).triggers[0].would_fire).toBe(true);
  });

  test('says why the latest event started nothing, or that it is not handled yet', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: onOrder(), settings: { reentry: { mode: 'never' } } });
    const contact = await newContact(client);
    await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact.id });
    await client.post('/events', { event_type: 'order_placed', phone: contact.phone });
    await vi.waitFor(async () =>
      expect((await explained(client, workflow, contact.id)).triggers[0].when).toMatch(/\(Workflow \d+: Entry key .* once only\)$/),
    );
    dropQueueMessages();
    await client.post('/events', { event_type: 'order_placed', phone: contact.phone });
    expect((await explained(client, workflow, contact.id)).triggers[0].when).toMatch(/\(not worked off yet\)$/);
  });

  test('reads large payloads, and shows large values cut', async () => {
    const { client } = await newOrganization();
    const filter = { field: 'data.text', operator: 'starts_with', value: 'b' };
    const workflow = await createActiveWorkflow(client, { trigger: onOrder({ filter }) });
    const contact = await newContact(client);
    await client.post('/events', { event_type: 'order_placed', phone: contact.phone, data: { text: 'a'.repeat(100_000) } });
    const answer = await explained(client, workflow, contact.id);
    expect(answer.stopped_by).toBe('filter');
    expect(JSON.stringify(answer).length).toBeLessThan(20_000);
    expect(answer.summary.length).toBeLessThan(500);
    expect(ruleOf(answer.triggers[0].checks, 'filter').comparisons[0].actual._cut).toContain('100002 characters');
  });

  test('does not fire when its filter cannot be evaluated, and says so', async () => {
    const { client } = await newOrganization();
    const filter = { field: 'data.total', operator: 'eq', value: '{% for i in (1..100000) %}{{ i }}{% endfor %}' };
    const workflow = await createActiveWorkflow(client, { trigger: onOrder({ filter }) });
    const contact = await newContact(client);
    await client.post('/events', { event_type: 'order_placed', phone: contact.phone, data: { total: 5 } });
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'filter' });
    expect(answer.summary).toContain('cannot be evaluated');
  });
});

describe('webhook', () => {
  test("checks its filter against the contact's latest delivery to this trigger", async () => {
    const { client } = await newOrganization();
    const config = {
      auth: { type: 'header_token', header: 'X-Key', token: 't0k3n' },
      mapping: { phone: 'phone' },
      delivery_id: '$.id',
      filter: { field: 'webhook.body.total', operator: 'gt', value: 100 },
    };
    const workflow = await createActiveWorkflow(client, { trigger: { type: 'webhook', config: { ...config, auth: { type: 'none' } } } });
    const [hook] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;
    const guarded = (await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'webhook', config })).body;
    const [one, other] = [await newContact(client), await newContact(client)];
    const open = await explained(client, workflow, one.id);
    expect(open.triggers.map((trigger: any) => [trigger.trigger_id, trigger.would_fire])).toEqual([
      [hook.id, null],
      [guarded.id, null],
    ]);
    expect(open.summary).toContain('no delivery of this contact to this trigger among the newest ones');
    await sendTo(hook.webhook_url, { id: 'd-1', phone: one.phone, total: 500 });
    await sendTo(hook.webhook_url, { id: 'd-2', phone: one.phone, total: 5 });
    await sendTo(hook.webhook_url, { id: 'd-3', phone: other.phone, total: 500 });
    const answer = await explained(client, workflow, one.id);
    expect(answer.triggers.map((trigger: any) => trigger.would_fire)).toEqual([false, null]);
    expect(ruleOf(answer.triggers[0].checks, 'filter')).toMatchObject({
      passed: false,
      actual: { delivery_id: 'd-2' },
      comparisons: [{ field: 'webhook.body.total', operator: 'gt', expected: 100, actual: 5, result: false }],
    });
    expect(answer.triggers[0].when).toContain('the latest is delivery d-2 of');
    expect(JSON.stringify(answer)).not.toMatch(/t0k3n|sealed/);
    expect((await explained(client, workflow, other.id)).triggers[0].would_fire).toBe(true);
  });
});

describe('schedule', () => {
  const hourly = (audience?: unknown) => ({ type: 'schedule', config: { cron: '0 * * * *', ...(audience ? { audience } : {}) } });

  test('fires for members of its audience, not for others, and for nobody without an audience', async () => {
    const { client } = await newOrganization();
    const [member, other] = [await newContact(client), await newContact(client)];
    const list = (await client.post('/contacts/lists', { name: 'Members' })).body.id;
    await client.post(`/contacts/lists/${list}/contacts`, { contact_ids: [member.id] });
    const workflow = await createActiveWorkflow(client, { trigger: hourly({ list_id: list }) });
    const [trigger] = (await client.get(`/automation-workflows/${workflow}/triggers`)).body.triggers;

    const inside = await explained(client, workflow, member.id);
    expect(inside).toMatchObject({ would_enter: true, triggers: [{ would_fire: true }] });
    expect(inside.triggers[0].when).toBe(`when cron "0 * * * *" is due in UTC, next at ${trigger.next_fire_at}`);
    expect(ruleOf(inside.triggers[0].checks, 'next_fire_at')).toMatchObject({ passed: true, actual: trigger.next_fire_at });

    const outside = await explained(client, workflow, other.id);
    expect(outside).toMatchObject({ would_enter: false, stopped_by: 'audience' });
    expect(outside.summary).toContain(`not on contact list ${list} "Members"`);
    expect(ruleOf(outside.triggers[0].checks, 'audience')).toMatchObject({
      passed: false,
      expected: { list_id: list },
      actual: { is_member: false },
    });

    await client.delete(`/contacts/lists/${list}`);
    expect(await explained(client, workflow, member.id)).toMatchObject({
      stopped_by: 'audience',
      summary: expect.stringContaining('is deleted'),
    });
    const nobody = await createActiveWorkflow(client, { trigger: hourly() });
    expect(await explained(client, nobody, member.id)).toMatchObject({
      would_enter: false,
      stopped_by: 'audience',
      summary: expect.stringContaining('has no audience'),
    });
  });
});

describe('data_condition', () => {
  const watching = (on?: string[]) => ({ type: 'data_condition', config: { condition: gold, ...(on ? { on } : {}) } });

  test('does not fire for a contact that does not match, and shows the values', async () => {
    const { client } = await newOrganization();
    const workflow = await createActiveWorkflow(client, { trigger: watching() });
    const contact = await newContact(client, { custom_fields: { tier: 'silver' } });
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'condition', triggers: [{ would_fire: false }] });
    expect(ruleOf(answer.triggers[0].checks, 'condition')).toMatchObject({
      passed: false,
      comparisons: [{ field: 'contact.custom_fields.tier', operator: 'eq', expected: 'gold', actual: 'silver', result: false }],
    });
    expect(answer.triggers[0].when).toBe('when a change makes the contact match the condition that it did not match before');
  });

  test('does not fire again for a contact that matches already, until it has stopped matching', async () => {
    const { client } = await newOrganization();
    const contact = await newContact(client, { custom_fields: { tier: 'gold' } });
    const workflow = await createActiveWorkflow(client, { trigger: watching() });
    const answer = await explained(client, workflow, contact.id);
    expect(answer).toMatchObject({ would_enter: false, stopped_by: 'change' });
    expect(answer.summary).toContain('not again until the contact has stopped matching');
    expect(ruleOf(answer.triggers[0].checks, 'condition').passed).toBe(true);
  });

  test('on created does not fire for a contact that exists', async () => {
    const { client } = await newOrganization();
    const contact = await newContact(client, { custom_fields: { tier: 'gold' } });
    const workflow = await createActiveWorkflow(client, { trigger: watching(['created']) });
    expect(await explained(client, workflow, contact.id)).toMatchObject({
      stopped_by: 'change',
      summary: expect.stringContaining('It watches contacts that are created'),
    });
  });
});

describe('event', () => {
  const reported = (event: string, filter?: unknown) => ({ type: 'event', config: { event, ...(filter ? { filter } : {}) } });

  test('fires without a filter, and is open with a filter on more than the contact', async () => {
    const { client } = await newOrganization();
    const silver = await newContact(client, { custom_fields: { tier: 'silver' } });
    const golden = await newContact(client, { custom_fields: { tier: 'gold' } });
    const plain = await createActiveWorkflow(client, { trigger: reported('contact.updated') });
    expect(await explained(client, plain, silver.id)).toMatchObject({
      would_enter: true,
      triggers: [{ when: 'when the service reports contact.updated of the contact' }],
    });
    const done = { field: 'data.outcome', operator: 'eq', value: 'done' };
    const filtered = await createActiveWorkflow(client, { trigger: reported('run.completed', { all: [done, gold] }) });
    expect(await explained(client, filtered, silver.id)).toMatchObject({ stopped_by: 'filter', triggers: [{ would_fire: false }] });
    expect(await explained(client, filtered, golden.id)).toMatchObject({
      would_enter: false,
      stopped_by: 'filter',
      summary: expect.stringContaining('the data of run.completed are known when it is reported'),
      triggers: [{ would_fire: null }],
    });
  });

  test('does not fire for an event that happens once and has happened, or that has no contact', async () => {
    const { client } = await newOrganization();
    const contact = await newContact(client);
    for (const event of ['contact.created', 'document.processed', 'campaign.completed']) {
      const workflow = await createActiveWorkflow(client, { trigger: reported(event) });
      expect(await explained(client, workflow, contact.id)).toMatchObject({
        would_enter: false,
        stopped_by: 'event',
        summary: expect.stringContaining(event),
      });
    }
  });
});

test('several triggers that do not fire are explained by the first', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onOrder({ filter: gold }) });
  await client.post(`/automation-workflows/${workflow}/triggers`, { type: 'event', config: { event: 'contact.created' } });
  const contact = await newContact(client);
  const answer = await explained(client, workflow, contact.id);
  expect(answer.summary).toMatch(/^Would not enter by any of 2 triggers; by trigger \d+ "contact_event" \(contact_event\): The filter/);
  expect(answer.summary).toContain('contact.custom_fields.tier is missing');
});

test.each([
  ['', 'missing'],
  ['?contact_id=0', 'zero'],
  ['?contact_id=-3', 'negative'],
  ['?contact_id=x', 'a word'],
  ['?contact_id=1.5', 'a fraction'],
])('a contact_id that is no positive integer is refused by name: %s', async (query) => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onOrder() });
  const { status, body } = await client.get(`/automation-workflows/${workflow}/explain${query}`);
  expect(status).toBe(422);
  expect(body.detail[0].loc).toEqual(['query', 'contact_id']);
});

test('a workflow or contact of another organization is a 404, like an unknown one', async () => {
  const [mine, theirs] = [await newOrganization(), await newOrganization()];
  const workflows = [
    await createActiveWorkflow(mine.client, { trigger: onOrder() }),
    await createActiveWorkflow(theirs.client, { trigger: onOrder() }),
  ];
  const contacts = [await newContact(mine.client), await newContact(theirs.client)];
  const ask = (workflow: number, contact: number) => mine.client.get(`/automation-workflows/${workflow}/explain?contact_id=${contact}`);
  const none = 9_000_000_000_000_000;
  for (const [foreign, absent] of [
    [await ask(workflows[1]!, contacts[0]!.id), await ask(none, contacts[0]!.id)],
    [await ask(workflows[0]!, contacts[1]!.id), await ask(workflows[0]!, none)],
    [await ask(workflows[1]!, contacts[1]!.id), await ask(none, none)],
  ] as const) {
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(absent.body);
  }
  await mine.client.delete(`/contacts/${contacts[0]!.id}`);
  expect((await ask(workflows[0]!, contacts[0]!.id)).status).toBe(404);
});

test('a read key can ask, and nothing is answered without a key', async () => {
  const { client } = await newOrganization({ scopes: ['read'] });
  const path = '/automation-workflows/9000000000000000/explain?contact_id=1';
  expect((await client.get(path)).status).toBe(404);
  expect((await new Client(undefined).get(path)).status).toBe(401);
});

test('a live run does not stop a journey without such a rule', async () => {
  const { client } = await newOrganization();
  const workflow = await createActiveWorkflow(client, { trigger: onOrder(), definition: nap });
  const contact = await newContact(client);
  const run = (await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact.id })).body.id;
  await waitForRunState(client, run, 'waiting');
  expect(await explained(client, workflow, contact.id)).toMatchObject({ would_enter: true });
});
