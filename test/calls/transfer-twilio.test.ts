import { evictDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { configPath, messagesPath, newCredentials, takenFor } from '../messaging/accounts.ts';
import { newOrganization, newPhone } from '../support/organization.ts';
import { cell, desk, humanAgent, twilioCall } from './transferred-call.ts';

// Expected failures are logged.
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined));
afterEach(() => vi.restoreAllMocks());

const askForHuman = 'I want to talk to a human agent';

/** A call whose agent has handed it over: the document that dials the human. */
async function handedOver(transfer: object = {}, configurations: object = {}) {
  const call = await twilioCall(transfer, configurations);
  const relay = await call.picksUp();
  relay.say(askForHuman);
  expect(await relay.ends()).toEqual({ run_id: call.runId, reason: 'transfer' });
  return { ...call, relay, document: await call.sessionEnds() };
}

describe('a caller who is handed to a human by Twilio', () => {
  test('is connected by Dial, and the run tells who took the call and for how long', async () => {
    const { document, humanPicksUp, dialled, hangsUp, completed, read, client, runId } = await handedOver({
      ring_seconds: 20,
      max_seconds: 600,
    });
    expect(document).toContain('<Dial ');
    for (const attribute of ['timeout="20"', 'timeLimit="600"', 'callerId="+15005550006"']) expect(document).toContain(attribute);
    expect(document).toMatch(/ action="https:[^"]+\/dialled\?attempt=[^"]+&amp;leg=1"/);
    expect(document).toMatch(
      /<Number statusCallback="[^"]+\/human\?[^"]+leg=1" statusCallbackMethod="POST" statusCallbackEvent="answered" machineDetection="Enable" amdStatusCallback="[^"]+\/human\?[^"]+leg=1" amdStatusCallbackMethod="POST">\+12124560100<\/Number>/,
    );
    expect((await read())['transfers']).toMatchObject([{ to: desk, state: 'dialing', answered_at: null }]);
    expect((await humanPicksUp(1)).status).toBe(200);
    expect((await read())['transfers']).toMatchObject([{ state: 'connected', answered_at: expect.any(String) }]);
    expect(await dialled(1, 'completed', { DialCallDuration: '42', DialBridged: 'true' })).toContain('<Hangup');
    await hangsUp(60);
    expect(await completed()).toMatchObject({ outcome: 'completed' });
    const run = await read();
    expect(run['transfers']).toEqual([
      {
        request: 1,
        to: desk,
        mode: 'cold',
        is_fallback: false,
        state: 'completed',
        requested_at: expect.any(String),
        answered_at: expect.any(String),
        seconds: 42,
        reason: null,
      },
    ]);
    expect(run['logs'].events.find(({ type }: { type: string }) => type === 'ended').payload).toEqual({ reason: 'transferred' });
    const { body } = await client.get('/calls');
    expect(body.calls.find(({ id }: { id: number }) => id === runId)).toMatchObject({
      transferred_to: desk,
      transfer_mode: 'cold',
      transfer_is_fallback: false,
      transfer_state: 'completed',
      transfer_seconds: 42,
      transfer_reason: null,
    });
  });

  test('comes back to the agent, who says the sentence and goes on, when nobody answers', async () => {
    const { dialled, connects, read, hangsUp, completed } = await handedOver();
    const document = await dialled(1, 'no-answer');
    expect(document).toContain('<ConversationRelay');
    const relay = await connects(document, 'VX2');
    await relay.hears('Nobody is free.');
    relay.say('Goodbye');
    await relay.ends();
    await hangsUp();
    await completed();
    expect((await read())['transfers']).toMatchObject([{ state: 'failed', reason: 'no_answer', seconds: null, answered_at: null }]);
  });

  test('is connected with the fallback when the first is busy', async () => {
    const { dialled, hangsUp, completed, read } = await handedOver({ fallback_to: cell });
    const second = await dialled(1, 'busy');
    expect(second).toContain(`>${cell}</Number>`);
    expect(second).toContain('leg=2');
    // The request is repeated when its answer was lost: nobody else is dialled.
    expect(await dialled(1, 'busy')).toBe(second);
    expect(await dialled(2, 'completed', { DialCallDuration: '9', DialBridged: 'true' })).toContain('<Hangup');
    await hangsUp();
    await completed();
    expect((await read())['transfers']).toMatchObject([
      { to: desk, state: 'failed', reason: 'busy', is_fallback: false },
      { to: cell, state: 'completed', seconds: 9, is_fallback: true },
    ]);
    expect((await read())['transfers'].map(({ request }: { request: number }) => request)).toEqual([1, 1]);
  });

  test('waits until the human has heard the summary, in a warm transfer', async () => {
    const { document, announcement, dialled } = await handedOver({ mode: 'warm' }, { language: 'de-DE' });
    expect(document).toMatch(/<Number url="[^"]+\/announcement\?[^"]+leg=1" method="POST"/);
    const heard = await announcement(1);
    expect(heard).toMatch(/<Say language="de-DE">.+<\/Say>/);
    expect(await announcement(1)).toBe(heard);
    expect(await dialled(1, 'completed', { DialCallDuration: '5' })).toContain('<ConversationRelay');
    // The caller is with the agent again, so a late human is not connected.
    expect(await announcement(1)).toContain('<Hangup');
  });

  test('may be handed to a SIP address', async () => {
    const { document } = await handedOver({ to: 'sip:desk@pbx.example.com' });
    expect(document).toContain('>sip:desk@pbx.example.com</Sip>');
  });

  test('is dialled for once, however often the end of the session is reported, also by an object that was evicted', async () => {
    const { document, sessionEnds, stub, read } = await handedOver();
    expect(await sessionEnds()).toBe(document);
    await evictDurableObject(stub);
    expect(await sessionEnds()).toBe(document);
    expect((await read())['transfers']).toHaveLength(1);
  });

  test('is handed over although the socket is lost with the last frame', async () => {
    const call = await twilioCall();
    const relay = await call.picksUp();
    relay.say(askForHuman);
    await relay.ends();
    relay.drop();
    expect(await call.sessionEnds('failed')).toContain('<Dial ');
  });

  test('who hangs up while it rings was not transferred, and the report that comes later changes nothing', async () => {
    const { hangsUp, completed, read, dialled } = await handedOver();
    await hangsUp();
    await completed();
    expect((await read())['transfers']).toMatchObject([{ state: 'failed', reason: 'caller_hung_up' }]);
    expect(await dialled(1, 'canceled')).toContain('<Hangup');
  });

  test('who hangs up on the human has talked with them, also when the end of the call is reported first', async () => {
    const { hangsUp, humanPicksUp, completed, read, dialled } = await handedOver();
    await humanPicksUp(1);
    await hangsUp();
    expect(await dialled(1, 'completed', { DialCallDuration: '17', DialBridged: 'true' })).toContain('<Hangup');
    await completed();
    expect((await read())['transfers']).toMatchObject([{ state: 'completed', seconds: 17 }]);
  });

  test('is told the carrier’s reason in the record when dialling fails', async () => {
    const { dialled, read } = await handedOver();
    await dialled(1, 'failed', { ErrorCode: '13225', ErrorMessage: 'Dial: Forbidden phone number' });
    expect((await read())['transfers']).toMatchObject([{ state: 'failed', reason: 'failed: error 13225: Dial: Forbidden phone number' }]);
  });
});

/** The carrier's lines that were ended by a command, in order; the command fails so many times. */
function watchHangUps(failures = 0) {
  const ended: string[] = [];
  let failing = failures;
  const others = vi.mocked(globalThis.fetch).getMockImplementation()!;
  vi.mocked(globalThis.fetch).mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const sid = /\/Calls\/(\w+)\.json$/.exec(request.url)?.[1];
    if (request.method !== 'POST' || sid === undefined) return others(input, init);
    ended.push(sid);
    return failing-- > 0 ? new Response('{}', { status: 503 }) : Response.json({ sid, status: 'completed' });
  });
  return ended;
}

describe('a mailbox that answers in the place of the human', () => {
  test('has not taken the call: its line is ended, the fallback is dialled, and the record says so', async () => {
    const { humanPicksUp, verdict, dialled, hangsUp, completed, read, client, runId } = await handedOver({ fallback_to: cell });
    const ended = watchHangUps();
    await humanPicksUp(1);
    expect((await verdict(1, 'machine_start')).status).toBe(200);
    expect(ended).toEqual(['CB1']);
    const second = await dialled(1, 'completed', { DialCallDuration: '4', DialBridged: 'true' });
    expect(second).toContain(`>${cell}</Number>`);
    expect(await dialled(2, 'completed', { DialCallDuration: '9', DialBridged: 'true' })).toContain('<Hangup');
    await hangsUp();
    await completed();
    expect((await read())['transfers']).toMatchObject([
      { to: desk, state: 'failed', reason: 'machine', answered_at: null, seconds: null },
      { to: cell, state: 'completed', seconds: 9, is_fallback: true },
    ]);
    const { totals } = (await client.get('/statistics/calls?from=1970-01-01&to=1970-01-01')).body;
    expect(totals).toMatchObject({ transfers: 1, transfers_taken: 1, transfer_seconds: 9 });
    const { body } = await client.get('/calls');
    expect(body.calls.find(({ id }: { id: number }) => id === runId)).toMatchObject({ transfer_is_fallback: true, transfer_seconds: 9 });
  });

  test('gives the caller back to the agent without a fallback, and is told apart from a caller who hangs up on it', async () => {
    const { verdict, dialled, connects, read } = await handedOver();
    watchHangUps();
    await verdict(1, 'machine_end_beep');
    const relay = await connects(await dialled(1, 'completed', { DialCallDuration: '4', DialBridged: 'true' }), 'VX2');
    await relay.hears('Nobody is free.');
    expect((await read())['transfers']).toMatchObject([{ state: 'failed', reason: 'machine' }]);
    const impatient = await handedOver();
    watchHangUps();
    await impatient.humanPicksUp(1);
    await impatient.verdict(1, 'machine_start');
    await impatient.hangsUp();
    await impatient.completed();
    expect(await impatient.read()).toMatchObject({ transfers: [{ state: 'failed', reason: 'machine', answered_at: null }] });
  });

  test('is hung up on again when the command fails, once for each verdict, and a verdict that it is a person ends nothing', async () => {
    const { verdict } = await handedOver();
    const ended = watchHangUps(1);
    expect((await verdict(1, 'machine_start')).status).toBe(200);
    expect(ended).toEqual(['CB1', 'CB1']);
    for (const word of ['human', 'unknown']) expect((await verdict(1, word)).status).toBe(200);
    expect(ended).toHaveLength(2);
  });

  test('is told in the record by a verdict that comes after the end of the call, which changes nothing else', async () => {
    const { verdict, dialled, read } = await handedOver({ fallback_to: cell });
    expect(await dialled(1, 'completed', { DialCallDuration: '4', DialBridged: 'true' })).toContain('<Hangup');
    watchHangUps();
    await verdict(1, 'machine_start');
    expect((await read())['transfers']).toMatchObject([{ state: 'failed', reason: 'machine' }]);
  });

  test('is not looked for where the agent says so', async () => {
    const { document } = await handedOver({ machine_detection: false });
    expect(document).toContain('<Dial ');
    expect(document).not.toContain('machineDetection');
  });

  test('ends no line by a verdict that the carrier has not signed', async () => {
    const { post, url, read } = await handedOver();
    const ended = watchHangUps();
    const forged = { CallSid: 'CB1', AnsweredBy: 'machine_start', MachineDetectionDuration: '1' };
    expect((await post(url('human', 1), forged, 'bm9ib2R5')).status).toBe(401);
    expect(ended).toEqual([]);
    expect((await read())['transfers']).toMatchObject([{ state: 'dialing' }]);
  });
});

describe('the summary of a warm transfer that is sent', () => {
  /** A transfer with a summary by message, in an organization with or without a messaging provider. */
  async function summarized(transfer: object, hasMessaging = true) {
    const call = await twilioCall({ mode: 'warm', summary: 'send', ...transfer });
    const account = newCredentials().provider_d;
    if (hasMessaging) {
      const saved = await call.client.post(configPath, { messaging_app: { provider: 'provider_d', provider_d: account } });
      expect(saved.status).toBe(200);
    }
    const relay = await call.picksUp();
    relay.say(askForHuman);
    await relay.ends();
    const document = await call.sessionEnds();
    const messages = async () => (await call.client.get(messagesPath)).body.messages as Record<string, any>[];
    return { ...call, document, messages };
  }

  test('is with the messaging provider before the human is dialled, and nothing is said to the human', async () => {
    const to = newPhone();
    const { document, announcement, messages, sessionEnds, read } = await summarized({ to });
    expect(document).toContain(`>${to}</Number>`);
    const [taken, ...more] = await takenFor('provider_d', to);
    expect(more).toEqual([]);
    expect(taken).toMatchObject({ kind: 'text', text: expect.stringMatching(/./) });
    expect(await announcement(1)).not.toContain('<Say');
    expect(await sessionEnds()).toBe(document);
    expect(await takenFor('provider_d', to)).toHaveLength(1);
    const [message] = await messages();
    expect(message).toMatchObject({ kind: 'text', contact_id: null, message_id: expect.any(String) });
    const { transfers } = await read();
    expect(transfers).toMatchObject([{ summary_message: { to, state: 'sent', message_id: message!['message_id'], reason: null } }]);
  });

  test('is sent to the fallback before it is dialled, once for a repeated report', async () => {
    const [to, fallback] = [newPhone(), newPhone()];
    const { dialled, read } = await summarized({ to, fallback_to: fallback });
    const [second, again] = await Promise.all([dialled(1, 'busy'), dialled(1, 'busy')]);
    expect(second).toContain(`>${fallback}</Number>`);
    expect(again).toBe(second);
    expect(await takenFor('provider_d', fallback)).toHaveLength(1);
    expect((await read())['transfers']).toMatchObject([
      { summary_message: { to, state: 'sent' } },
      { summary_message: { to: fallback, state: 'sent' } },
    ]);
  });

  test.each([
    ['the organization has no messaging provider', false, newPhone(), /messaging_not_configured/],
    ['the provider does not take it', true, '+12124560013', /./],
  ] as const)('does not lose the caller when %s', async (_what, hasMessaging, to, reason) => {
    const { document, read, dialled, hangsUp, completed, client, runId } = await summarized({ to }, hasMessaging);
    expect(document).toContain(`>${to}</Number>`);
    expect((await read())['transfers']).toMatchObject([
      { state: 'dialing', summary_message: { to, state: 'failed', message_id: null, reason: expect.stringMatching(reason) } },
    ]);
    await dialled(1, 'completed', { DialCallDuration: '9', DialBridged: 'true' });
    await hangsUp();
    await completed();
    const { calls } = (await client.get('/calls')).body;
    expect(calls.find(({ id }: { id: number }) => id === runId)).toMatchObject({ transfer_state: 'completed', transfer_mode: 'warm' });
  });
});

describe('requests about the line of a human', () => {
  test('are refused without the signature of the account', async () => {
    const { post, url, read } = await handedOver();
    for (const purpose of ['human', 'dialled', 'announcement'])
      expect((await post(url(purpose, 1), { CallSid: 'CB1', DialCallStatus: 'completed' }, 'bm9ib2R5')).status).toBe(401);
    expect((await read())['transfers']).toMatchObject([{ state: 'dialing' }]);
  });

  test('of a transfer that does not exist change nothing, and end nothing but themselves', async () => {
    const { dialled, announcement, read } = await handedOver();
    expect(await dialled(7, 'completed', { DialBridged: 'true' })).not.toContain('<ConversationRelay');
    expect(await announcement(7)).toContain('<Hangup');
    expect((await read())['transfers']).toMatchObject([{ state: 'dialing' }]);
  });
});

test('an agent that hands callers to a private address or to no number is saved with issues, and makes no calls', async () => {
  const { client } = await newOrganization();
  for (const to of ['sip:desk@192.168.1.5', '+1999', 'sip:desk@localhost']) {
    const { body } = await client.post('/workflow/create/definition', { name: 'Desk', workflow_definition: humanAgent({ to }) });
    expect(body.issues).toMatchObject([{ loc: ['body', 'workflow_definition', 'nodes', 'start', 'data', 'tools', '0', 'transfer', 'to'] }]);
    expect((await client.post(`/workflow/${body.id}/runs`, { mode: 'telephony', phone: '+12124567777' })).status).toBe(422);
  }
});
