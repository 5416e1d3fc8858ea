import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import reminder from '../../examples/agents/appointment-reminder.json' with { type: 'json' };
import customer from '../../examples/agents/willing-customer.json' with { type: 'json' };
import { Service } from './service.ts';

const journey = {
  name: 'Thank large orders',
  definition: {
    nodes: [
      { id: 'start', type: 'trigger', data: {} },
      { id: 'large', type: 'condition', data: { condition: { field: 'event.data.total', operator: 'gte', value: 100 } } },
      { id: 'rest', type: 'wait', data: { duration: 'P2D' } },
      { id: 'tag', type: 'update_contact', data: { set: {}, add_tags: ['large-order'] } },
    ],
    edges: [
      { id: 'e1', source: 'start', target: 'large' },
      { id: 'e2', source: 'large', target: 'rest', source_handle: 'true' },
      { id: 'e3', source: 'rest', target: 'tag' },
    ],
  },
  trigger: { type: 'contact_event', config: { event_type: 'large_order_check' } },
};

let service: Service;
let assistant: Client;

beforeAll(async () => {
  service = await Service.create();
  await service.start();
  const { api_key } = await service.credentials();
  assistant = new Client({ name: 'assistant', version: '1.0.0' });
  await assistant.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${service.port}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${api_key}` } },
    }),
  );
});

afterAll(async () => {
  await assistant?.close();
  await service?.remove();
});

const textOf = (result: { content: unknown }): string => (result.content as { text: string }[])[0]!.text;

/** Calls a tool; the call must succeed. Returns the tool's result. */
async function use(name: string, given: Record<string, unknown> = {}): Promise<any> {
  const result = await assistant.callTool({ name, arguments: given });
  expect(result.isError ?? false, textOf(result)).toBe(false);
  return result.structuredContent ?? textOf(result);
}

/** Calls a tool that must refuse; returns the reason. */
async function refused(name: string, given: Record<string, unknown>): Promise<string> {
  const result = await assistant.callTool({ name, arguments: given });
  expect(result.isError, textOf(result)).toBe(true);
  return textOf(result);
}

/** Calls a tool until its result satisfies `holds`. */
async function until(name: string, given: Record<string, unknown>, holds: (answer: any) => boolean): Promise<any> {
  return expect.poll(async () => (await use(name, given)) as unknown, { timeout: 30_000, interval: 100 }).toSatisfy(holds);
}

test('the client learns where to begin and which tools there are', async () => {
  expect(assistant.getInstructions()).toContain('create_journey');
  expect((await assistant.listTools()).tools.length).toBeGreaterThan(40);
});

test('an assistant makes a journey, tries it on the virtual clock, switches it on, and explains what it does', async () => {
  expect(JSON.stringify(await use('list_journey_node_types'))).toContain('update_contact');
  const { id: workflow_id } = await use('create_journey', journey);
  expect(await use('validate_journey', { workflow_id })).toMatchObject({ valid: true });
  const phone = '+12125550142';
  const { contact } = await use('upsert_contact', { list_name: 'Shoppers', phone, first_name: 'Ada', city: 'Utrecht' });
  const tried = await use('test_journey', {
    workflow_id,
    contact_id: contact.id,
    context: { event: { type: 'large_order_check', data: { total: 120 } } },
  });
  expect(tried.state).toBe('completed');
  expect((await use('get_contact', { contact_id: contact.id })).tags).toEqual([]);

  expect(await use('update_journey', { workflow_id, status: 'active' })).toMatchObject({ status: 'active' });
  expect(JSON.stringify(await use('explain_journey', { workflow_id, contact_id: contact.id }))).toContain('contact_event');
  await use('send_event', { event_type: 'large_order_check', phone, data: { total: 300 }, event_id: 'order-1' });
  await use('send_event', { event_type: 'large_order_check', phone, data: { total: 300 }, event_id: 'order-1' });
  const waiting = { automation_workflow_id: workflow_id, state: 'waiting' };
  await until('list_runs', waiting, ({ runs }) => runs.length === 1 && runs[0].current_node_id === 'rest');
  const [run] = (await use('list_runs', waiting)).runs;
  expect(await use('get_run', { run_id: run.id })).toMatchObject({ contact_id: contact.id });
  expect((await use('get_run_history', { run_id: run.id })).history.length).toBeGreaterThan(1);
  expect(await use('stop_run', { run_id: run.id })).toMatchObject({ state: 'cancelled' });
  expect(await refused('stop_run', { run_id: run.id })).toMatch(/^409: /);
  expect((await use('list_contact_events', { contact_id: contact.id })).events).toHaveLength(1);
});

test('an assistant makes an agent, tests it against a customer, chats with it, and runs a campaign to its report', async () => {
  const { id: agent } = await use('create_agent', reminder);
  const { id: adversary } = await use('create_agent', customer);
  expect(await use('validate_agent', { workflow_id: agent })).toMatchObject({ valid: true });
  const { id: test_session_id } = await use('create_agent_test', {
    name: 'Says yes',
    actor_workflow_id: agent,
    adversary_workflow_id: adversary,
    config: { max_turns: 4 },
  });
  await use('start_agent_test', { test_session_id });
  await until('get_agent_test', { test_session_id }, ({ status }) => status === 'completed');
  const { conversation } = await use('get_agent_test_conversation', { test_session_id });
  expect(conversation.transcript.length).toBeGreaterThan(1);
  const { id: chat } = await use('call_or_chat', { workflow_id: agent, mode: 'textchat' });
  expect((await use('say_in_chat', { workflow_id: agent, run_id: chat, text: 'Yes, I will be there.' })).messages.length).toBeGreaterThan(
    0,
  );

  await use('upsert_contact', { list_name: 'Patients', phone: '+12125550142', first_name: 'Ada' });
  const [list] = (await use('list_contact_lists', { search: 'Patients' })).lists;
  const source = { source_type: 'contact_list', source_id: String(list.id) };
  expect(await use('preview_campaign', source)).toMatchObject({ total_rows: 1 });
  const closed = { enabled: true, slots: [{ day_of_week: (new Date().getUTCDay() + 2) % 7, start_time: '10:00', end_time: '11:00' }] };
  const { id: campaign_id } = await use('create_campaign', { name: 'Spring', workflow_id: agent, ...source, schedule_config: closed });
  expect(await refused('pause_campaign', { campaign_id })).toMatch(/^409: .*draft/);
  await use('start_campaign', { campaign_id });
  expect(await use('pause_campaign', { campaign_id })).toMatchObject({ state: 'paused' });
  await use('update_campaign', { campaign_id, schedule_config: { enabled: false } });
  await use('resume_campaign', { campaign_id });
  await until('get_campaign', { campaign_id }, (campaign) => campaign.state === 'completed');
  expect(await use('get_campaign_progress', { campaign_id })).toBeTypeOf('object');
  const [row] = (await use('list_campaign_rows', { campaign_id })).runs;
  expect(row).toMatchObject({ phone: '+12125550142', state: 'completed' });
  expect(await use('get_campaign_report', { campaign_id })).toContain('+12125550142');
  const [call] = (await use('list_agent_calls', { workflow_id: agent })).runs;
  expect(await use('get_call', { workflow_id: agent, run_id: call.id })).toMatchObject({ is_completed: true });
  expect(await use('get_call_transcript', { workflow_id: agent, run_id: call.id })).toBeTypeOf('string');
});

test('an assistant finds people and passages', async () => {
  expect((await use('find_contacts', { limit: 2 })).contacts.length).toBeGreaterThan(0);
  expect(await use('search_knowledge', { query: 'returns' })).toMatchObject({ query: 'returns' });
  expect(await use('list_documents')).toHaveProperty('documents');
});
