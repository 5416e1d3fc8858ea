import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Database } from '../../src/database/client.ts';
import { requestAgain } from '../../src/calls/placing/request-again.ts';
import { requestCall } from '../../src/calls/placing/request-call.ts';
import type { CallsRequest } from '../../src/calls/contract.ts';
import { findStalledCalls } from '../../src/calls/placing/store.ts';
import { findAgentRun } from '../../src/calls/records/store.ts';
import { findStalledChats } from '../../src/calls/text-chat/store.ts';
import { tickAt } from '../support/background.ts';
import { newPhone } from '../support/organization.ts';
import { recordedClient, recordedDatabase } from '../support/recorded-database.ts';
import { twilioConfig } from '../voice-agents/carrier-accounts.ts';
import { newRun, settle, settlement, withAgent } from '../voice-agents/runs.ts';

beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

const minutes = (count: number) => Date.now() + count * 60_000;

/** An organization that can call, with call slots that accept all requests unless they are unreachable. */
async function setUp() {
  const organization = await withAgent();
  const { id, client, agent, context } = organization;
  const slots = { isOut: false, requests: [] as CallsRequest[] };
  vi.spyOn(env.CALL_SLOTS, 'getByName').mockImplementation(
    (name) =>
      ({
        request: async (_organization: number, request: CallsRequest) => {
          // Other organizations have calls of their own.
          if (name !== String(id)) return;
          if (slots.isOut) throw new Error('the object was reset');
          slots.requests.push(request);
        },
        getCallStatus: async () => null,
        dialingPolicyChanged: async () => undefined,
      }) as never,
  );
  await client.post('/organizations/telephony-configs', twilioConfig());
  const order = { mode: 'telephony', phone: newPhone(), initial_context: { first_name: 'Ada' } };
  const start = (by = client) => by.post(`/workflow/${agent.id}/runs`, order);
  const rows = async () => (await client.get(`/workflow/${agent.id}/runs`)).body.runs as { id: number }[];
  return { ...organization, context, slots, order, start, rows };
}

test('a call that could not be queued is queued by the minute tick, once, and the caller gets no error', async () => {
  const { agent, context, slots, order, start } = await setUp();
  slots.isOut = true;
  const started = await start();
  expect(started).toMatchObject({ status: 200, body: { is_completed: false, gathered_context: { call_status: 'queued' } } });
  const { attempt_key: key } = (await findAgentRun(context, started.body.id))!;
  await tickAt(minutes(3));
  slots.isOut = false;
  await tickAt(minutes(1));
  expect(slots.requests).toEqual([]);
  await tickAt(minutes(3));
  await tickAt(minutes(4));
  expect(slots.requests).toEqual([
    {
      owner: { kind: 'single', id: 0 },
      epoch: 0,
      maxConcurrency: null,
      calls: [
        {
          key,
          phone: order.phone,
          agentId: agent.id,
          contactId: null,
          initialContext: JSON.stringify(order.initial_context),
          name: `Sales to ${order.phone}`,
          notAfter: null,
        },
      ],
    },
  ]);
});

test('a call whose request dies as soon as its row is written is queued by the minute tick', async () => {
  const { key, slots, start, rows } = await setUp();
  let isWritten = false;
  const { client: dying } = recordedClient(key, {
    beforeCall: async ([sql]) => {
      if (isWritten) throw new Error('D1_ERROR: it dies here');
      isWritten = sql!.includes('INSERT INTO voice_agent_run');
    },
  });
  expect((await start(dying)).status).toBe(500);
  expect(await rows()).toHaveLength(1);
  expect(slots.requests).toEqual([]);
  await tickAt(minutes(3));
  expect(slots.requests.flatMap(({ calls }) => calls)).toHaveLength(1);
});

test('a call is requested again under the same key when the tick dies after its request', async () => {
  const { id, slots, start, rows } = await setUp();
  await start();
  const [run] = await rows();
  const dying = new Database(
    recordedDatabase(env.DB, { statements: [], calls: 0 }, async ([sql]) => {
      if (sql!.startsWith('UPDATE')) throw new Error('D1_ERROR: it dies here');
    }),
    true,
  );
  await expect(requestAgain(env, dying, id, [run!.id])).rejects.toThrow('it dies here');
  await tickAt(minutes(3));
  const keys = slots.requests.flatMap(({ calls }) => calls.map(({ key }) => key));
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});

test('a call that is over, or that a journey requested, is not requested again', async () => {
  const { agent, context, slots, start } = await setUp();
  const { body } = await start();
  await settle(context, settlement(body.id));
  const journey = await requestCall(context, {
    owner: { kind: 'journey', id: 7 },
    key: 'journey:7:n:1:1',
    agent: { ...agent, name: 'Sales', status: 'active' },
    phone: newPhone(),
    contactId: null,
    automationRunId: 7,
    initialContext: {},
    notAfter: null,
  });
  for (const runId of [body.id, journey.runId]) expect((await findAgentRun(context, runId))!.wake_at).toBeNull();
  const before = slots.requests.length;
  await tickAt(minutes(3));
  expect(slots.requests).toHaveLength(before);
});

test('a journey gets the error of a call that could not be queued, and repeats the request itself', async () => {
  const { agent, context, slots } = await setUp();
  slots.isOut = true;
  const asked = requestCall(context, {
    owner: { kind: 'journey', id: 7 },
    key: 'journey:7:n:1:1',
    agent: { ...agent, name: 'Sales', status: 'active' },
    phone: newPhone(),
    contactId: null,
    automationRunId: 7,
    initialContext: {},
    notAfter: null,
  });
  await expect(asked).rejects.toThrow('the object was reset');
});

test('the minute tick distinguishes waiting calls from waiting chats', async () => {
  const { context, agent } = await withAgent();
  const database = new Database(env.DB, true);
  const call = await newRun(context, agent, { wakeAt: 1 });
  const chat = await newRun(context, agent, { mode: 'textchat', wakeAt: 1 });
  const found = async (read: typeof findStalledCalls) =>
    (await read(database, 2, 500)).map(({ id }) => id).filter((id) => id === call.id || id === chat.id);
  expect([await found(findStalledCalls), await found(findStalledChats)]).toEqual([[call.id], [chat.id]]);
  await env.DB.prepare('UPDATE voice_agent_run SET wake_at = NULL WHERE id IN (?, ?)').bind(call.id, chat.id).run();
});
