import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import type { CallRecord } from '../../simulators/telephony/call-record.ts';
import type { GivenCallSettings } from '../../simulators/telephony/settings.ts';
import { createTelnyx } from '../../simulators/telnyx.ts';
import { createTwilio } from '../../simulators/twilio.ts';
import { readTelnyxCallback } from '../../src/providers/telephony/telnyx/callbacks.ts';
import { publicKey } from '../../simulators/telnyx/keys.ts';
import { telnyxTelephony } from '../../src/providers/telephony/telnyx/adapter.ts';
import { hasValidTelnyxSignature } from '../../src/providers/telephony/telnyx/signature.ts';
import { readTwilioCallback } from '../../src/providers/telephony/twilio/callbacks.ts';
import { hasValidTwilioSignature } from '../../src/providers/telephony/twilio/signature.ts';
import { announceTwiml, connectTwiml, dialHumanTwiml, hangUpTwiml } from '../../src/providers/telephony/twilio/twiml.ts';
import type { HumanToDial } from '../../src/providers/telephony/telephony.ts';
import { Customer, eventually, scripted, type Received } from './carrier-customer.ts';

const settings: GivenCallSettings = { ring_ms: 20, turn_ms: 5, human_ms: 50, retry_delays_ms: [5, 10] };
const account = 'AC00000000000000000000000000000001';
const token = 'check-token';
const from = '+15005550006';

const human = (to: string, more: Partial<HumanToDial> = {}): HumanToDial => ({
  attemptKey: 'single:0:a',
  leg: 1,
  to,
  from,
  isAnnounced: false,
  detectsMachines: true,
  ringSeconds: 5,
  maxSeconds: 600,
  statusUrl: '',
  ...more,
});

async function startTwilio(order: () => HumanToDial, given: GivenCallSettings = {}) {
  const { url, close } = await listen({ port: 0, vendors: [createTwilio({ ...settings, ...given })] });
  onTestFinished(close);
  const customer = await Customer.start();
  customer.agent = scripted('Hello.', 'end');
  const relay = { url: `${customer.socketUrl}/talk`, hasDtmf: true };
  customer.respond = ({ path }) => {
    if (path === '/answer') return { body: connectTwiml(relay, `${customer.url}/action`) };
    if (path === '/action')
      return {
        body: dialHumanTwiml(
          { ...order(), statusUrl: `${customer.url}/human` },
          { actionUrl: `${customer.url}/dialled`, announcementUrl: `${customer.url}/announcement` },
        ),
      };
    if (path === '/announcement') return { body: announceTwiml('Ada is on the line.', 'en-US') };
    return { body: hangUpTwiml() };
  };
  const form = new URLSearchParams({
    To: '+12124567777',
    From: from,
    Url: `${customer.url}/answer`,
    StatusCallback: `${customer.url}/status`,
  });
  const placed = await fetch(`${url}/twilio/2010-04-01/Accounts/${account}/Calls.json`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}` },
    body: form,
  });
  const { sid } = (await placed.json()) as { sid: string };
  const ledger = async () => ((await (await fetch(`${url}/twilio/__sim/ledger`)).json()) as { calls: CallRecord[] }).calls;
  const steer = (path: string) => fetch(`${url}/twilio/__sim${path}`, { method: 'POST', body: '{}' });
  return { customer, sid, ledger, steer };
}

const isTwilioSigned = ({ url, body, headers }: Received) =>
  hasValidTwilioSignature(
    { url, body, contentType: headers['content-type'] ?? null, signature: headers['x-twilio-signature'] ?? null, settings: null },
    { authToken: token },
  );

describe('the simulated Twilio', () => {
  test('dials the human of a document, tells their pick-up and their end, signed, and then hangs up', async () => {
    const to = '+12124560100';
    const { customer, sid, ledger } = await startTwilio(() => human(to));
    const dialled = await customer.next('/dialled');
    const picked = await customer.next('/human');
    for (const request of [dialled, picked]) expect(await isTwilioSigned(request)).toBe(true);
    expect(readTwilioCallback(picked.form, 1)).toMatchObject({ kind: 'human', report: 'answered' });
    expect(picked.form.get('ParentCallSid')).toBe(sid);
    expect(readTwilioCallback(dialled.form, 1)).toMatchObject({
      kind: 'human',
      report: 'ended',
      result: 'completed',
      isBridged: true,
      durationSeconds: 1,
    });
    await customer.next('/status');
    expect((await ledger()).find(({ transfer_of: parent }) => parent === sid)).toMatchObject({
      to,
      from,
      is_bridged: true,
      ended_by: 'person',
      attempt_key: null,
    });
  });

  test.each([
    ['0001', 'busy'],
    ['0002', 'no_answer'],
    ['0003', 'failed'],
  ])('reports a human whose number ends in %s as %s', async (ending, result) => {
    const { customer } = await startTwilio(() => human(`+1212456${ending}`));
    expect(readTwilioCallback((await customer.next('/dialled')).form, 1)).toMatchObject({ result, isBridged: false });
  });

  test('says the announcement before it connects, and connects nobody who hangs up during it', async () => {
    for (const [ending, isBridged] of [
      ['0100', true],
      ['0007', false],
    ] as const) {
      const { customer, ledger, sid } = await startTwilio(() => human(`+1212456${ending}`, { isAnnounced: true }));
      const dialled = await customer.next('/dialled');
      expect(readTwilioCallback(dialled.form, 1)).toMatchObject({ result: 'completed', isBridged });
      expect(await isTwilioSigned(await customer.next('/announcement'))).toBe(true);
      const record = (await ledger()).find(({ transfer_of: parent }) => parent === sid)!;
      expect(record.transcript).toEqual([{ speaker: 'agent', text: 'Ada is on the line.' }]);
    }
  });

  test('tells of a machine while it is connected with the caller, and asks for the next document when its line is ended', async () => {
    const { customer, ledger, sid, steer } = await startTwilio(() => human('+12124560004'));
    const matches = ({ form }: Received) => form.has('MachineDetectionDuration');
    const verdict = await customer.until(() => customer.at('/human').find(matches), 'the verdict');
    expect(await isTwilioSigned(verdict)).toBe(true);
    expect(readTwilioCallback(verdict.form, 1)).toMatchObject({ kind: 'machine', answeredBy: 'machine' });
    const { sid: mailbox } = (await ledger()).find(({ transfer_of: parent }) => parent === sid)!;
    expect(verdict.form.get('CallSid')).toBe(mailbox);
    expect(customer.at('/dialled')).toEqual([]);
    await steer(`/calls/${mailbox}/hangup`);
    expect(readTwilioCallback((await customer.next('/dialled')).form, 1)).toMatchObject({ report: 'ended', isBridged: true });
  });

  test('says that a person is one, and nothing where it was not asked to detect machines', async () => {
    const { customer } = await startTwilio(() => human('+12124560100'));
    const verdict = await customer.until(() => customer.at('/human').find(({ form }) => form.has('AnsweredBy')), 'the verdict');
    expect(readTwilioCallback(verdict.form, 1)).toMatchObject({ answeredBy: 'person' });
    const other = await startTwilio(() => human('+12124560004', { detectsMachines: false }), { human_ms: 20 });
    await other.customer.next('/human');
    expect(other.customer.at('/human').filter(({ form }) => form.has('AnsweredBy'))).toEqual([]);
  });

  test('stops ringing for a caller who has hung up', async () => {
    const { customer, ledger, sid, steer } = await startTwilio(() => human('+12124560100'), { ring_ms: '20-20', human_ms: 60_000 });
    const isTalking = async () => (await ledger()).find(({ transfer_of: parent, is_bridged: bridged }) => parent === sid && bridged);
    await eventually(isTalking, 'the talk');
    await steer(`/calls/${sid}/hangup`);
    expect(readTwilioCallback((await customer.next('/dialled')).form, 1)).toMatchObject({ result: 'completed', isBridged: true });
  });

  test('refuses a document that dials no number', async () => {
    const { customer, ledger, sid } = await startTwilio(() => human('+12'));
    await customer.next('/status');
    expect((await ledger()).find((call) => call.sid === sid)!.problems).toEqual([expect.stringMatching(/^13224/)]);
  });
});

async function startTelnyx(given: GivenCallSettings = {}) {
  const { url, close } = await listen({ port: 0, vendors: [createTelnyx({ ...settings, ...given })] });
  onTestFinished(close);
  const customer = await Customer.start();
  customer.agent = scripted('Hello.', 'end');
  const telephony = telnyxTelephony({ apiKey: 'KEY1', connectionId: '149', publicKey }, { baseUrl: `${url}/telnyx/v2` });
  const events = () => customer.received.map(({ body }) => readTelnyxCallback(JSON.parse(body), 1));
  const until = (matches: (event: NonNullable<ReturnType<typeof readTelnyxCallback>>) => boolean, what: string) =>
    customer.until(() => events().find((event) => event !== undefined && matches(event)), what);
  const urls = { status: `${customer.url}/status?attempt=a`, answer: '' };
  const placed = await telephony.place({ attemptKey: 'single:0:a', to: '+12124567777', from, urls, detectsMachines: false });
  const callId = 'placed' in placed ? placed.placed.callId : '';
  await until((event) => event.kind === 'status' && event.status === 'answered', 'the answer');
  await telephony.commands!.connect(callId, { url: `${customer.socketUrl}/talk` }, 'a');
  await until((event) => event.kind === 'relay_ended', 'the end of the session');
  const order = (to: string, more: Partial<HumanToDial> = {}) => human(to, { statusUrl: `${customer.url}/human`, ...more });
  const ledger = async () => ((await (await fetch(`${url}/telnyx/__sim/ledger`)).json()) as { calls: CallRecord[] }).calls;
  return { customer, telephony, callId, until, events, order, ledger };
}

describe('the simulated Telnyx', () => {
  test('transfers a call, once for one command, and keeps it when the human has gone', async () => {
    const { telephony, callId, until, order, ledger, customer } = await startTelnyx();
    const { commands } = telephony;
    expect(await commands!.dialHuman(callId, order('+12124560100'))).toEqual({ done: true });
    expect(await commands!.dialHuman(callId, order('+12124560100'))).toEqual({ done: true });
    await until((event) => event.kind === 'human' && event.report === 'bridged', 'the connection');
    expect(await until((event) => event.kind === 'human' && event.report === 'ended', 'the end of the human')).toMatchObject({
      leg: 1,
      attemptKey: 'single:0:a',
      result: 'completed',
    });
    expect(await telephony.lookUp(callId)).toMatchObject({ call: { isTerminal: false } });
    expect((await ledger()).filter(({ transfer_of: parent }) => parent === callId)).toHaveLength(1);
    for (const { body, headers } of customer.at('/human'))
      expect(
        await hasValidTelnyxSignature(
          { body, signature: headers['telnyx-signature-ed25519'] ?? null, timestamp: headers['telnyx-timestamp'] ?? null },
          publicKey,
          Date.now(),
        ),
      ).toBe(true);
  });

  test.each([
    ['0001', 'busy'],
    ['0002', 'no_answer'],
    ['0003', 'failed'],
  ])('keeps the caller when a human whose number ends in %s is %s', async (ending, result) => {
    const { telephony, callId, until, order } = await startTelnyx();
    await telephony.commands!.dialHuman(callId, order(`+1212456${ending}`));
    expect(await until((event) => event.kind === 'human' && event.report === 'ended', 'the end')).toMatchObject({ result });
    expect(await telephony.lookUp(callId)).toMatchObject({ call: { isTerminal: false } });
  });

  test('speaks to a human who was dialled in the session of the caller, and bridges the two', async () => {
    const { telephony, callId, until, order, ledger } = await startTelnyx();
    const commands = telephony.commands!;
    expect(await commands.dialHuman(callId, order('+12124560100', { isAnnounced: true }))).toEqual({ done: true });
    const answered = (await until((event) => event.kind === 'human' && event.report === 'answered', 'the answer')) as { callId: string };
    expect(await commands.announce(answered.callId, 'Ada is on the line.', 'en-US', 'k')).toEqual({ done: true });
    await until((event) => event.kind === 'human' && event.report === 'announced', 'the end of the announcement');
    expect(await commands.bridge(callId, answered.callId, 'k')).toEqual({ done: true });
    await until((event) => event.kind === 'human' && event.report === 'bridged', 'the connection');
    const record = (await ledger()).find(({ sid }) => sid === answered.callId)!;
    expect(record).toMatchObject({
      transfer_of: callId,
      is_bridged: true,
      transcript: [{ speaker: 'agent', text: 'Ada is on the line.' }],
    });
  });

  test.each([false, true])('tells of a machine, and keeps the caller when its line is ended; announced: %s', async (isAnnounced) => {
    const { telephony, callId, until, order, customer } = await startTelnyx();
    const commands = telephony.commands!;
    await commands.dialHuman(callId, order('+12124560004', { isAnnounced }));
    const found = await until((event) => event.kind === 'human' && event.report === 'machine', 'the verdict');
    const { callId: mailbox } = found as { callId: string };
    if (isAnnounced) await commands.bridge(callId, mailbox, 'k');
    await until((event) => event.kind === 'human' && event.report === 'bridged', 'the connection');
    expect(await telephony.hangUp(mailbox)).toEqual({ done: true });
    await until((event) => event.kind === 'human' && event.report === 'ended', 'the end of the mailbox');
    expect(await telephony.lookUp(callId)).toMatchObject({ call: { isTerminal: false } });
    expect(await commands.connect(callId, { url: `${customer.socketUrl}/talk` }, 'again')).toEqual({ done: true });
    await until((event) => event.kind === 'relay_ended' && event.callId === callId, 'the end of the next session');
  });

  test('refuses to dial what is no number', async () => {
    const { telephony, callId, order } = await startTelnyx();
    expect(await telephony.commands!.dialHuman(callId, order('12'))).toMatchObject({ refused: expect.any(String) });
  });
});
