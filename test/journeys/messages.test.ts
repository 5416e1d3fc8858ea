import { afterEach, expect, test, vi } from 'vitest';
import { logOf, messagingOrganization, takenFor } from '../messaging/accounts.ts';
import { createActiveWorkflow, chain, waitForRunState } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';
import { simulators } from '../messaging/accounts.ts';

afterEach(() => vi.restoreAllMocks());

const template = { template_name: 'order_update', language: 'en', template_params: { 1: '{{ contact.first_name }}', 2: '{{ order }}' } };
const handles = ['sent', 'failed', 'default', 'error'];

/** A journey that sends a message. Each handle leads to an exit that shows the handle and the reason. */
const messaging = (data: object = template) => ({
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'text', type: 'send_message', data },
    ...handles.map((handle) => ({ id: handle, type: 'exit', data: { outcome: `${handle} {{ steps.text.reason }}` } })),
  ],
  edges: [
    { id: 'start', source: 'in', target: 'text' },
    ...handles.map((handle) => ({ id: handle, source: 'text', target: handle, source_handle: handle })),
  ],
});

/** Starts a run for a new contact. */
async function runFor(client: Client, definition: object, { phone = newPhone(), settings = {} } = {}) {
  const workflow = await createActiveWorkflow(client, { definition, settings });
  const created = await client.post('/contacts', { phone, first_name: 'Ada' });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  const contact = created.body.id as number;
  const { body } = await client.post(`/automation-workflows/${workflow}/execute`, { contact_id: contact, context: { order: 1001 } });
  return { workflow, contact, phone, run: body.id as number };
}

test('a journey sends its contact one message, which the log shows with the run and the contact', async () => {
  const { client } = await messagingOrganization();
  const { run, contact, phone } = await runFor(client, messaging());
  const ended = await waitForRunState(client, run, 'completed');
  expect(ended.outcome).toBe('sent ');
  const [message, ...more] = await logOf(client, `?automation_run_id=${run}`);
  expect(more).toEqual([]);
  expect(message).toMatchObject({ to: phone, contact_id: contact, automation_run_id: run, status: 'accepted', provider: 'provider_b' });
  expect(ended.context.steps.text).toMatchObject({ message: message.id, message_id: message.message_id, status: 'accepted' });
  expect(await takenFor('provider_b', phone)).toMatchObject([{ reference: `step:${run}:text:1:1`, params: ['Ada', '1001'] }]);
});

test('a message to a suppressed number goes along failed, and is not sent', async () => {
  const { client } = await messagingOrganization();
  const phone = newPhone();
  await client.post('/contacts/suppressions', { phone });
  const { run } = await runFor(client, messaging(), { phone });
  expect((await waitForRunState(client, run, 'completed')).outcome).toMatch(/^failed suppressed: .*do_not_call/);
  expect(await takenFor('provider_b', phone)).toEqual([]);
  expect(await logOf(client)).toMatchObject([{ status: 'failed', failure_class: 'suppressed', automation_run_id: run }]);
});

test('a message of an organization without provider goes along error, with the next step', async () => {
  const { client } = await newOrganization();
  const { run } = await runFor(client, messaging());
  const ended = await waitForRunState(client, run, 'completed');
  expect(ended.outcome.trim()).toBe('error');
  expect(ended.context.steps.text.error).toEqual({
    type: 'messaging_not_configured',
    message: expect.stringContaining('/organizations/messaging-config'),
  });
});

test('a message is sent again when the provider is too busy, and the log has each attempt', async () => {
  const { client, credentials } = await messagingOrganization();
  const phone = newPhone();
  let tries = 0;
  const messages = `${simulators}/meta/v25.0/${credentials.provider_b.phone_number_id}/messages`;
  const asked = stubFetch(messages, () =>
    ++tries === 1 ? new Response('busy', { status: 429 }) : Response.json({ messages: [{ id: `wamid.${phone}` }] }),
  );
  const { run } = await runFor(client, messaging(), { phone, settings: { retry: { initial_delay_seconds: 0.01 } } });
  expect((await waitForRunState(client, run, 'completed')).outcome).toBe('sent ');
  expect(asked).toHaveLength(2);
  expect((await logOf(client)).map(({ status }) => status)).toEqual(['accepted', 'failed']);
  const { history } = (await client.get(`/automation-workflows/runs/${run}/history`)).body;
  expect(history.map(({ node_id, status }: any) => `${node_id} ${status}`)).toEqual([
    'in completed',
    'text retrying',
    'text completed',
    'sent completed',
  ]);
});

test('a message whose answer is lost fails the run as unknown, and is sent when a person retries the run', async () => {
  const { client, credentials } = await messagingOrganization();
  const messages = `${simulators}/meta/v25.0/${credentials.provider_b.phone_number_id}/messages`;
  let isLost = true;
  const asked = stubFetch(messages, () =>
    isLost ? Promise.reject(new TypeError('connection lost')) : Response.json({ messages: [{ id: 'wamid.2' }] }),
  );
  const { run } = await runFor(
    client,
    chain({ id: 'text', type: 'send_message', data: { ...template, template_params: { 1: 'a', 2: 'b' } } }),
  );
  const failed = await waitForRunState(client, run, 'failed');
  expect(failed.error).toMatchObject({ node_id: 'text', type: 'unknown', message: expect.stringContaining('not sent again') });
  expect(asked).toHaveLength(1);
  isLost = false;
  await client.post(`/automation-workflows/runs/${run}/retry`);
  await waitForRunState(client, run, 'completed');
  expect(asked).toHaveLength(2);
  expect((await logOf(client)).map(({ status }) => status)).toEqual(['accepted', 'unknown']);
});

test('a paused journey sends nothing until it is active again', async () => {
  const { client } = await messagingOrganization();
  const definition = chain({ id: 'nap', type: 'wait', data: { duration: 'PT0.5S' } }, { id: 'text', type: 'send_message', data: template });
  const { run, workflow, phone } = await runFor(client, definition);
  await client.patch(`/automation-workflows/${workflow}`, { status: 'paused' });
  await vi.waitFor(async () => expect((await client.get(`/automation-workflows/runs/${run}`)).body.hold).toBe('paused'), {
    timeout: 10_000,
  });
  expect(await takenFor('provider_b', phone)).toEqual([]);
  await client.patch(`/automation-workflows/${workflow}`, { status: 'active' });
  await waitForRunState(client, run, 'completed');
  expect(await takenFor('provider_b', phone)).toHaveLength(1);
});

test('a dry run shows the request and sends and keeps nothing', async () => {
  const { client } = await messagingOrganization();
  const phone = newPhone();
  const contact = (await client.post('/contacts', { phone, first_name: 'Ada' })).body.id;
  const created = await client.post('/automation-workflows', { name: 'Journey', definition: messaging() });
  const { body } = await client.post(`/automation-workflows/${created.body.id}/test`, { contact_id: contact, context: { order: 1001 } });
  expect(body).toMatchObject({ state: 'completed', outcome: 'sent ' });
  expect(body.history[1]).toMatchObject({
    status: 'simulated',
    output: { request: { to: phone, template_name: 'order_update', template_params: { 1: 'Ada', 2: '1001' } } },
  });
  expect(await takenFor('provider_b', phone)).toEqual([]);
  expect(await logOf(client)).toEqual([]);
});
