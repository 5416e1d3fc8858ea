import { afterEach, describe, expect, test, vi } from 'vitest';
import { testEventType, webhookEventTypes, type WebhookEventType } from '../../src/webhook-endpoints/event-paths.ts';
import { eventTypes } from '../../src/webhook-endpoints/event-types.ts';
import { eventExamples } from '../../src/webhook-endpoints/event-examples.ts';
import { toPayload } from '../../src/webhook-endpoints/payload.ts';
import { insertRow } from '../support/insert-row.ts';
import { newOrganization } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { holdObjects, messagesOf, newEndpoint, path } from './endpoints.ts';

afterEach(() => vi.restoreAllMocks());

const update = (table: string, id: number, change: string) => ownRows.prepare(`UPDATE ${table} SET ${change} WHERE id = ?`).bind(id).run();

type Row = Record<string, string | number | null>;

/** What the record of a call says of the humans to whom it was handed: the first did not answer. */
const transfers = [
  {
    request: 1,
    to: '+12124560100',
    mode: 'warm',
    is_fallback: false,
    state: 'failed',
    requested_at: '2026-11-20T10:14:20.000Z',
    answered_at: null,
    seconds: null,
    reason: 'no_answer',
  },
  {
    request: 1,
    to: 'sip:desk@example.com',
    mode: 'warm',
    is_fallback: true,
    state: 'completed',
    requested_at: '2026-11-20T10:14:46.000Z',
    answered_at: '2026-11-20T10:14:51.000Z',
    seconds: 59,
    reason: null,
  },
];

/** For each type: a row before, the change that is told of, and the fields that the event must have. */
const changes: Record<string, { table: string; row: Row; change: string; data: Record<string, unknown> }> = {
  'call.completed': {
    table: 'voice_agent_run',
    row: { is_completed: 0, mode: 'twilio', call_type: 'outbound', agent_id: 3, campaign_id: 5, contact_id: 7 },
    change: "is_completed = 1, outcome = 'no_answer', completed_at = 1700000000123",
    data: {
      workflow_id: 3,
      campaign_id: 5,
      contact_id: 7,
      automation_run_id: null,
      transfers: [],
      outcome: 'no_answer',
      completed_at: '2023-11-14T22:13:20.123Z',
    },
  },
  'call.completed of a caller whom a human took': {
    table: 'voice_agent_run',
    row: { is_completed: 0, mode: 'twilio', call_type: 'inbound' },
    change: `is_completed = 1, outcome = 'completed', result = '${JSON.stringify({ gathered_context: {}, transfers })}'`,
    data: { outcome: 'completed', transfers },
  },
  'chat.completed': {
    table: 'voice_agent_run',
    row: { is_completed: 0, mode: 'textchat', call_type: 'inbound' },
    change: "is_completed = 1, outcome = 'completed'",
    data: { mode: 'textchat', outcome: 'completed' },
  },
  ...Object.fromEntries(
    ['paused', 'completed', 'failed', 'cancelled'].map((state) => [
      `campaign.${state}`,
      {
        table: 'campaign',
        row: { state: 'running', name: 'Renewals', agent_id: 3 },
        change: `state = '${state}', state_reason = 'why', total_rows = 10, completed_rows = 4`,
        data: {
          workflow_id: 3,
          name: 'Renewals',
          state,
          state_reason: 'why',
          total_rows: 10,
          completed_rows: 4,
          failed_rows: 0,
          completed_at: null,
        },
      },
    ]),
  ),
  ...Object.fromEntries(
    ['completed', 'failed', 'cancelled'].map((state) => [
      `run.${state}`,
      {
        table: 'automation_run',
        row: { state: 'running', workflow_id: 4, workflow_version: 2, contact_id: 7 },
        change: `state = '${state}', error = '{"type":"http_request_failed","message":"of +12125550100"}', completed_at = 0`,
        data: { automation_workflow_id: 4, workflow_version: 2, contact_id: 7, state, error_type: 'http_request_failed' },
      },
    ]),
  ),
  'message.failed': {
    table: 'message',
    row: { status: 'accepted', provider: 'provider_b', kind: 'text', contact_id: 7, recipient: '+12125550199' },
    change: "status = 'failed', failure_class = 'opted_out', failure_code = '131', error = '+12125550199 has opted out'",
    data: { provider: 'provider_b', contact_id: 7, failure_class: 'opted_out', failure_code: '131' },
  },
  ...Object.fromEntries(
    ['completed', 'failed'].map((status) => [
      `document.${status}`,
      {
        table: 'knowledge_document',
        row: { status: 'processing', is_active: 1, filename: 'policy.pdf' },
        change: `status = '${status}', error = 'why', total_chunks = 3`,
        data: { filename: 'policy.pdf', total_chunks: 3, processing_error: 'why' },
      },
    ]),
  ),
  'integration.disconnected': {
    table: 'integration',
    row: { is_active: 1, provider: 'sheet' },
    change: "is_active = 0, last_error = 'revoked at Google'",
    data: { provider: 'sheet', reason: 'revoked at Google', disconnected_at: null },
  },
  'test.completed': {
    table: 'test_session',
    row: { status: 'running', name: 'In a hurry' },
    change: `status = 'completed', results = '{"outcome":"passed"}'`,
    data: { name: 'In a hurry', status: 'completed', outcome: 'passed', load_test_id: null },
  },
  'test.failed': {
    table: 'test_session',
    row: { status: 'running' },
    change: "status = 'failed', error = 'why'",
    data: { status: 'failed', error: 'why' },
  },
  'trigger.failed': {
    table: 'automation_trigger',
    row: { workflow_id: 4, name: 'Large orders', type: 'contact_event', state: 'active' },
    change: "last_error = 'no such field for +12125550100'",
    data: { automation_workflow_id: 4, name: 'Large orders', trigger_type: 'contact_event' },
  },
  'record.given_up': {
    table: 'event',
    row: { event_type: 'paid', phone: '+12125550100' },
    change: "note = 'given_up: the database had no room for +12125550100', handled_at = 1",
    data: { kind: 'event' },
  },
  'load_test.completed': {
    table: 'load_test',
    row: { status: 'running', test_count: 9 },
    change: "status = 'completed', completed_at = 0",
    data: { status: 'completed', test_count: 9, completed_at: '1970-01-01T00:00:00.000Z' },
  },
};

/** The type in a name that may say more. */
const typeOf = (name: string): WebhookEventType => name.split(' ')[0] as WebhookEventType;

const shown = (row: any) => toPayload({ ...row, data: JSON.parse(row.data) }, 'https://calls.example.com');

describe.each(Object.entries(changes))('%s', (name, { table, row, change, data }) => {
  const type = typeOf(name);
  test('is recorded with the change, once, with the fields that are documented', async () => {
    holdObjects();
    const { organizationId: organization_id, id: endpoint } = await newEndpoint();
    const id = await insertRow(table, { ...row, organization_id });
    expect(await messagesOf(organization_id)).toEqual([]);
    await update(table, id, change);
    const [message, ...more] = await messagesOf(organization_id);
    expect(more).toEqual([]);
    expect(message).toMatchObject({ type, endpoint_id: endpoint, status: 'pending', tries: 0, due_at: message.created_at });
    const payload = shown(message);
    expect(payload.data).toMatchObject(data);
    expect(Object.keys(payload.data).toSorted()).toEqual([...Object.keys(eventTypes[type].data), 'record_url'].toSorted());
    expect(JSON.stringify(payload)).not.toContain('+1212555');
    // The same again is no event.
    await update(table, id, change);
    expect(await messagesOf(organization_id)).toHaveLength(1);
  });

  test('is recorded for nobody when no endpoint wants it', async () => {
    holdObjects();
    const wanted = webhookEventTypes.filter((one) => one !== type);
    const { organizationId: organization_id, id: endpoint } = await newEndpoint(wanted);
    const id = await insertRow(table, { ...row, organization_id });
    await update(table, id, change);
    expect(await messagesOf(organization_id)).toEqual([]);
    const stored = await ownRows.prepare('SELECT wake_at FROM webhook_endpoint WHERE id = ?').bind(endpoint).first();
    expect(stored).toEqual({ wake_at: null });
  });

  test('costs no written row without an endpoint', async () => {
    const { id: organization_id } = await newOrganization();
    const written = async (organization: number) => {
      const id = await insertRow(table, { ...row, organization_id: organization });
      return (await update(table, id, change)).meta;
    };
    const without = await written(organization_id);
    holdObjects();
    const { organizationId } = await newEndpoint(['suppression.added']);
    const unwanted = await written(organizationId);
    expect(await messagesOf(organization_id)).toEqual([]);
    expect(unwanted.rows_written).toBe(without.rows_written);
  });
});

test('a call that was given back undialled is no event; one whose agent has extracted a variable of that name is', async () => {
  holdObjects();
  const { organizationId: organization_id } = await newEndpoint(['call.completed']);
  const end = async (gathered: object) => {
    const id = await insertRow('voice_agent_run', { organization_id, is_completed: 0, mode: 'twilio', call_type: 'outbound' });
    await update('voice_agent_run', id, `is_completed = 1, result = '${JSON.stringify({ gathered_context: gathered })}'`);
  };
  await end({ returned: 'window_closed', extracted_variables: {} });
  expect(await messagesOf(organization_id)).toEqual([]);
  await end({ returned: 'the parcel', extracted_variables: { returned: 'the parcel' } });
  expect(await messagesOf(organization_id)).toHaveLength(1);
});

describe('events of rows that begin as ended', () => {
  test.each([
    ['run.failed', 'automation_run', { state: 'failed', error: '{"type":"plan_limit"}' }],
    ['message.failed', 'message', { status: 'failed', failure_class: 'suppressed' }],
    ['suppression.added', 'suppression', { phone: '+12125550142', reason: 'asked' }],
  ])('%s', async (type, table, row) => {
    holdObjects();
    const { organizationId: organization_id } = await newEndpoint();
    await insertRow(table, { ...row, organization_id });
    expect((await messagesOf(organization_id)).map((message) => message.type)).toEqual([type]);
  });

  test('a suppression that has ended and begins anew is told of again, a longer one is not', async () => {
    holdObjects();
    const { organizationId, client } = await newEndpoint();
    const phone = '+12125550143';
    const add = (until: number) => client.post('/contacts/suppressions', { phone, until: new Date(until).toISOString() });
    await add(Date.now() + 60_000);
    await add(Date.now() + 120_000);
    expect(await messagesOf(organizationId)).toHaveLength(1);
    await ownRows.prepare('UPDATE suppression SET until = 1, created_at = 0 WHERE organization_id = ?').bind(organizationId).run();
    const before = (await messagesOf(organizationId)).length;
    await add(Date.now() + 60_000);
    expect(await messagesOf(organizationId)).toHaveLength(before + 1);
  });

  test('a sync that fails names its connection', async () => {
    holdObjects();
    const { organizationId: organization_id } = await newEndpoint();
    const integration = await insertRow('integration', {
      organization_id,
      provider: 'sheet',
      account_id: `ca_${organization_id}`,
      is_active: 1,
    });
    const sync = await insertRow('integration_sync', { organization_id, integration_id: integration, status: 'running' });
    await update('integration_sync', sync, "status = 'failed', reason = 'the sheet was deleted'");
    const [message] = await messagesOf(organization_id);
    expect(shown(message).data).toMatchObject({
      integration_id: `ca_${organization_id}`,
      provider: 'sheet',
      sync_id: sync,
      reason: 'the sheet was deleted',
    });
  });
});

describe('what is not told', () => {
  test.each([
    ['test runs', 'automation_run', { state: 'running', is_test: 1 }, "state = 'failed'"],
    ['a campaign that goes on', 'campaign', { state: 'paused' }, "state = 'running'"],
    ['deleted documents', 'knowledge_document', { status: 'processing', is_active: 0 }, "status = 'failed'"],
    ['messages that arrive', 'message', { status: 'accepted' }, "status = 'delivered'"],
  ] as const)('%s', async (_name, table, row, change) => {
    holdObjects();
    const { organizationId: organization_id } = await newEndpoint();
    const id = await insertRow(table, { ...row, organization_id });
    await update(table, id, change);
    expect(await messagesOf(organization_id)).toEqual([]);
  });

  test('what happens while an endpoint is disabled or deleted', async () => {
    holdObjects();
    const { organizationId, client, id } = await newEndpoint();
    await ownRows.prepare("UPDATE webhook_endpoint SET status = 'disabled' WHERE id = ?").bind(id).run();
    const disabled = await messagesOf(organizationId);
    await client.post('/contacts/suppressions', { phone: '+12125550144' });
    expect(await messagesOf(organizationId)).toEqual(disabled);
    await client.delete(`${path}/${id}`);
    await client.post('/contacts/suppressions', { phone: '+12125550145' });
    expect(await messagesOf(organizationId)).toEqual(disabled);
  });
});

describe('every type', () => {
  const types = [...webhookEventTypes, testEventType] as (keyof typeof eventTypes)[];
  const [page] = Object.values(import.meta.glob('../../docs/webhooks.md', { query: '?raw', import: 'default', eager: true })) as [string];

  test.each(types)('%s has an example that fits its fields, and a row in the docs', (type) => {
    const { data } = eventTypes[type];
    const payload = toPayload({ type, data: eventExamples[type], created_at: 0 }, '');
    expect(Object.keys(payload.data).toSorted()).toEqual([...Object.keys(data), 'record_url'].toSorted());
    for (const [name, schema] of Object.entries(data)) expect(schema.safeParse(payload.data[name]), name).toMatchObject({ success: true });
    expect(payload.data.record_url).toMatch(/^\/api\/v1\/[^{}]+$/);
    expect(page).toContain(`\`${type}\``);
  });
});

test('deliveries, firings and cleanups that are given up name their kind and id, and a retry that is given up is told again', async () => {
  holdObjects();
  const { organizationId: organization_id } = await newEndpoint(['record.given_up']);
  const ids: string[] = [];
  for (const [table, kind, row] of [
    ['webhook_delivery', 'delivery', {}],
    ['cleanup', 'cleanup', { kind: 'run_ended' }],
  ] as const) {
    const id = await insertRow(table, { ...row, organization_id });
    await update(table, id, "note = 'given_up: why'");
    await update(table, id, 'note = NULL');
    await update(table, id, "note = 'given_up: why'");
    ids.push(`${kind}:${id}`, `${kind}:${id}`);
  }
  const trigger_id = 4_000_000 + organization_id;
  await insertRow('schedule_fire', { organization_id, trigger_id, scheduled_at: 77 });
  await ownRows.prepare("UPDATE schedule_fire SET note = 'given_up: why' WHERE trigger_id = ?").bind(trigger_id).run();
  ids.push(`schedule_fire:${trigger_id}:77`);
  const told = (await messagesOf(organization_id)).map((message: any) => JSON.parse(message.data));
  expect(told.map(({ kind, record_id }: any) => `${kind}:${record_id}`)).toEqual(ids);
});
