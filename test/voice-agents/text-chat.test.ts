import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { CallObject } from '../../durable-objects/call/call-object.ts';
import { Database } from '../../src/database/client.ts';
import { wakeStalledChat } from '../../src/calls/text-chat/chat.ts';
import { findStalledChats } from '../../src/calls/text-chat/store.ts';
import {
  answeredRun,
  callStub,
  holdFirstAnswer,
  readCallFile,
  readCallRun,
  stubOutsideServices,
  waitForCompletedRun,
  waitUntilDestroyed,
} from '../support/calls.ts';
import { crashCallObjectAt } from '../support/crashing-call.ts';
import { chain, createActiveWorkflow } from '../support/journeys.ts';
import { type Client, newOrganization, type NewOrganization } from '../support/organization.ts';
import { salesAgent } from './agents.ts';

afterEach(() => vi.restoreAllMocks());

const greeting = 'Hello Ada, this is Acme about the spring offer. Are you interested?';

const simple = (data: object = {}) => ({
  nodes: [{ id: 'start', type: 'startCall', data: { prompt: 'You are Ada.', greeting: 'Hi.', ...data } }],
  edges: [],
});

async function newAgent(definition: unknown = salesAgent, options: NewOrganization = {}) {
  const { client, id: organizationId } = await newOrganization(options);
  const agent = await client.post('/workflow/create/definition', { name: 'Sales', workflow_definition: definition });
  expect(agent.status, JSON.stringify(agent.body)).toBe(200);
  return { client, organizationId, agentId: agent.body.id as number };
}

const start = (client: Client, agentId: number, order: object = {}) =>
  client.post(`/workflow/${agentId}/runs`, { mode: 'textchat', initial_context: { first_name: 'Ada' }, ...order });

async function newChat(definition?: unknown, order: object = {}) {
  const made = await newAgent(definition);
  const { status, body } = await start(made.client, made.agentId, order);
  expect(status, JSON.stringify(body)).toBe(200);
  const runId = body.id as number;
  const path = `/workflow/${made.agentId}/runs/${runId}`;
  const say = (text: string, more: object = {}) => made.client.post(`${path}/messages`, { text, ...more });
  return { ...made, run: body, runId, path, say, stub: callStub(made.organizationId, runId) };
}

const linesOf = (body: { messages: { role: string; text: string }[] }) => body.messages.map(({ role, text }) => `${role}: ${text}`);

/** The events of a stream, in order. */
function eventsOf(text: string): { event: string; data: any }[] {
  return text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => {
      const [event, data] = part.split('\n') as [string, string];
      return { event: event.replace('event: ', ''), data: JSON.parse(data.replace('data: ', '')) };
    });
}

describe('a text chat', () => {
  test('greets, answers each message with what it added, and ends as a call does', async () => {
    stubOutsideServices();
    const { run, say, runId, path, client, organizationId, stub } = await newChat();
    expect(run).toMatchObject({
      mode: 'textchat',
      call_type: 'inbound',
      is_completed: false,
      gathered_context: { call_status: 'in_progress' },
    });
    expect(run.logs.events.find(({ type }: { type: string }) => type === 'agent_said').payload).toEqual({ text: greeting });
    const first = await say('Yes, I am interested');
    expect(first.status).toBe(200);
    expect(linesOf(first.body)).toEqual(['user: Yes, I am interested', 'assistant: Which day suits you?']);
    expect(first.body.is_completed).toBe(false);
    const second = await say('Tuesday would be fine', { expected_revision: first.body.revision });
    expect(second.body.is_completed).toBe(true);
    expect(second.body.revision).toBeGreaterThan(first.body.revision);
    const row = await waitForCompletedRun(runId);
    expect(row).toMatchObject({ outcome: 'completed', disposition: 'interested', has_transcript: 1, wake_at: null });
    await waitUntilDestroyed(stub);
    const { body } = await client.get(path);
    expect(body).toMatchObject({
      is_completed: true,
      gathered_context: { call_status: 'completed', preferred_day: 'Tuesday', nodes_visited: ['start', 'book', 'bye'] },
      cost_info: { llm_tokens: { prompt: expect.any(Number) } },
    });
    expect(await readCallFile(organizationId, runId, 'transcript.txt')).toContain('Person: Tuesday would be fine');
  });

  test('tells nobody: no trigger, no webhook, no call slot', async () => {
    const asked: string[] = [];
    stubOutsideServices({ other: (request) => (asked.push(request.url), undefined) });
    const webhook = { id: 'tell', type: 'webhook', data: { url: 'https://crm.example.com/calls' } };
    const { say, client, runId, stub, organizationId } = await newChat({ ...salesAgent, nodes: [...salesAgent.nodes, webhook] });
    const workflow = await createActiveWorkflow(client, {
      definition: chain(),
      trigger: { type: 'event', config: { event: 'call.completed' } },
    });
    await say('No, I am not interested');
    await waitForCompletedRun(runId);
    await waitUntilDestroyed(stub);
    expect((await client.get(`/automation-workflows/${workflow}/runs`)).body.total).toBe(0);
    expect(asked.filter((url) => url.includes('crm'))).toEqual([]);
    const slots = env.CALL_SLOTS.getByName(String(organizationId));
    expect(await runInDurableObject(slots, (_object, { storage }) => storage.sql.exec('SELECT 1 FROM sqlite_master').toArray())).toEqual(
      [],
    );
  });

  test('an agent without a greeting opens the talk itself', async () => {
    stubOutsideServices();
    const { run } = await newChat(simple({ greeting: undefined }));
    expect(run.logs.events.some(({ type }: { type: string }) => type === 'agent_said')).toBe(true);
  });

  test('HTTP tools are called only when the chat says so', async () => {
    const tools = [
      { name: 'opening_hours', description: 'When the shop is open', http: { method: 'GET', url: 'https://shop.example.com/hours' } },
    ];
    for (const liveTools of [false, true]) {
      const called: string[] = [];
      stubOutsideServices({
        other: (request) => {
          if (!request.url.startsWith('https://shop.example.com')) return undefined;
          called.push(request.url);
          return Response.json({ hours: 'nine to five' });
        },
      });
      const { say, stub } = await newChat(simple({ tools }), { live_tools: liveTools });
      await say('When is the shop open, what are the opening hours?');
      const answers = (await stub.snapshot())!.logs.events.filter(({ type }) => type === 'tool_called');
      expect(answers).toHaveLength(1);
      expect(called).toHaveLength(liveTools ? 1 : 0);
      if (!liveTools) expect(answers[0]!.payload).toMatchObject({ answer: { status: 'not called in a test' }, is_mock: true });
      vi.restoreAllMocks();
    }
  });

  test('a message that comes while another is answered ends that answer, and both are answered together', async () => {
    const { held, asked } = holdFirstAnswer();
    const { organizationId, runId, stub, say } = await newChat(simple());
    const message = { key: crypto.randomUUID(), text: 'Who are you?', expectedRevision: null };
    const { stream } = await stub.streamMessage(organizationId, runId, message);
    const reader = stream!.pipeThrough(new TextDecoderStream()).getReader();
    held.say('I am');
    let streamed = '';
    while (!streamed.includes('event: token')) streamed += (await reader.read()).value!;
    const second = await say('And where?');
    for (let part = await reader.read(); !part.done; part = await reader.read()) streamed += part.value;
    const { event, data } = eventsOf(streamed).at(-1)!;
    expect([event, linesOf(data)]).toEqual(['done', ['user: Who are you?', 'assistant: I am']]);
    expect(linesOf(second.body)).toEqual(['user: And where?', expect.stringMatching(/^assistant: /)]);
    const users = asked.at(-1)!['messages'].filter(({ role }: { role: string }) => role === 'user');
    expect(users.map(({ content }: { content: string }) => content)).toEqual(['Who are you?', 'And where?']);
  });

  test('a message that is sent twice because its answer was lost is said once', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await newChat(simple());
    const message = { key: crypto.randomUUID(), text: 'Who are you?', expectedRevision: 1 };
    const first = await stub.sendMessage(organizationId, runId, message);
    const again = await stub.sendMessage(organizationId, runId, message);
    expect(again).toEqual(first);
    expect(first.state!.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  test('a turn whose object dies is answered when the message comes again', async () => {
    const { held, asked } = holdFirstAnswer();
    const { organizationId, runId, stub } = await newChat(simple());
    const message = { key: crypto.randomUUID(), text: 'Who are you?', expectedRevision: null };
    const lost = stub.sendMessage(organizationId, runId, message).catch((error: Error) => error.message);
    held.say('I am');
    // Conclusions of other chats are not streamed.
    await vi.waitFor(() => expect(asked.filter(({ stream: isTalk }) => isTalk)).toHaveLength(1));
    await runInDurableObject(stub, (_object, state) => state.abort('it dies here')).catch(() => undefined);
    expect(await lost).toEqual(expect.any(String));
    const { state } = await callStub(organizationId, runId).sendMessage(organizationId, runId, message);
    expect(state!.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  for (const moment of ['before', 'after'] as const)
    test(`is settled once although its object dies ${moment} any of its calls`, { tags: 'soak', timeout: 60_000 }, async () => {
      stubOutsideServices();
      const deaths = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          const { organizationId, runId, stub, say } = await newChat();
          const watch = await crashCallObjectAt(stub, index + 1, moment);
          await say('No, I am not interested').catch(() => undefined);
          await vi.waitFor(
            async () => {
              const alive = callStub(organizationId, runId);
              await alive.wakeStalled().catch(() => undefined);
              expect(await alive.snapshot()).toBeNull();
            },
            { timeout: 20_000, interval: 50 },
          );
          expect(await readCallRun(runId), `call ${index + 1}`).toMatchObject({
            is_completed: 1,
            outcome: 'completed',
            revision: 1,
            has_transcript: 1,
          });
          return watch.died;
        }),
      );
      expect(deaths.filter(Boolean).length).toBeGreaterThanOrEqual(3);
    });
});

describe('a streamed answer', () => {
  const stream = { Accept: 'text/event-stream' };

  test('comes word by word, then each line, then what the message added', async () => {
    stubOutsideServices();
    const { client, path } = await newChat(simple());
    const { status, body, headers } = await client.post(`${path}/messages`, { text: 'Who are you?' }, stream);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = eventsOf(body);
    const words = events.filter(({ event }) => event === 'token').map(({ data }) => data.text);
    const lines = events.filter(({ event }) => event === 'message').map(({ data }) => data);
    const done = events.at(-1)!;
    expect(done.event).toBe('done');
    expect(words.length).toBeGreaterThan(1);
    expect(lines.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(words.join('')).toBe(lines[1].text);
    expect(done.data).toEqual({ messages: lines, revision: expect.any(Number), is_completed: false });
  });

  test('who goes away stops nothing', async () => {
    const { held } = holdFirstAnswer();
    const { organizationId, runId, stub, say } = await newChat(simple());
    const message = { key: crypto.randomUUID(), text: 'Who are you?', expectedRevision: null };
    const { stream: answer } = await stub.streamMessage(organizationId, runId, message);
    const reader = answer!.getReader();
    held.say('I am ');
    await reader.read();
    await reader.cancel();
    held.say('Ada.');
    held.finish();
    await vi.waitFor(async () => {
      const said = (await stub.snapshot())!.logs.events.filter(({ type }) => type === 'agent_said').map(({ payload }) => payload['text']);
      expect(said).toEqual(['Hi.', 'I am Ada.']);
    });
    expect((await say('And you?')).status).toBe(200);
  });

  test('refuses as the plain one does', async () => {
    stubOutsideServices();
    const { client, path } = await newChat(simple());
    const { status, body } = await client.post(`${path}/messages`, { text: 'Who are you?', expected_revision: 7 }, stream);
    expect(status).toBe(409);
    expect(body.detail).toContain('its revision is 1');
  });
});

describe('what a chat refuses', () => {
  test('a revision that is not the present one, naming it', async () => {
    stubOutsideServices();
    const { say } = await newChat(simple());
    const first = await say('Who are you?', { expected_revision: 1 });
    expect(first.status).toBe(200);
    const stale = await say('And where?', { expected_revision: 1 });
    expect(stale.status).toBe(409);
    expect(stale.body.detail).toContain(`its revision is ${first.body.revision}`);
    expect((await say('And where?', { expected_revision: first.body.revision })).status).toBe(200);
  });

  test('messages without text, or that are too long, naming the field', async () => {
    stubOutsideServices();
    const { say } = await newChat(simple());
    for (const text of ['', '   ', 'x'.repeat(10_001)]) {
      const { status, body } = await say(text);
      expect([status, body.detail[0].loc]).toEqual([422, ['body', 'text']]);
    }
  });

  test('messages once it has ended, while it is there and when it is gone', async () => {
    stubOutsideServices();
    const { say, stub, runId } = await newChat();
    await say('No, I am not interested');
    const soon = await say('Wait');
    expect(soon.status).toBe(409);
    await waitForCompletedRun(runId);
    await waitUntilDestroyed(stub);
    const late = await say('Wait');
    expect(late.status).toBe(409);
    expect(late.body.detail).toMatch(/has ended; start a new one/);
  });

  test('to begin with an archived agent or somebody else’s contact', async () => {
    stubOutsideServices();
    const { client, agentId } = await newAgent(simple());
    const other = await newOrganization();
    const contact = await other.client.post('/contacts', { first_name: 'Eve', email: 'eve@example.com' });
    expect((await start(client, agentId, { contact_id: contact.body.id })).status).toBe(404);
    await client.put(`/workflow/${agentId}/status`, { status: 'archived' });
    expect((await start(client, agentId)).status).toBe(409);
  });

  test('other organizations and keys that may only read', async () => {
    stubOutsideServices();
    const { path, agentId } = await newChat(simple());
    const stranger = await newOrganization();
    expect((await stranger.client.post(`${path}/messages`, { text: 'Hello' })).status).toBe(404);
    expect((await stranger.client.post(`${path}/end`)).status).toBe(404);
    expect((await start(stranger.client, agentId)).status).toBe(404);
    const reader = await newOrganization({ scopes: ['read'] });
    expect((await reader.client.post(`/workflow/1/runs`, { mode: 'textchat' })).status).toBe(403);
  });

  test('written messages to a call', async () => {
    stubOutsideServices();
    const { client, agentId, runId, organizationId, stub } = await answeredRun();
    await stub.begin(organizationId, runId);
    const { status, body } = await client.post(`/workflow/${agentId}/runs/${runId}/messages`, { text: 'Hello' });
    expect([status, body.detail]).toEqual([409, expect.stringContaining('is a call')]);
    expect((await client.post(`/workflow/${agentId}/runs/${runId}/end`)).status).toBe(409);
  });
});

describe('the end of a chat', () => {
  test('by hand completes the run before it answers, and again changes nothing', async () => {
    stubOutsideServices();
    const { client, path, say, runId } = await newChat();
    await say('Yes, I am interested');
    const ended = await client.post(`${path}/end`);
    expect(ended.status).toBe(200);
    expect(ended.body).toMatchObject({ is_completed: true, outcome: 'completed', gathered_context: { call_status: 'completed' } });
    const row = await readCallRun(runId);
    expect((await client.post(`${path}/end`)).status).toBe(200);
    expect(await readCallRun(runId)).toEqual(row);
  });

  test('comes by itself when nobody has written for a day', async () => {
    stubOutsideServices();
    const { stub, runId, say } = await newChat(simple());
    await say('Who are you?');
    const due = await runInDurableObject(stub, (object, { storage }) => {
      (object as unknown as { clock: () => number }).clock = () => Date.now() + 86_500_000;
      return storage.sql.exec<{ due: number }>("SELECT due FROM timer WHERE kind = 'idle'").one().due;
    });
    expect(due - Date.now()).toBeGreaterThan(86_000_000);
    await runInDurableObject(stub, async (object: CallObject) => object.alarm());
    const row = await waitForCompletedRun(runId);
    expect(row['outcome']).toBe('completed');
  });

  test('is seen to by the minute tick when the object is dead or was never made', async () => {
    stubOutsideServices();
    const { organizationId, runId, stub } = await newChat(simple());
    const database = new Database(env.DB, true);
    const overdue = async (before: number) => (await findStalledChats(database, before, 500)).some(({ id }) => id === runId);
    expect(await overdue(Date.now() + 80_000_000)).toBe(false);
    expect(await overdue(Date.now() + 90_000_000)).toBe(true);
    await env.DB.prepare('UPDATE voice_agent_run SET wake_at = 1 WHERE id = ?').bind(runId).run();
    expect(await wakeStalledChat(env, organizationId, runId)).toBe(true);
    expect(await overdue(Date.now())).toBe(false);
    await runInDurableObject(stub, (_object, { storage }) => storage.deleteAll());
    await runInDurableObject(stub, (_object, state) => state.abort('gone')).catch(() => undefined);
    expect(await wakeStalledChat(env, organizationId, runId)).toBe(true);
    expect(await callStub(organizationId, runId).snapshot()).toMatchObject({ gathered_context: { call_status: 'in_progress' } });
  });
});
