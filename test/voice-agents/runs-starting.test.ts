import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import type { CallsRequest } from '../../src/calls/contract.ts';
import { newPhone, type Client } from '../support/organization.ts';
import { recordedClient } from '../support/recorded-database.ts';
import { newRun, withAgent } from './runs.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const locs = (answer: { body: { detail: { loc: string[] }[] } }) => answer.body.detail.map(({ loc }) => loc.join('.'));

const configured = async (client: Client) =>
  expect(
    (
      await client.post('/organizations/telephony-configs', {
        name: 'Main',
        provider: 'twilio',
        twilio: { account_sid: 'AC00000000000000000000000000000001', auth_token: 'token' },
        from_numbers: ['+15005550006'],
      })
    ).status,
  ).toBe(200);

/** The call slots of the organization, that take every call and know nothing of it. */
function takingSlots(more: object = {}): CallsRequest[] {
  const requests: CallsRequest[] = [];
  vi.spyOn(env.CALL_SLOTS, 'getByName').mockImplementation(
    () =>
      ({
        request: async (_id: number, request: CallsRequest) => (requests.push(request), { queued: 1, known: 0, isStale: false }),
        getCallStatus: async () => null,
        dialingPolicyChanged: async () => {},
        ...more,
      }) as never,
  );
  return requests;
}

test('a call is asked for once, with what it needs, and its run is there at once', async () => {
  const { client, agent } = await withAgent();
  const requests = takingSlots();
  await configured(client);
  const phone = newPhone();
  const order = { mode: 'telephony', phone: ` ${phone.slice(0, 5)} ${phone.slice(5)}`, initial_context: { first_name: 'Ada' } };
  const started = await client.post(`/workflow/${agent.id}/runs`, order, { 'Idempotency-Key': 'one' });
  expect(started).toMatchObject({
    status: 200,
    body: {
      workflow_id: agent.id,
      mode: 'twilio',
      call_type: 'outbound',
      is_completed: false,
      phone,
      definition_id: agent.current_definition_id,
      initial_context: { first_name: 'Ada' },
      gathered_context: { call_status: 'queued' },
      transcript_url: null,
    },
  });
  const again = await client.post(`/workflow/${agent.id}/runs`, order, { 'Idempotency-Key': 'one' });
  expect(again.body.id).toBe(started.body.id);
  expect(requests.flatMap(({ calls }) => calls)).toMatchObject([{ phone, agentId: agent.id, contactId: null }]);
  expect((await client.get(`/workflow/${agent.id}/runs`)).body).toMatchObject({ total: 1, runs: [{ id: started.body.id }] });
});

const keyed = (key: string) => ({ 'Idempotency-Key': key });
const quiet = () => vi.spyOn(console, 'log').mockImplementation(() => undefined);

/** A client whose requests die once their call is asked for, before they are answered. */
const dyingClient = (key: string, requests: CallsRequest[]) =>
  recordedClient(key, {
    beforeCall: async ([sql]) => {
      if (requests.length && sql!.includes('from "voice_agent_run"')) throw new Error('D1_ERROR: it dies here');
    },
  }).client;

test('a call whose line cannot be asked is answered as its row shows it', async () => {
  const { client, agent } = await withAgent();
  const requests = takingSlots({ getCallStatus: async () => Promise.reject(new Error('the object was reset')) });
  await configured(client);
  quiet();
  const order = { mode: 'telephony', phone: newPhone(), initial_context: { first_name: 'Ada' } };
  expect(await client.post(`/workflow/${agent.id}/runs`, order)).toMatchObject({
    status: 200,
    body: { phone: order.phone, is_completed: false, initial_context: { first_name: 'Ada' }, gathered_context: { call_status: 'queued' } },
  });
  expect(requests).toHaveLength(1);
});

test('a request that failed after its call was asked for is the same call when it comes again, whatever has changed meanwhile', async () => {
  const { client, key, agent } = await withAgent();
  const requests = takingSlots();
  await configured(client);
  quiet();
  const contact = (await client.post('/contacts', { phone: newPhone() })).body.id;
  const path = `/workflow/${agent.id}/runs`;
  const order = { mode: 'telephony', contact_id: contact };
  expect((await dyingClient(key, requests).post(path, order, keyed('one'))).status).toBe(500);
  await client.delete(`/contacts/${contact}`);
  await client.put(`/workflow/${agent.id}/status`, { status: 'archived' });
  const again = await client.post(path, order, keyed('one'));
  expect(again.status).toBe(200);
  expect((await client.get(path)).body).toMatchObject({ total: 1, runs: [{ id: again.body.id }] });
  const [first, ...others] = requests.flatMap(({ calls }) => calls);
  expect(others).toEqual([first]);
});

test('without its Idempotency-Key, with another body or a day later it is another call', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { client, key, agent } = await withAgent();
  const requests = takingSlots();
  await configured(client);
  quiet();
  const path = `/workflow/${agent.id}/runs`;
  const order = { mode: 'telephony', phone: newPhone() };
  expect((await dyingClient(key, requests).post(path, order, keyed('one'))).status).toBe(500);
  await client.post(path, order);
  await client.post(path, order, keyed('two'));
  await client.post(path, { ...order, initial_context: { first_name: 'Ada' } }, keyed('one'));
  vi.setSystemTime(Date.now() + 86_400_001);
  await client.post(path, order, keyed('one'));
  expect((await client.get(path)).body.total).toBe(5);
  expect(new Set(requests.flatMap(({ calls }) => calls.map((call) => call.key))).size).toBe(5);
});

test('a contact is called at its phone, and the run names it', async () => {
  const { client, agent } = await withAgent();
  const requests = takingSlots();
  await configured(client);
  const phone = newPhone();
  const { id } = (await client.post('/contacts', { phone })).body;
  const started = await client.post(`/workflow/${agent.id}/runs`, { mode: 'telephony', contact_id: id });
  expect(started.body).toMatchObject({ phone, contact_id: id });
  expect(requests[0]!.calls).toMatchObject([{ phone, contactId: id }]);
});

test('who is called is said once: by phone or by contact', async () => {
  const { client, agent } = await withAgent();
  const requests = takingSlots();
  await configured(client);
  const contact = (await client.post('/contacts', { email: 'a@example.com' })).body.id;
  const refused = async (body: Record<string, unknown>, ...expected: string[]) => {
    const answer = await client.post(`/workflow/${agent.id}/runs`, body);
    expect([body, answer.status, locs(answer)]).toEqual([body, 422, expected]);
    return answer.body.detail[0].msg;
  };
  expect(await refused({ mode: 'telephony' }, 'body.phone')).toContain('"phone" or "contact_id"');
  expect(await refused({ mode: 'telephony', phone: newPhone(), contact_id: contact }, 'body.phone')).toContain('not both');
  expect(await refused({ mode: 'telephony', phone: 'N/A' }, 'body.phone')).toContain('N/A');
  await refused({ mode: 'telephony', contact_id: contact }, 'body.contact_id');
  await refused({ mode: 'carrier pigeon', phone: newPhone() }, 'body.mode');
  await refused({}, 'body.mode');
  await refused({ mode: 'telephony', phone: newPhone(), initial_context: [] }, 'body.initial_context');
  await refused({ mode: 'textchat', initial_context: { long: 'x'.repeat(300_000) } }, 'body.initial_context');
  const stranger = await withAgent();
  const theirs = (await stranger.client.post('/contacts', { phone: newPhone() })).body.id;
  for (const mode of ['telephony', 'textchat'])
    expect(await client.post(`/workflow/${agent.id}/runs`, { mode, contact_id: theirs })).toMatchObject({
      status: 404,
      body: { detail: 'Contact not found' },
    });
  expect(requests).toEqual([]);
});

test('without telephony, and with an archived agent, nothing starts: 409 says what to do', async () => {
  const { client, agent } = await withAgent();
  const requests = takingSlots();
  const path = `/workflow/${agent.id}/runs`;
  expect(await client.post(path, { mode: 'telephony', phone: newPhone() })).toMatchObject({
    status: 409,
    body: { detail: 'telephony_not_configured', message: expect.stringContaining('/organizations/telephony-configs') },
  });
  await configured(client);
  await client.put(`/workflow/${agent.id}/status`, { status: 'archived' });
  for (const body of [{ mode: 'telephony', phone: newPhone() }, { mode: 'textchat' }])
    expect(await client.post(path, body)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('archived') } });
  expect(requests).toEqual([]);
  expect((await client.get(path)).body.total).toBe(0);
});

test('a text chat begins with the greeting of the agent, and ends when it is asked to', async () => {
  const { client, agent } = await withAgent();
  const started = await client.post(`/workflow/${agent.id}/runs`, { mode: 'textchat', initial_context: { first_name: 'Ada' } });
  expect(started).toMatchObject({
    status: 200,
    body: {
      mode: 'textchat',
      is_completed: false,
      phone: null,
      gathered_context: { call_status: 'in_progress', nodes_visited: ['start'] },
    },
  });
  const said = started.body.logs.events.find(({ type }: { type: string }) => type === 'agent_said');
  expect(said.payload.text).toContain('Hello Ada');
  const path = `/workflow/${agent.id}/runs/${started.body.id}`;
  for (const ended of [await client.post(`${path}/end`), await client.post(`${path}/end`, {})])
    expect(ended).toMatchObject({
      status: 200,
      body: { is_completed: true, outcome: 'completed', gathered_context: { call_status: 'completed' } },
    });
  const text = await client.get(`${path}/transcript`);
  expect(text).toMatchObject({ status: 200, body: expect.stringContaining('Hello Ada') });
  expect((await client.post(`${path}/messages`, { text: 'Hello?' })).status).toBe(409);
});

test('a text chat whose beginning failed is the same chat when it is asked for again', async () => {
  const { client, agent } = await withAgent();
  quiet();
  const path = `/workflow/${agent.id}/runs`;
  const object = vi
    .spyOn(env.CALL, 'getByName')
    .mockImplementation(() => ({ begin: () => Promise.reject(new Error('the object was reset')) }) as never);
  const order = { mode: 'textchat', initial_context: { first_name: 'Ada' } };
  expect((await client.post(path, order, keyed('one'))).status).toBe(500);
  object.mockRestore();
  await client.put(`/workflow/${agent.id}/status`, { status: 'archived' });
  const again = await client.post(path, order, keyed('one'));
  expect(again).toMatchObject({ status: 200, body: { is_completed: false, gathered_context: { nodes_visited: ['start'] } } });
  expect((await client.get(path)).body).toMatchObject({ total: 1, runs: [{ id: again.body.id }] });
});

test('a message whose answer failed is the same message when it comes again, and another one otherwise', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent, { mode: 'textchat' });
  quiet();
  const keys: string[] = [];
  const say = async (_organization: number, _run: number, { key }: { key: string }) => {
    keys.push(key);
    throw new Error('the object was reset');
  };
  vi.spyOn(env.CALL, 'getByName').mockImplementation(() => ({ sendMessage: say, streamMessage: say }) as never);
  const send = async (body: object, headers: Record<string, string> = {}) => {
    keys.length = 0;
    expect((await client.post(`/workflow/${agent.id}/runs/${run.id}/messages`, body, headers)).status).toBe(500);
    expect(new Set(keys).size).toBe(1);
    return keys[0]!;
  };
  const hello = { text: 'Hello' };
  const first = await send(hello, keyed('one'));
  expect(await send(hello, keyed('one'))).toBe(first);
  expect(await send(hello, { ...keyed('one'), Accept: 'text/event-stream' })).toBe(first);
  const others = [
    await send(hello),
    await send(hello),
    await send(hello, keyed('two')),
    await send({ text: 'Hello?' }, keyed('one')),
    await send({ ...hello, expected_revision: 1 }, keyed('one')),
  ];
  expect(new Set([first, ...others]).size).toBe(6);
});

test('a message has words, and not too many', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent, { mode: 'textchat' });
  const path = `/workflow/${agent.id}/runs/${run.id}/messages`;
  const refused = async (body: unknown, ...expected: string[]) => {
    const answer = await client.post(path, body);
    expect([answer.status, locs(answer)]).toEqual([422, expected]);
  };
  await refused({}, 'body.text');
  await refused({ text: ' \n' }, 'body.text');
  await refused({ text: 'x'.repeat(10_001) }, 'body.text');
  await refused({ text: 'x', expected_revision: -1 }, 'body.expected_revision');
  await refused({ text: 'x', expected_revision: '3' }, 'body.expected_revision');
});

test('a message is answered as JSON, or word by word to who accepts events', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent, { mode: 'textchat' });
  const state = { messages: [{ id: 2, role: 'user', text: 'Hello', at: '2026-01-01T00:00:00.000Z' }], revision: 3, is_completed: false };
  const received: unknown[] = [];
  const events = 'event: token\ndata: {"text":"Hi"}\n\n';
  vi.spyOn(env.CALL, 'getByName').mockImplementation(
    () =>
      ({
        sendMessage: async (_organization: number, _run: number, message: object) => (received.push(message), { refusal: null, state }),
        streamMessage: async (_organization: number, _run: number, message: object) => (
          received.push(message),
          { refusal: null, stream: new Response(events).body }
        ),
      }) as never,
  );
  const path = `/workflow/${agent.id}/runs/${run.id}/messages`;
  expect(await client.post(path, { text: 'Hello', expected_revision: 1 })).toMatchObject({ status: 200, body: state });
  const streamed = await client.post(path, { text: 'Hello' }, { Accept: 'application/json;q=0.1, text/event-stream' });
  expect(streamed).toMatchObject({ status: 200, body: events });
  expect(streamed.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(received).toMatchObject([
    { text: 'Hello', expectedRevision: 1 },
    { text: 'Hello', expectedRevision: null },
  ]);
});

test('a call takes no written messages', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent);
  for (const what of ['messages', 'end'])
    expect(await client.post(`/workflow/${agent.id}/runs/${run.id}/${what}`, { text: 'Hello' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('call') },
    });
});

test('another organization neither starts, writes nor ends anything here, and a key that may only read does not either', async () => {
  const { client, agent, context } = await withAgent();
  const run = await newRun(context, agent, { mode: 'textchat' });
  const { client: stranger } = await withAgent();
  const { api_key: key } = (await client.post('/user/api-keys', { name: 'r', scopes: ['read'] })).body;
  const { client: reader } = recordedClient(key);
  const runs = `/workflow/${agent.id}/runs`;
  const attempts = async (one: Client) => [
    (await one.post(runs, { mode: 'textchat' })).status,
    (await one.post(runs, { mode: 'telephony', phone: newPhone() })).status,
    (await one.post(`${runs}/${run.id}/messages`, { text: 'Hello' })).status,
    (await one.post(`${runs}/${run.id}/messages`, { text: 'Hello' }, { Accept: 'text/event-stream' })).status,
    (await one.post(`${runs}/${run.id}/end`)).status,
  ];
  expect(await attempts(stranger)).toEqual([404, 404, 404, 404, 404]);
  expect(await attempts(reader)).toEqual([403, 403, 403, 403, 403]);
  expect((await client.post(`${runs}/999999999/end`)).status).toBe(404);
  expect((await client.get(runs)).body.total).toBe(1);
});
