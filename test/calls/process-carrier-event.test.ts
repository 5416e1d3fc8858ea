import { env, exports } from 'cloudflare:workers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallSlotsObject } from '../../durable-objects/call-slots/call-slots-object.ts';
import { CallObject } from '../../durable-objects/call/call-object.ts';
import { publicKey, signatureHeaders } from '../../simulators/telnyx/keys.ts';
import { sign } from '../../simulators/twilio/signature.ts';
import { callStub } from '../support/calls.ts';
import { callingOrganization, type CallingOrganization } from '../support/carrier.ts';
import { newPhone } from '../support/organization.ts';
import { realFetch } from '../support/real-fetch.ts';

// Expected failures are logged.
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

const token = 'a-token-of-the-test';
const telnyxUrl = (env as unknown as { TELNYX_BASE_URL: string }).TELNYX_BASE_URL;
let serial = 0;

/** A submitted attempt, with its run. */
async function submitted(slots: DurableObjectStub<CallSlotsObject>, { id, agentId }: { id: number; agentId: number }) {
  vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
  const key = `single:0:${crypto.randomUUID()}`;
  const phone = newPhone();
  const call = { key, phone, agentId, contactId: null, initialContext: '{}', name: 'A call', notAfter: null };
  await slots.request(id, { owner: { kind: 'single', id: 0 }, epoch: 0, maxConcurrency: null, calls: [call] });
  await vi.waitFor(async () => expect(await slots.beginCalls([key])).toHaveLength(1), { timeout: 5000 });
  const run = await env.DB.prepare(
    `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, initial_context, created_at)
     SELECT organization_id, id, current_definition_id, 'A call', 'twilio', 'outbound', ?, ?, '{}', 1 FROM voice_agent WHERE id = ? RETURNING id`,
  )
    .bind(key, phone, agentId)
    .first<{ id: number }>();
  return { key, runId: run!.id };
}

const rowOf = (runId: number) => env.DB.prepare('SELECT * FROM voice_agent_run WHERE id = ?').bind(runId).first<Record<string, any>>();

const settledRow = (runId: number) =>
  vi.waitFor(
    async () => {
      const row = await rowOf(runId);
      expect(row).toMatchObject({ is_completed: 1 });
      return row!;
    },
    { timeout: 15_000, interval: 20 },
  );

/** A call that Twilio was asked to place, and Twilio's callbacks of it. */
async function twilioCall() {
  const organization = await callingOrganization({ authToken: token });
  const { id, configId, account } = organization;
  const slots = env.CALL_SLOTS.getByName(String(id));
  const { key, runId } = await submitted(slots, organization);
  const call = { CallSid: `CA${String(++serial).padStart(32, '0')}`, AccountSid: account };
  const post = async (purpose: string, more: Record<string, string>) => {
    const url = `https://service.test/api/v1/telephony/${id}/${configId}/calls/${runId}/${purpose}?attempt=${encodeURIComponent(key)}`;
    const form = { ...call, ...more };
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': sign(token, url, Object.entries(form)) };
    return exports.default.fetch(new Request(url, { method: 'POST', headers, body: new URLSearchParams(form).toString() }));
  };
  const picksUp = () => post('answer', { CallStatus: 'in-progress', AnsweredBy: 'human', Direction: 'outbound-api' });
  const hangsUp = () => post('status', { CallStatus: 'completed', CallDuration: '6', Direction: 'outbound-api' });
  const sessionEnds = (SessionStatus: string, SessionId: string, more: Record<string, string> = {}) =>
    post('connect', { SessionStatus, SessionId, ...more });
  /** Opens the socket that a document names, as the carrier does. */
  const connects = async (document: string, callSid = call.CallSid) => {
    const address = relayOf(document).replace('wss:', 'https:');
    const { webSocket, status } = await exports.default.fetch(new Request(address, { headers: { upgrade: 'websocket' } }));
    webSocket?.accept();
    webSocket?.send(JSON.stringify({ type: 'setup', sessionId: 'VX1', callSid }));
    return { status, webSocket };
  };
  return { ...organization, slots, key, runId, stub: callStub(id, runId), picksUp, hangsUp, sessionEnds, connects };
}

const relayOf = (document: string) => /<ConversationRelay url="([^"]+)"/.exec(document)![1]!;
const isBegun = (stub: DurableObjectStub<CallObject>) =>
  vi.waitFor(async () => expect((await stub.snapshot())!.logs.events.some(({ type }) => type === 'started')).toBe(true));

describe('a call whose agent was never connected', () => {
  it('fails when the socket cannot be opened, and says what to check', async () => {
    const { picksUp, sessionEnds, hangsUp, runId, slots, key, stub } = await twilioCall();
    expect(await (await picksUp()).text()).toContain('<ConversationRelay');
    for (const session of ['VX1', 'VX2', 'VX3'])
      expect(await (await sessionEnds('failed', session)).text()).toContain('<ConversationRelay');
    expect(await (await sessionEnds('failed', 'VX4')).text()).toContain('<Hangup');
    // No conversation is left that would wait for a person.
    expect(await stub.snapshot()).toBeNull();
    expect(await (await sessionEnds('failed', 'VX4')).text()).toContain('<Hangup');
    await hangsUp();
    expect(await slots.getCallStatus(key)).toMatchObject({ callStatus: 'failed' });
    const row = await settledRow(runId);
    expect(row).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^agent_not_heard: .*PUBLIC_URL \(https:\/\/service\.test\)/),
    });
  });

  it('fails in the words of the carrier, says what to do, and is not tried again if that cannot help', async () => {
    const fails = (call: Awaited<ReturnType<typeof twilioCall>>, fault: Record<string, string>) => call.sessionEnds('failed', 'VX1', fault);
    for (const [fault, reason] of [
      [{ ErrorCode: '64106', ErrorMessage: 'Invalid voice' }, /workflow_configurations \(Twilio error 64106: Invalid voice\)$/],
      [{ ErrorCode: '64101', ErrorMessage: 'The AI/ML Features Addendum is not accepted' }, /ConversationRelay is not switched on/],
    ] as const) {
      const call = await twilioCall();
      expect(await (await call.picksUp()).text()).toContain('<ConversationRelay');
      expect(await (await fails(call, fault)).text()).toContain('<Hangup');
      await call.hangsUp();
      const row = await settledRow(call.runId);
      expect(row).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(reason) });
      expect(row['reason']).not.toContain('PUBLIC_URL');
    }
  });

  it('fails in the words of the error log of its account, if the line ends without a reason', async () => {
    const call = await twilioCall();
    await call.picksUp();
    const message_text = new URLSearchParams({ Msg: 'The Predictive and Generative AI/ML Features Addendum is not accepted' }).toString();
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) =>
      String(input).includes('/Notifications.json')
        ? Response.json({ notifications: [{ log: '0', error_code: '12200', message_text }] })
        : realFetch(input as RequestInfo, init as RequestInit),
    );
    await call.hangsUp();
    expect(await settledRow(call.runId)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^agent_not_heard: ConversationRelay is not switched on .*Twilio error 12200/),
    });
  });

  it('says what to check when the carrier gives no reason', async () => {
    const call = await twilioCall();
    await call.picksUp();
    await call.hangsUp();
    expect(await settledRow(call.runId)).toMatchObject({
      reason: expect.stringMatching(/^agent_not_heard: the line ended before the agent was on it; .*ConversationRelay/),
    });
  });

  it('fails when the person hangs up before the socket is open, in whatever form the carrier reports it', async () => {
    for (const isToldBySession of [true, false]) {
      const { picksUp, sessionEnds, hangsUp, runId, stub } = await twilioCall();
      await picksUp();
      if (isToldBySession) await sessionEnds('completed', 'VX1');
      await hangsUp();
      expect(await settledRow(runId)).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/^agent_not_heard: /) });
      expect(await stub.snapshot()).toBeNull();
    }
  });

  it('is hung up when its run is over, or the conversation cannot begin', async () => {
    const over = await twilioCall();
    await env.DB.prepare("UPDATE voice_agent_run SET is_completed = 1, outcome = 'cancelled' WHERE id = ?").bind(over.runId).run();
    expect(await (await over.picksUp()).text()).toContain('<Hangup');
    await over.hangsUp();
    expect(await over.slots.getCallStatus(over.key)).toMatchObject({ callStatus: 'failed' });

    vi.spyOn(CallObject.prototype, 'begin').mockRejectedValue(new Error('the database is down'));
    const failing = await twilioCall();
    const answer = await failing.picksUp();
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('<Hangup')]);
    await failing.hangsUp();
    expect(await settledRow(failing.runId)).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/^agent_not_heard: /) });
  });

  it('is no call on which the agent has greeted, however the line ended', async () => {
    const { picksUp, connects, sessionEnds, hangsUp, runId, stub } = await twilioCall();
    await connects(await (await picksUp()).text());
    await isBegun(stub);
    for (const session of ['VX1', 'VX2', 'VX3'])
      expect(await (await sessionEnds('failed', session)).text()).toContain('<ConversationRelay');
    expect(await (await sessionEnds('failed', 'VX4')).text()).toContain('<Hangup');
    await hangsUp();
    expect(await settledRow(runId)).toMatchObject({ outcome: 'completed', reason: null });
  });
});

describe('the address of a socket', () => {
  it('opens it once, and differs in each document', async () => {
    const { picksUp, connects, stub } = await twilioCall();
    const [first, second] = [await (await picksUp()).text(), await (await picksUp()).text()];
    expect(relayOf(first)).not.toBe(relayOf(second));
    expect((await connects(first)).status).toBe(101);
    await isBegun(stub);
    expect((await connects(first)).status).toBe(409);
    expect((await connects(second)).status).toBe(101);
  });

  it('does not give a call to the session of another one', async () => {
    const { picksUp, connects, stub } = await twilioCall();
    const { webSocket } = await connects(await (await picksUp()).text(), 'CA-of-another-call');
    await new Promise((resolve) => webSocket!.addEventListener('close', resolve));
    const { logs } = (await stub.snapshot())!;
    expect(logs.events.map(({ type, payload }) => [type, payload])).toEqual([
      ['frame_ignored', { fault: expect.stringContaining('callSid') }],
    ]);
  });
});

/** A call that Telnyx was asked to place. Telnyx does the commands in `given`, except those in `failing`. */
async function telnyxCall(options: CallingOrganization = {}) {
  const organization = await callingOrganization(options);
  const { id, client, agentId } = organization;
  const config = await client.post('/organizations/telephony-configs', {
    name: 'Second carrier',
    provider: 'telnyx',
    telnyx: { api_key: 'KEY-of-the-test', connection_id: '1494404757140276705', public_key: publicKey },
    from_numbers: ['+15005550007'],
    inbound_workflow_id: agentId,
  });
  expect(config.status).toBe(200);
  const slots = env.CALL_SLOTS.getByName(String(id));
  const { key, runId } = await submitted(slots, organization);
  const callId = `v3:${++serial}`;
  const base = `https://service.test/api/v1/telephony/${id}/${config.body.id}`;
  const given: string[] = [];
  const failing = new Set<string>();
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const action = url.startsWith(telnyxUrl) && /\/actions\/(\w+)$/.exec(url)?.[1];
    if (!action) return realFetch(input as RequestInfo, init as RequestInit);
    given.push(action);
    if (failing.has(action)) return Response.json({ errors: [{ code: '10000', title: 'Down' }] }, { status: 503 });
    return Response.json({ data: { result: 'ok' } });
  });
  const post = (address: string, type: string, more: Record<string, unknown> = {}, attempt: string | null = key) => {
    const payload = { call_control_id: callId, client_state: attempt === null ? null : btoa(attempt), ...more };
    const body = JSON.stringify({ data: { event_type: type, occurred_at: new Date().toISOString(), payload } });
    const headers = { 'content-type': 'application/json', ...signatureHeaders(body, Date.now()) };
    return exports.default.fetch(new Request(address, { method: 'POST', headers, body }));
  };
  const statusUrl = (run = runId, attempt = key) => `${base}/calls/${run}/status?attempt=${encodeURIComponent(attempt)}`;
  const tell = (type: string, more: Record<string, unknown> = {}) => post(statusUrl(), type, more);
  const picksUp = () => tell('call.answered');
  const hangsUp = () => tell('call.hangup', { hangup_cause: 'normal_clearing' });
  return {
    ...organization,
    base,
    slots,
    key,
    runId,
    callId,
    given,
    failing,
    post,
    statusUrl,
    tell,
    picksUp,
    hangsUp,
    stub: callStub(id, runId),
  };
}

describe('a carrier that takes commands', () => {
  it('gets the command to end a line that it does not connect, and the call fails', async () => {
    const { picksUp, hangsUp, failing, given, runId, stub } = await telnyxCall();
    failing.add('conversation_relay_start');
    expect((await picksUp()).status).toBe(200);
    expect(given).toEqual(['conversation_relay_start', 'conversation_relay_start', 'hangup']);
    expect(await stub.snapshot()).toBeNull();
    await hangsUp();
    expect(await settledRow(runId)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(/^agent_not_heard: .*\(Telnyx answered with status 503: Down\)$/),
    });
  });

  it('repeats the event of a command that failed', async () => {
    const { picksUp, tell, failing, given, stub } = await telnyxCall();
    await picksUp();
    const socket = (await stub.fetch('https://call.test/relay/once', { headers: { upgrade: 'websocket' } })).webSocket!;
    socket.accept();
    socket.send(JSON.stringify({ type: 'setup', sessionId: 'c1' }));
    await isBegun(stub);
    socket.send(JSON.stringify({ type: 'prompt', voicePrompt: 'Please leave a message after the tone.', last: true }));
    await vi.waitFor(async () => expect((await stub.snapshot())!.logs.events.some(({ type }) => type === 'user_said')).toBe(true));
    failing.add('hangup');
    expect((await tell('call.machine.detection.ended', { result: 'machine' })).status).toBe(200);
    const ends = () => tell('call.conversation.ended', { reason: 'whatever', conversation_id: 'c1' });
    expect((await ends()).status).toBe(502);
    failing.clear();
    expect((await ends()).status).toBe(200);
    expect(given).toEqual(['conversation_relay_start', 'hangup', 'hangup']);
  });

  it('connects the agent at once, and ends the conversation when a machine has answered', async () => {
    const { picksUp, tell, hangsUp, given, runId, stub } = await telnyxCall();
    await picksUp();
    expect(given).toEqual(['conversation_relay_start']);
    const socket = (await stub.fetch('https://call.test/relay/once', { headers: { upgrade: 'websocket' } })).webSocket!;
    const frames: Record<string, unknown>[] = [];
    socket.addEventListener('message', ({ data }) => void frames.push(JSON.parse(String(data))));
    socket.accept();
    socket.send(JSON.stringify({ type: 'setup', sessionId: 'c1' }));
    await isBegun(stub);
    await tell('call.machine.detection.ended', { result: 'machine' });
    socket.send(JSON.stringify({ type: 'prompt', voicePrompt: 'Please leave a message after the tone.', last: true }));
    await vi.waitFor(() => expect(frames.at(-1)).toMatchObject({ type: 'end' }));
    expect((await tell('call.conversation.ended', { reason: 'whatever', conversation_id: 'c1' })).status).toBe(200);
    await hangsUp();
    expect(given).toEqual(['conversation_relay_start', 'hangup']);
    expect(await settledRow(runId)).toMatchObject({ outcome: 'voicemail', reason: null });
  });

  it('is asked for a recording by its leg, since the webhook does not name the call', async () => {
    const { post, statusUrl, picksUp, hangsUp, runId, key } = await telnyxCall();
    await picksUp();
    await hangsUp();
    await settledRow(runId);
    const asked = vi
      .spyOn(globalThis, 'fetch')
      .mockImplementation(async (input) =>
        String(input).startsWith(telnyxUrl)
          ? Response.json({ data: [{ id: 'r1', download_urls: { mp3: 'https://store.example.com/1.mp3' } }] })
          : new Response('sound', { headers: { 'content-type': 'audio/mpeg' } }),
      );
    const saved = { call_control_id: undefined, call_leg_id: 'leg-1', recording_urls: { mp3: 'https://store.example.com/old.mp3' } };
    expect((await post(statusUrl(), 'call.recording.saved', saved, key)).status).toBe(200);
    await vi.waitFor(async () => expect(await rowOf(runId)).toMatchObject({ recording_type: 'audio/mpeg' }), { timeout: 5000 });
    const urls = asked.mock.calls.map(([input]) => String(input));
    expect(urls.filter((url) => /recordings|store\.example/.test(url))).toEqual([
      `${telnyxUrl}/recordings?filter%5Bcall_leg_id%5D=leg-1`,
      'https://store.example.com/1.mp3',
    ]);
  });

  it('gets no second command to connect when it repeats the answer', async () => {
    const { picksUp, tell, given, stub } = await telnyxCall();
    await picksUp();
    const socket = await stub.fetch('https://call.test/relay/once', { headers: { upgrade: 'websocket' } });
    socket.webSocket!.accept();
    socket.webSocket!.send(JSON.stringify({ type: 'setup', sessionId: 'c1' }));
    await isBegun(stub);
    expect((await tell('call.answered')).status).toBe(200);
    expect((await tell('call.machine.detection.ended', { result: 'human' })).status).toBe(200);
    expect(given).toEqual(['conversation_relay_start']);
  });

  it('repeats the event of an inbound call that it did not answer, or did not end', async () => {
    for (const [concurrentCalls, action] of [
      [2, 'answer'],
      [1, 'hangup'],
    ] as const) {
      const { base, post, failing, given } = await telnyxCall({ concurrentCalls });
      const call = { call_control_id: `v3:${++serial}`, direction: 'incoming', from: newPhone(), to: '+15005550007' };
      const rings = () => post(`${base}/inbound`, 'call.initiated', call, null);
      failing.add(action);
      expect((await rings()).status).toBe(502);
      failing.clear();
      expect((await rings()).status).toBe(200);
      expect(given).toEqual([action, action]);
    }
  });
});

describe('a webhook of Telnyx, whose signature does not cover the address', () => {
  it('counts for its own attempt and run, and for no other', async () => {
    const { post, statusUrl, key, runId, slots, given, id } = await telnyxCall();
    const other = await submitted(slots, { id, agentId: (await rowOf(runId))!['agent_id'] });
    const ignored = async (address: string, attempt = key) =>
      expect(await (await post(address, 'call.answered', {}, attempt)).json()).toEqual({ status: 'ignored' });
    await ignored(statusUrl(runId, other.key));
    await ignored(statusUrl(other.runId, other.key));
    await ignored(statusUrl(other.runId, key));
    await ignored(statusUrl(other.runId, key), other.key);
    expect(await slots.getCallStatus(key)).toMatchObject({ callStatus: 'dialing' });
    expect(await slots.getCallStatus(other.key)).toMatchObject({ callStatus: 'dialing' });
    expect(await (await post(statusUrl(), 'call.answered')).json()).toEqual({ status: 'ok' });
    expect(await slots.getCallStatus(key)).toMatchObject({ callStatus: 'in_progress' });
    expect(given).toEqual(['conversation_relay_start']);
  });
});
