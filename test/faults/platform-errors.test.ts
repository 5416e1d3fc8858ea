import { createExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { Database } from '../../src/database/client.ts';
import { createApp } from '../../src/app.ts';
import { sendMessage, type MessageToSend } from '../../src/messaging/messages/send-message.ts';
import { logOf, messagingOrganization, takenFor } from '../messaging/accounts.ts';
import { readPostedMessages } from '../support/connected-tools.ts';
import { connectIntegration } from '../support/integrations.ts';
import { createActiveWorkflow, chain, waitForRunState, runStub } from '../support/journeys.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';
import { faultyDatabase, injectRunDatabaseFaults, type DatabaseFault } from '../support/faulty-database.ts';

afterEach(() => vi.restoreAllMocks());

/** Troubles the first `times` calls whose statements match. */
function first(times: number, match: RegExp, trouble: DatabaseFault) {
  let met = 0;
  const troubling = (sql: string): DatabaseFault => (match.test(sql) && met < times ? (met++, trouble) : null);
  return { troubling, met: () => met };
}

const nap = { id: 'nap', type: 'wait', data: { duration: 'PT1S' } };

/** A run of a journey that rests for a second, then meets the trouble at the node. */
async function troubledRun(
  { id, client }: { id: number; client: Client },
  node: { id: string; type: string; data: Record<string, unknown> },
  troubling: (sql: string) => DatabaseFault,
  settings: object = {},
): Promise<number> {
  const workflow = await createActiveWorkflow(client, { definition: chain(nap, node), settings });
  const run = (await client.post(`/automation-workflows/${workflow}/execute`, { context: {} })).body.id as number;
  await waitForRunState(client, run, 'waiting');
  await injectRunDatabaseFaults(runStub(id, run), troubling);
  return run;
}

const historyOf = async (client: Client, run: number) =>
  (await client.get(`/automation-workflows/runs/${run}/history`)).body.history as any[];
const recordOf = async (client: Client, run: number, node: string) =>
  (await historyOf(client, run)).filter(({ node_id: id }) => id === node);

const messageTo = (to: string) => ({
  id: 'tell',
  type: 'send_message',
  data: { to, template_name: 'order_update', language: 'en', template_params: { 1: 'Ada', 2: '1001' } },
});

test.each(['refused', 'lost'] as const)(
  'a run whose message cannot be stored, each answer being %s, sends it once when it can, in its first attempt',
  { tags: 'soak' },
  async (trouble) => {
    const organization = await messagingOrganization();
    const { client } = organization;
    const to = newPhone();
    const { troubling, met } = first(6, /INSERT INTO message /, trouble);
    const run = await troubledRun(organization, messageTo(to), troubling);
    await waitForRunState(client, run, 'completed');
    expect(met()).toBe(6);
    expect(await takenFor('provider_b', to)).toHaveLength(1);
    expect(await logOf(client)).toMatchObject([{ to, status: 'accepted' }]);
    expect(await recordOf(client, run, 'tell')).toMatchObject([
      { attempt: 1, status: 'completed', error: null, output: { status: 'accepted' } },
    ]);
  },
);

test('a message whose run died while it was asked for stays unknown, whatever trouble comes after', { tags: 'soak' }, async () => {
  const organization = await messagingOrganization();
  const { id, client } = organization;
  const to = newPhone();
  const dying = first(1, /INSERT INTO message /, 'died');
  const run = await troubledRun(organization, messageTo(to), dying.troubling);
  await vi.waitFor(() => expect(dying.met()).toBe(1), { timeout: 10_000 });
  const refusing = first(6, /FROM message /, 'refused');
  await vi.waitFor(() => injectRunDatabaseFaults(runStub(id, run), refusing.troubling));
  await runStub(id, run).start(id, run);
  const failed = await waitForRunState(client, run, 'failed');
  expect(refusing.met()).toBe(6);
  expect(failed.error).toMatchObject({ type: 'unknown', node_id: 'tell', attempt: 1 });
  expect(await takenFor('provider_b', to)).toEqual([]);
});

test('a stored message is sent only if the earlier tries are known to have sent nothing', async () => {
  const { id, client } = await messagingOrganization();
  const context = (await backgroundContext(env, id, () => undefined))!;
  const wanted = (): MessageToSend => ({
    sendKey: `step:${crypto.randomUUID()}`,
    to: newPhone(),
    content: { kind: 'template', templateName: 'order_update', language: 'en', params: { 1: 'Ada', 2: '1001' } },
    contactId: null,
    automationRunId: null,
  });
  const leftBy = async (message: MessageToSend) => {
    const database = new Database(
      faultyDatabase(env.DB, (sql) => (/INSERT INTO message /.test(sql) ? 'lost' : null)),
      true,
    );
    await expect(sendMessage({ ...context, database }, message)).rejects.toThrow('unknown whether it was done');
  };
  const known = wanted();
  await leftBy(known);
  expect(await sendMessage(context, { ...known, unaskedTries: 1 })).toMatchObject({ messageId: expect.any(String) });
  expect(await takenFor('provider_b', known.to)).toHaveLength(1);
  // A late repetition gets the message that was sent.
  expect(await sendMessage(context, known)).toMatchObject({ messageId: expect.any(String) });
  expect(await takenFor('provider_b', known.to)).toHaveLength(1);

  for (const tries of [{ unaskedTries: 1 }, { unaskedTries: 0 }]) {
    const open = { ...wanted(), ...tries };
    await leftBy(open);
    expect(await sendMessage(context, open)).toMatchObject({ failure: { outcomeUnknown: true } });
    expect(await takenFor('provider_b', open.to)).toEqual([]);
  }
  const suppressed = wanted();
  await leftBy(suppressed);
  await client.post('/contacts/suppressions', { phone: suppressed.to });
  expect(await sendMessage(context, { ...suppressed, unaskedTries: 1 })).toMatchObject({ failure: { failure: 'suppressed' } });
  expect((await logOf(client)).filter(({ to }: { to: string }) => to === suppressed.to)).toMatchObject([{ status: 'failed' }]);
});

test('a post that nobody can repeat is made once when the database refuses what comes before it', { tags: 'soak' }, async () => {
  const organization = await newOrganization();
  await connectIntegration(organization.client, 'chatapp');
  const { troubling, met } = first(6, /from "?integration\b/i, 'refused');
  const shout = { id: 'shout', type: 'chatapp_message', data: { channel: 'C0000000001', text: 'Hear' } };
  const run = await troubledRun(organization, shout, troubling);
  await waitForRunState(organization.client, run, 'completed');
  expect(met()).toBe(6);
  expect(await readPostedMessages(organization.id)).toHaveLength(1);
  expect(await recordOf(organization.client, run, 'shout')).toMatchObject([{ attempt: 1, status: 'completed' }]);
});

test('a run says what it waits out and when it tries again, and gives up at its deadline', { tags: 'soak' }, async () => {
  const organization = await newOrganization();
  const { client } = organization;
  const emit = { id: 'emit', type: 'emit_event', data: { event_type: 'said' } };
  // The reads of a step fail; the reads that show the run do not.
  const run = await troubledRun(
    organization,
    emit,
    (sql) => (/select "automation_workflow"."status", "automation_run"."completed_at"/.test(sql) ? 'refused' : null),
    {
      timeout: 'PT6S',
    },
  );
  const shown = await vi.waitFor(
    async () => {
      const { body } = await client.get(`/automation-workflows/runs/${run}`);
      expect(body.trouble).not.toBeNull();
      return body;
    },
    { timeout: 10_000, interval: 20 },
  );
  expect(shown).toMatchObject({ state: 'waiting', current_node_id: 'emit', error: null });
  expect(shown.trouble).toMatchObject({ why: 'waiting for the database: D1 DB is overloaded', tries: expect.any(Number) });
  expect(Date.parse(shown.trouble.next_try_at)).toBeGreaterThan(Date.parse(shown.trouble.since));
  expect(await recordOf(client, run, 'emit')).toMatchObject([{ attempt: 1, status: 'waiting', output: { why: shown.trouble.why } }]);
  const failed = await waitForRunState(client, run, 'failed');
  expect(failed).toMatchObject({ trouble: null, error: { type: 'timeout', attempt: 1 } });
  expect(await recordOf(client, run, 'emit')).toMatchObject([{ attempt: 1, status: 'failed', error: { type: 'timeout' } }]);
  expect((await client.get('/events?event_type=said')).body.total).toBe(0);
});

test('a run that cannot be read is tried again, and shows so', { tags: 'soak' }, async () => {
  const organization = await newOrganization();
  const { client } = organization;
  const { troubling } = first(6, /FROM automation_run\b/, 'refused');
  const run = await troubledRun(organization, { id: 'emit', type: 'emit_event', data: { event_type: 'said' } }, troubling);
  await waitForRunState(client, run, 'completed');
  expect((await client.get('/events?event_type=said')).body.total).toBe(1);
});

const app = createApp();
const troubles = {
  DB: 'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
  AUTOMATION_RUN: 'Durable Object is overloaded. Too many requests queued.',
  FILES: 'get: Please reduce your request rate. (10058)',
};

test.each(Object.entries(troubles))(
  'an error of %s is a 503 that says when to retry, and the answer shows no details',
  async (name, message) => {
    const organization = await newOrganization();
    const { client, key } = organization;
    const workflow = await createActiveWorkflow(client, { definition: chain({ id: 'long', type: 'wait', data: { duration: 'P1D' } }) });
    const context = { large: 'x'.repeat(70_000) };
    const run = (await client.post(`/automation-workflows/${workflow}/execute`, { context })).body.id as number;
    await waitForRunState(client, run, 'waiting');
    const troubled = new Proxy(
      {},
      {
        get: () => () => {
          throw new Error(message);
        },
      },
    );
    const bindings = {
      ...env,
      [name]: name === 'DB' ? faultyDatabase(env.DB, (sql) => (/automation_run/.test(sql) ? 'refused' : null)) : troubled,
    };
    const asking = new Client(key, async (request) => app.fetch(request, bindings as Env, createExecutionContext()));
    const answer = await asking.get(`/automation-workflows/runs/${run}`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.body).toEqual({ detail: expect.stringMatching(/did not take the request at the moment; send it again$/) });
  },
);
