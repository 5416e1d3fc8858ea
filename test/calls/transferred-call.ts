import { env, exports } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { publicKey, signatureHeaders } from '../../simulators/telnyx/keys.ts';
import { sign } from '../../simulators/twilio/signature.ts';
import { callStub, stubOutsideServices, waitForCompletedRun } from '../support/calls.ts';
import { callingOrganization } from '../support/carrier.ts';
import { newPhone } from '../support/organization.ts';

export const desk = '+12124560100';
export const cell = '+12124560200';
const token = 'a-token-of-the-test';
const telnyxUrl = (env as unknown as { TELNYX_BASE_URL: string }).TELNYX_BASE_URL;
let serial = 0;

/** An agent that hands a caller to a human who asks for one. */
export const humanAgent = (transfer: object = {}) => ({
  nodes: [
    {
      id: 'start',
      type: 'startCall',
      data: {
        prompt: 'Help the person.',
        greeting: 'Hi.',
        tools: [
          {
            name: 'human_agent',
            description: 'The person asks for a human agent',
            transfer: { to: desk, announcement: 'Ok.', unanswered_message: 'Nobody is free.', ...transfer },
          },
        ],
      },
    },
  ],
  edges: [],
});

/** A call that a carrier was asked to place, with the carrier's requests about it. */
async function placedCall(provider: 'twilio' | 'telnyx', transfer: object, configurations: object) {
  const organization = await callingOrganization({ authToken: token });
  const { id, client, account } = organization;
  const agent = await client.post('/workflow/create/definition', {
    name: 'Desk',
    workflow_definition: humanAgent(transfer),
    workflow_configurations: configurations,
  });
  expect(agent.body.issues).toEqual([]);
  let configId = organization.configId;
  if (provider === 'telnyx') {
    const config = await client.post('/organizations/telephony-configs', {
      name: 'Second carrier',
      provider: 'telnyx',
      telnyx: { api_key: 'KEY-of-the-test', connection_id: '1494404757140276705', public_key: publicKey },
      from_numbers: ['+15005550007'],
    });
    configId = config.body.id;
  }
  vi.spyOn(env.CALLS_QUEUE, 'sendBatch').mockResolvedValue(undefined as never);
  const slots = env.CALL_SLOTS.getByName(String(id));
  const key = `single:0:${crypto.randomUUID()}`;
  const phone = newPhone();
  const call = { key, phone, agentId: agent.body.id, contactId: null, initialContext: '{}', name: 'A call', notAfter: null };
  await slots.request(id, { owner: { kind: 'single', id: 0 }, epoch: 0, maxConcurrency: null, calls: [call] });
  await vi.waitFor(async () => expect(await slots.beginCalls([key])).toHaveLength(1), { timeout: 5000 });
  const run = await env.DB.prepare(
    `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, own_number, initial_context, created_at)
     SELECT organization_id, id, current_definition_id, 'A call', ?, 'outbound', ?, ?, ?, '{}', 1 FROM voice_agent WHERE id = ? RETURNING id`,
  )
    .bind(provider, key, phone, provider === 'twilio' ? '+15005550006' : null, agent.body.id)
    .first<{ id: number }>();
  const runId = run!.id;
  const url = (purpose: string, leg?: number) =>
    `https://service.test/api/v1/telephony/${id}/${configId}/calls/${runId}/${purpose}?attempt=${encodeURIComponent(key)}${leg === undefined ? '' : `&leg=${leg}`}`;
  const read = async () => (await client.get(`/workflow/${agent.body.id}/runs/${runId}`)).body as Record<string, any>;
  const completed = () => waitForCompletedRun(runId);
  return {
    ...organization,
    account,
    agentId: agent.body.id as number,
    configId,
    key,
    runId,
    slots,
    stub: callStub(id, runId),
    url,
    read,
    completed,
  };
}

/** The carrier's end of the relay socket that an address opens. */
async function openRelay(address: string, sessionId: string, callSid: string) {
  const { webSocket } = await exports.default.fetch(new Request(address.replace(/^ws/, 'http'), { headers: { upgrade: 'websocket' } }));
  const frames: Record<string, any>[] = [];
  webSocket!.addEventListener('message', ({ data }) => void frames.push(JSON.parse(String(data))));
  webSocket!.accept();
  webSocket!.send(JSON.stringify({ type: 'setup', sessionId, callSid }));
  const said = () =>
    frames
      .filter(({ type }) => type === 'text')
      .map(({ token: text }) => text)
      .join('');
  return {
    frames,
    said,
    say: (voicePrompt: string) => webSocket!.send(JSON.stringify({ type: 'prompt', voicePrompt, lang: 'en-US', last: true })),
    drop: () => webSocket!.close(1000),
    hears: (text: string) => vi.waitFor(() => expect(said()).toContain(text), { timeout: 10_000, interval: 5 }),
    ends: () =>
      vi.waitFor(
        () => {
          const end = frames.find(({ type }) => type === 'end');
          expect(end).toBeDefined();
          return JSON.parse(end!['handoffData']) as Record<string, unknown>;
        },
        { timeout: 10_000, interval: 5 },
      ),
  };
}

const relayOf = (document: string) => /<ConversationRelay url="([^"]+)"/.exec(document)![1]!.replaceAll('&amp;', '&');

/** A call by Twilio. `picksUp` connects the agent, who greets. */
export async function twilioCall(transfer: object = {}, configurations: object = {}) {
  const placed = await placedCall('twilio', transfer, configurations);
  stubOutsideServices();
  const callSid = `CA${String(++serial).padStart(32, '0')}`;
  const post = async (address: string, form: Record<string, string>, signature?: string) => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': signature ?? sign(token, address, Object.entries(form)),
    };
    return exports.default.fetch(new Request(address, { method: 'POST', headers, body: new URLSearchParams(form).toString() }));
  };
  const call = { CallSid: callSid, AccountSid: placed.account };
  const status = { ...call, CallStatus: 'in-progress', Direction: 'outbound-api' };
  const connects = async (document: string, sessionId: string) => openRelay(relayOf(document), sessionId, callSid);
  const picksUp = async () => {
    const document = await (await post(placed.url('answer'), { ...status, AnsweredBy: 'human' })).text();
    const relay = await connects(document, 'VX1');
    await relay.hears('Hi.');
    return relay;
  };
  const sessionEnds = async (SessionStatus = 'ended', SessionId = 'VX1') =>
    (await post(placed.url('connect'), { ...call, SessionStatus, SessionId })).text();
  /** The action of Dial. */
  const dialled = async (leg: number, DialCallStatus: string, more: Record<string, string> = {}) =>
    (
      await post(placed.url('dialled', leg), {
        ...status,
        DialCallSid: `CB${leg}`,
        DialCallStatus,
        DialCallDuration: '0',
        DialBridged: 'false',
        ...more,
      })
    ).text();
  const humanPicksUp = (leg: number) =>
    post(placed.url('human', leg), {
      ...call,
      CallSid: `CB${leg}`,
      ParentCallSid: callSid,
      CallStatus: 'in-progress',
      Direction: 'outbound-dial',
    });
  /** The verdict of machine detection on the human's line. */
  const verdict = (leg: number, AnsweredBy: string) =>
    post(placed.url('human', leg), { CallSid: `CB${leg}`, AccountSid: placed.account, AnsweredBy, MachineDetectionDuration: '3120' });
  const announcement = async (leg: number) =>
    (
      await post(placed.url('announcement', leg), {
        ...call,
        CallSid: `CB${leg}`,
        ParentCallSid: callSid,
        CallStatus: 'in-progress',
        Direction: 'outbound-dial',
      })
    ).text();
  const hangsUp = (seconds = 30) => post(placed.url('status'), { ...status, CallStatus: 'completed', CallDuration: String(seconds) });
  return { ...placed, callSid, post, status, connects, picksUp, sessionEnds, dialled, humanPicksUp, verdict, announcement, hangsUp };
}

interface Command {
  path: string;
  body: Record<string, any>;
}

/** A call by Telnyx. `given` are the commands; those in `failing` are answered with this status. */
export async function telnyxCall(transfer: object = {}, configurations: object = {}) {
  const placed = await placedCall('telnyx', transfer, configurations);
  const callId = `v3:${++serial}`;
  const given: Command[] = [];
  const failing = new Map<string, number>();
  const other = (request: Request): Response | undefined => {
    if (!request.url.startsWith(telnyxUrl) || request.method !== 'POST') return undefined;
    return obey(request);
  };
  const obey = (request: Request): Response => {
    const command: Command = { path: request.url.slice(telnyxUrl.length).replace(/^.*\/actions\//, ''), body: {} };
    given.push(command);
    void request.json().then((body) => Object.assign(command.body, body));
    const status = failing.get(command.path);
    if (status !== undefined) return Response.json({ errors: [{ code: '10015', title: 'Bad', detail: 'No such number' }] }, { status });
    return Response.json({ data: { result: 'ok', call_control_id: 'v3:human' } });
  };
  stubOutsideServices({ other });
  const post = (address: string, type: string, state: string, more: Record<string, unknown> = {}, headersOf = signatureHeaders) => {
    const payload = { call_control_id: callId, client_state: btoa(state), ...more };
    const body = JSON.stringify({ data: { event_type: type, occurred_at: new Date().toISOString(), payload } });
    const headers = { 'content-type': 'application/json', ...headersOf(body, Date.now()) };
    return exports.default.fetch(new Request(address, { method: 'POST', headers, body }));
  };
  const tell = (type: string, more: Record<string, unknown> = {}) => post(placed.url('status'), type, placed.key, more);
  /** A webhook about the line of the human, at the address or at that of the caller's line. */
  const tellHuman = (leg: number, type: string, more: Record<string, unknown> = {}, purpose: 'human' | 'status' = 'human') =>
    post(placed.url(purpose, purpose === 'human' ? leg : undefined), type, `transfer:${leg}:${placed.key}`, {
      call_control_id: `v3:human-${leg}`,
      ...more,
    });
  const commands = () => given.map(({ path }) => path);
  const last = (path: string) => given.findLast((command) => command.path === path)!.body;
  const connects = async (sessionId: string) => openRelay(last('conversation_relay_start')['url'], sessionId, callId);
  const picksUp = async () => {
    await tell('call.answered');
    const relay = await connects('c1');
    await relay.hears('Hi.');
    return relay;
  };
  const sessionEnds = (conversation_id = 'c1') => tell('call.conversation.ended', { reason: 'whatever', conversation_id });
  const hangsUp = () => tell('call.hangup', { hangup_cause: 'normal_clearing' });
  return { ...placed, callId, given, failing, post, tell, tellHuman, commands, last, connects, picksUp, sessionEnds, hangsUp };
}
