import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import type { CallRecord } from '../../simulators/telephony/call-record.ts';
import { readCallSettings, pickWithin, type GivenCallSettings } from '../../simulators/telephony/settings.ts';
import { LocalError } from '../../scripts/local/settings.ts';
import { createTwilio } from '../../simulators/twilio.ts';
import { connectTwiml, hangUpTwiml } from '../../src/providers/telephony/twilio/twiml.ts';
import { hasValidTwilioSignature } from '../../src/providers/telephony/twilio/signature.ts';
import { Customer, eventually, scripted, type Received } from './carrier-customer.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const account = 'AC00000000000000000000000000000001';
const token = 'check-token';
const from = '+15005550006';
const everyEvent = ['initiated', 'ringing', 'answered', 'completed'];

interface Answer {
  status: number;
  body: any;
}

async function start({ ledgerFile, ...given }: GivenCallSettings & { ledgerFile?: string } = {}) {
  const settings = { ring_ms: 20, turn_ms: 5, retry_delays_ms: [5, 10, 20], ...given };
  const { url, close } = await listen({ port: 0, vendors: [createTwilio(settings)], ledgerFile });
  let isOpen = true;
  const stop = async () => {
    if (isOpen) await close();
    isOpen = false;
  };
  onTestFinished(stop);
  const customer = await Customer.start();
  const authorization = `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}`;
  const call = async (method: string, path: string, form?: URLSearchParams, headers: Record<string, string> = {}): Promise<Answer> => {
    const answer = await fetch(`${url}/twilio/2010-04-01/Accounts/${account}${path}`, {
      method,
      headers: { authorization, ...headers },
      body: form ?? null,
    });
    return { status: answer.status, body: await answer.json() };
  };
  const steer = async (method: string, path: string, body?: object): Promise<Answer> => {
    const answer = await fetch(`${url}/twilio/__sim${path}`, { method, body: body === undefined ? null : JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  const formOf = (to: string, more: Record<string, string | string[]> = {}) => {
    const form = new URLSearchParams({
      To: to,
      From: from,
      Url: `${customer.url}/answer`,
      StatusCallback: `${customer.url}/status/${to}?org=7`,
    });
    for (const event of everyEvent) form.append('StatusCallbackEvent', event);
    for (const [name, value] of Object.entries(more)) {
      form.delete(name);
      for (const one of [value].flat()) form.append(name, one);
    }
    return form;
  };
  const dial = (to: string, more?: Record<string, string | string[]>) => call('POST', '/Calls.json', formOf(to, more));
  const ledger = async (to?: string) =>
    (await steer('GET', `/ledger${to ? `?to=${encodeURIComponent(to)}` : ''}`)).body as {
      calls: CallRecord[];
      total: number;
      peak_concurrent: number;
      attempts_dialled_twice: string[];
    };
  const statuses = (to: string) => customer.at(`/status/${to}`).map(({ form }) => form.get('CallStatus'));
  const ended = (to: string) =>
    customer.next(`/status/${to}`, ({ form }) =>
      ['completed', 'busy', 'no-answer', 'failed', 'canceled'].includes(form.get('CallStatus')!),
    );
  const connect = (more = {}) => {
    const relay = { url: `${customer.socketUrl}/talk`, parameters: { run: '42' }, hasDtmf: true, ...more };
    customer.respond = ({ path }) =>
      path === '/answer' ? { body: connectTwiml(relay, `${customer.url}/action`) } : { body: hangUpTwiml() };
  };
  connect();
  return { url, stop, customer, call, steer, dial, formOf, ledger, statuses, ended, connect };
}

const isSigned = ({ url, body, headers }: Received) =>
  hasValidTwilioSignature(
    { url, body, contentType: headers['content-type'] ?? null, signature: headers['x-twilio-signature'] ?? null, settings: null },
    { authToken: token },
  );

let lastNumber = 200;
/** A number of its own that ends as asked; the digit before it is even: the person agrees. */
const number = (ending: string, before = '0') => `+141${(lastNumber += 1)}${before}${ending}`;

describe('what the called number decides', () => {
  test.each([
    ['0001', ['initiated', 'ringing', 'busy'], '486'],
    ['0002', ['initiated', 'ringing', 'no-answer'], '487'],
    ['0003', ['initiated', 'failed'], '404'],
  ])('%s is reported as %j', async (ending, expected, sip) => {
    const { dial, statuses, ended, customer, ledger } = await start();
    const to = number(ending);
    const placed = await dial(to);
    expect(placed).toMatchObject({
      status: 201,
      body: { sid: expect.stringMatching(/^CA[0-9a-f]{32}$/), status: 'queued', to, from, direction: 'outbound-api' },
    });
    const last = await ended(to);
    expect(statuses(to)).toEqual(expected);
    expect(last.form.get('SipResponseCode')).toBe(sip);
    expect(last.form.get('CallDuration')).toBe('0');
    expect(customer.at('/answer')).toEqual([]);
    expect((await ledger(to)).calls).toMatchObject([{ attempt_key: to, answered_at: null, sip_code: Number(sip) }]);
  });

  test('any other number is answered by a person who talks: yes to the offer, a day, goodbye', async () => {
    const { dial, statuses, ended, customer, ledger } = await start();
    customer.agent = scripted('Hello, are you interested in our offer?', 'Great! Which day suits you?', 'Tuesday it is. Goodbye!', 'end');
    const to = number('7777');
    const { body } = await dial(to);
    const last = await ended(to);
    expect(statuses(to)).toEqual(['initiated', 'ringing', 'in-progress', 'completed']);
    expect(last.form.get('SequenceNumber')).toBe('3');
    const [talk] = customer.talks;
    expect(talk!.frames).toMatchObject([
      { type: 'setup', callSid: body.sid, accountSid: account, from, to, direction: 'outbound-api', customParameters: { run: '42' } },
      { type: 'prompt', voicePrompt: 'Yes, I am interested.', lang: 'en-US', last: true },
      { type: 'prompt', voicePrompt: 'Tuesday, please.' },
      { type: 'prompt', voicePrompt: 'Goodbye.' },
    ]);
    const action = await customer.next('/action');
    expect(Object.fromEntries(action.form)).toMatchObject({
      CallSid: body.sid,
      SessionStatus: 'ended',
      HandoffData: '{"reason":"done"}',
      CallStatus: 'in-progress',
    });
    const [record] = (await ledger(to)).calls;
    expect(record).toMatchObject({ status: 'completed', ended_by: 'service', sockets: 1, problems: [] });
    expect(record!.transcript.map(({ speaker }) => speaker)).toEqual(['agent', 'person', 'agent', 'person', 'agent', 'person']);
    expect(record!.first_token_ms).toHaveLength(2);
  });

  test('an odd digit before the last four: the person declines', async () => {
    const { dial, ended, customer } = await start();
    customer.agent = scripted('Are you interested in our offer?', 'Have a nice day!', 'end');
    const to = number('7777', '3');
    await dial(to);
    await ended(to);
    expect(customer.talks[0]!.frames.slice(1).map(({ voicePrompt }) => voicePrompt)).toEqual([
      'No, thank you, I am not interested.',
      'Goodbye.',
    ]);
  });

  test('0004 is a machine: the document is asked for with AnsweredBy', async () => {
    const { dial, ended, customer } = await start();
    customer.respond = () => ({ body: hangUpTwiml() });
    const to = number('0004');
    await dial(to, { MachineDetection: 'Enable' });
    const last = await ended(to);
    expect((await customer.next('/answer')).form.get('AnsweredBy')).toBe('machine_start');
    expect(last.form.get('AnsweredBy')).toBe('machine_start');
    expect(customer.talks).toEqual([]);
  });

  test('with AsyncAmd the document is asked for at once, and the verdict comes to its own address', async () => {
    const { dial, ended, customer } = await start({ turn_ms: 30 });
    const to = number('0004');
    const { body } = await dial(to, {
      MachineDetection: 'DetectMessageEnd',
      AsyncAmd: 'true',
      AsyncAmdStatusCallback: `${customer.url}/machine`,
    });
    const verdict = await customer.next('/machine');
    expect(Object.fromEntries(verdict.form)).toEqual({
      CallSid: body.sid,
      AccountSid: account,
      AnsweredBy: 'machine_end_beep',
      MachineDetectionDuration: '30',
    });
    expect(customer.at('/answer')[0]!.form.has('AnsweredBy')).toBe(false);
    await ended(to);
  });

  test('0005 is refused with 500 at first, without a call, and placed at the second try', async () => {
    const { dial, ended, ledger } = await start();
    const to = number('0005');
    expect((await dial(to)).status).toBe(500);
    expect((await ledger(to)).calls).toEqual([]);
    expect((await dial(to)).status).toBe(201);
    await ended(to);
    expect((await ledger(to)).total).toBe(1);
  });

  test('0006 is placed, and the answer to the request is lost', async () => {
    const { dial, ended, ledger, call } = await start();
    const to = number('0006');
    await expect(dial(to)).rejects.toThrow('fetch failed');
    await ended(to);
    expect((await ledger(to)).calls).toMatchObject([{ attempt_key: to, status: 'completed' }]);
    const listed = await call('GET', `/Calls.json?${new URLSearchParams({ To: to, From: from })}`);
    expect(listed.body.calls).toMatchObject([{ to, status: 'completed' }]);
  });

  test('0007 hangs up after the greeting', async () => {
    const { dial, ended, customer, ledger } = await start();
    customer.agent = scripted('Hello, this is Acme.');
    const to = number('0007');
    await dial(to);
    await ended(to);
    expect(customer.talks[0]!.frames.map(({ type }) => type)).toEqual(['setup']);
    expect((await customer.next('/action')).form.get('SessionStatus')).toBe('completed');
    expect((await ledger(to)).calls).toMatchObject([{ ended_by: 'person', status: 'completed' }]);
  });

  test('0008 sends its callbacks twice and out of order, each with its own number', async () => {
    const { dial, customer } = await start();
    const to = number('0008');
    await dial(to);
    const all = await customer.until(() => customer.at(`/status/${to}`).length === 8 && customer.at(`/status/${to}`), 'Eight callbacks');
    const numbers = all.map(({ form }) => form.get('SequenceNumber'));
    expect(numbers.toSorted()).toEqual(['0', '0', '1', '1', '2', '2', '3', '3']);
    expect(numbers.indexOf('1')).toBeLessThan(numbers.lastIndexOf('0'));
    expect(all.filter(({ form }) => form.get('CallStatus') === 'completed')).toHaveLength(2);
  });

  test('0009 never has its last callback, but can be looked up', async () => {
    const { dial, customer, statuses, ledger, call } = await start();
    const to = number('0009');
    const { body } = await dial(to);
    await customer.next('/action');
    await eventually(async () => (await ledger(to)).calls[0]!.ended_at !== null, 'The end');
    expect(statuses(to)).toEqual(['initiated', 'ringing', 'in-progress']);
    expect((await call('GET', `/Calls/${body.sid}.json`)).body).toMatchObject({ sid: body.sid, status: 'completed', duration: '1' });
  });
});

describe('callbacks', () => {
  test('are signed with the token that placed the call, as is the upgrade to the socket', async () => {
    const { dial, ended, customer } = await start();
    const to = number('7777');
    await dial(to, { StatusCallbackMethod: 'GET', Record: 'true', RecordingStatusCallback: `${customer.url}/recording` });
    await ended(to);
    await customer.next('/recording');
    expect(customer.received.length).toBeGreaterThanOrEqual(7);
    expect(customer.received.map((request) => [request.path, isSigned(request)])).toEqual(
      customer.received.map(({ path }) => [path, true]),
    );
    const [talk] = customer.talks;
    const upgrade = { url: talk!.url, body: '', contentType: null, signature: talk!.headers['x-twilio-signature']!, settings: null };
    expect(hasValidTwilioSignature(upgrade, { authToken: token })).toBe(true);
    expect(hasValidTwilioSignature(upgrade, { authToken: 'another-token' })).toBe(false);
  });

  test('are those that were asked for, numbered among themselves', async () => {
    const { dial, ended, customer, statuses } = await start();
    const to = number('0001');
    await dial(to, { StatusCallbackEvent: ['initiated', 'answered', 'completed'] });
    await ended(to);
    expect(statuses(to)).toEqual(['initiated', 'busy']);
    expect(customer.at(`/status/${to}`).map(({ form }) => form.get('SequenceNumber'))).toEqual(['0', '1']);
  });

  test('are tried four times in all, under one token, and then given up', async () => {
    const { dial, customer, ledger } = await start();
    customer.respond = () => ({ status: 503 });
    const to = number('0001');
    await dial(to, { StatusCallbackEvent: 'completed' });
    const all = await customer.until(() => customer.received.length === 4 && customer.received, 'Four tries');
    expect(new Set(all.map(({ headers }) => headers['i-twilio-idempotency-token'])).size).toBe(1);
    await eventually(async () => (await ledger(to)).calls[0]!.problems.length === 1, 'The note');
    expect(customer.received).toHaveLength(4);
  });

  test('can be sent again, late', async () => {
    const { dial, ended, customer, url } = await start();
    const to = number('0001');
    const { body } = await dial(to);
    await ended(to);
    const again = await fetch(`${url}/__sim/emit`, {
      method: 'POST',
      body: JSON.stringify({ provider: 'twilio', call_sid: body.sid, event: 'ringing' }),
    });
    expect(await again.json()).toMatchObject({ event: 'ringing', answer: { status: 200 } });
    const late = customer.at(`/status/${to}`).at(-1)!;
    expect([late.form.get('CallStatus'), late.form.get('SequenceNumber'), isSigned(late)]).toEqual(['ringing', '1', true]);
  });
});

describe('a conversation', () => {
  test('that loses its socket asks the action, which joins it again: the same person goes on', async () => {
    const { dial, ended, customer, ledger } = await start();
    const rejoin = { body: connectTwiml({ url: `${customer.socketUrl}/talk` }, `${customer.url}/action`) };
    customer.respond = ({ path, form }) =>
      path === '/answer' || form.get('SessionStatus') === 'failed' ? rejoin : { body: hangUpTwiml() };
    customer.agent = (frame, talk) => {
      if (customer.talks.length === 1) return frame['type'] === 'setup' ? talk.say('Are you interested?') : talk.breakOff();
      return scriptedAgain(frame, talk);
    };
    const scriptedAgain = scripted('Sorry. Which day suits you?', 'Goodbye!', 'end');
    const to = number('7777');
    await dial(to);
    await ended(to);
    const actions = customer.at('/action').map(({ form }) => [form.get('SessionStatus'), form.get('ErrorCode')]);
    expect(actions).toEqual([
      ['failed', '64105'],
      ['ended', null],
    ]);
    expect(
      customer.talks.map(({ frames }) => frames.filter(({ type }) => type === 'prompt').map(({ voicePrompt }) => voicePrompt)),
    ).toEqual([['Yes, I am interested.'], ['Tuesday, please.', 'Goodbye.']]);
    expect((await ledger(to)).calls[0]).toMatchObject({ sockets: 2, status: 'completed' });
  });

  test('whose socket cannot be opened asks the action', async () => {
    const { dial, ended, customer } = await start();
    customer.takesSockets = false;
    const to = number('7777');
    await dial(to);
    await ended(to);
    expect(customer.at('/action').map(({ form }) => [form.get('SessionStatus'), form.get('ErrorCode')])).toEqual([['failed', '64102']]);
  });

  test('hears the greeting of the document first', async () => {
    const { dial, ended, customer, connect } = await start();
    connect({ greeting: 'Hello & welcome, are you "interested"?' });
    customer.agent = (frame, talk) => frame['type'] === 'prompt' && talk.send({ type: 'end' });
    const to = number('7777');
    await dial(to);
    await ended(to);
    expect(customer.talks[0]!.frames[1]).toMatchObject({ voicePrompt: 'Yes, I am interested.' });
  });

  test('takes keys, interruptions and words on demand', async () => {
    const { dial, ended, customer, steer } = await start();
    customer.agent = () => undefined;
    const to = number('7777');
    const { body } = await dial(to);
    const talk = await customer.until(() => customer.talks[0], 'A socket');
    const act = (action: string, what: object) => steer('POST', `/calls/${body.sid}/${action}`, what);
    await customer.until(() => talk.frames.length === 1, 'The setup');
    talk.send({ type: 'text', token: 'Life is a complex set of many things', last: false });
    await eventually(async () => (await act('interrupt', { text: 'Wait!' })).status === 200, 'The interruption');
    await act('press', { digits: '1#' });
    await act('say', { text: 'Are you a robot?' });
    await customer.until(() => talk.frames.length === 6, 'Six frames');
    expect(talk.frames.slice(1)).toEqual([
      { type: 'interrupt', utteranceUntilInterrupt: expect.any(String), durationUntilInterruptMs: expect.any(Number) },
      { type: 'prompt', voicePrompt: 'Wait!', lang: 'en-US', last: true },
      { type: 'dtmf', digit: '1' },
      { type: 'dtmf', digit: '#' },
      { type: 'prompt', voicePrompt: 'Are you a robot?', lang: 'en-US', last: true },
    ]);
    await act('hangup', {});
    await ended(to);
    expect((await act('say', { text: 'Hello?' })).status).toBe(404);
  });

  test('follows the script of its number', async () => {
    const { dial, ended, customer, steer } = await start();
    const to = number('7777');
    expect((await steer('POST', '/people', { phone: to, says: ['Do not call me again.'] })).status).toBe(201);
    customer.agent = scripted('Hello, are you interested?', 'end');
    await dial(to);
    await ended(to);
    expect(customer.talks[0]!.frames[1]).toMatchObject({ voicePrompt: 'Do not call me again.' });
  });

  test('answers a frame that is none with an error, and goes on', async () => {
    const { dial, ended, customer, ledger } = await start();
    const bad = [
      '{"type":"speak"}',
      'no json',
      '{"type":"text","token":7,"last":true}',
      '{"type":"sendDigits","digits":"x"}',
      '{"type":"language"}',
    ];
    customer.agent = (frame, talk) => {
      if (frame['type'] === 'setup') for (const text of bad) talk.send(text);
      if (talk.frames.filter(({ type }) => type === 'error').length === bad.length) talk.send({ type: 'end' });
    };
    const to = number('7777');
    await dial(to);
    await ended(to);
    expect(customer.talks[0]!.frames[1]).toEqual({ type: 'error', description: 'Invalid message received: {"type":"speak"}' });
    expect((await ledger(to)).calls[0]!.problems).toHaveLength(bad.length);
  });

  test('ends when nobody speaks for too long', async () => {
    const { dial, ended, ledger, customer } = await start({ patience_ms: 40 });
    customer.agent = () => undefined;
    const to = number('7777');
    await dial(to);
    await ended(to);
    expect((await ledger(to)).calls[0]).toMatchObject({ ended_by: 'person', sockets: 1 });
  });

  test.each([
    ['<Response><Dial>+1</Dial></Response>', '12200'],
    ['<Response><Connect>', '12100'],
    ['<Response><Connect><ConversationRelay url="https://a.test"/></Connect></Response>', '21205'],
    ['<Response><Connect><ConversationRelay url="wss://a.test" colour="red"/></Connect></Response>', '12200'],
    ['not xml', '12100'],
  ])('is not begun by the document %s, and the call ends', async (document, code) => {
    const { dial, ended, customer, ledger } = await start();
    customer.respond = () => ({ body: document });
    const to = number('7777');
    await dial(to);
    await ended(to);
    expect((await ledger(to)).calls[0]!.problems).toEqual([expect.stringMatching(`^${code}: `)]);
  });
});

describe('the API', () => {
  test.each([
    [{ To: '' }, 400, 21201],
    [{ To: '12' }, 400, 21211],
    [{ To: '+15005550001' }, 400, 21217],
    [{ To: '+15005550002' }, 400, 21214],
    [{ To: '+15005550003' }, 400, 21215],
    [{ To: '+15005550004' }, 400, 21216],
    [{ From: '' }, 400, 21213],
    [{ From: '+15005550001' }, 400, 21212],
    [{ From: '+15005550009' }, 400, 21210],
    [{ Url: 'ftp://a.test' }, 400, 21205],
    [{ Url: [] }, 400, 21205],
    [{ StatusCallback: 'nowhere' }, 400, 21609],
    [{ StatusCallbackEvent: 'hungup' }, 400, 21626],
    [{ Timeout: '601' }, 400, 20001],
    [{ MachineDetection: 'true' }, 400, 20001],
    [{ Colour: 'red' }, 400, 20001],
  ])('refuses %j as Twilio does', async (more, status, code) => {
    const { dial, ledger } = await start();
    const answer = await dial(number('7777'), more as Record<string, string | string[]>);
    expect(answer).toMatchObject({ status, body: { code, status, more_info: `https://www.twilio.com/docs/errors/${code}` } });
    expect((await ledger()).total).toBe(0);
  });

  test('needs the credentials of the account in the path', async () => {
    const { call, formOf } = await start();
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    for (const headers of [
      { authorization: '' },
      basic(`${account}:`),
      basic(`${account}:invalid-token`),
      basic(`AC${'2'.repeat(32)}:token`),
    ])
      expect(await call('POST', '/Calls.json', formOf(number('7777')), headers)).toMatchObject({
        status: 401,
        body: { code: 20003, message: 'Authenticate' },
      });
  });

  test('knows no other paths and no calls of others', async () => {
    const { call, url, dial } = await start();
    expect(await call('GET', '/Sessions.json')).toMatchObject({ status: 404, body: { code: 20404 } });
    expect(await call('GET', `/Calls/CA${'0'.repeat(32)}.json`)).toMatchObject({ status: 404, body: { code: 20404 } });
    const { body } = await dial(number('0001'));
    const other = `AC${'2'.repeat(32)}`;
    const authorization = `Basic ${Buffer.from(`${other}:token`).toString('base64')}`;
    expect((await fetch(`${url}/twilio/2010-04-01/Accounts/${other}/Calls/${body.sid}.json`, { headers: { authorization } })).status).toBe(
      404,
    );
  });

  test('hangs up a live call once', async () => {
    const { dial, call, ended, customer, ledger } = await start();
    customer.agent = () => undefined;
    const to = number('7777');
    const { body } = await dial(to);
    await customer.until(() => customer.talks[0], 'A socket');
    const hangUp = () => call('POST', `/Calls/${body.sid}.json`, new URLSearchParams({ Status: 'completed' }));
    expect(await hangUp()).toMatchObject({ status: 200, body: { sid: body.sid, status: 'completed' } });
    await ended(to);
    expect(await hangUp()).toMatchObject({ status: 400, body: { code: 21220 } });
    expect((await ledger(to)).calls[0]).toMatchObject({ ended_by: 'service' });
  });

  test('cancels what rings', async () => {
    const { dial, call, ended, statuses, customer } = await start({ ring_ms: 5_000 });
    const to = number('7777');
    const { body } = await dial(to);
    await customer.next(`/status/${to}`);
    await call('POST', `/Calls/${body.sid}.json`, new URLSearchParams({ Status: 'canceled' }));
    await ended(to);
    expect(statuses(to)).toEqual(['initiated', 'canceled']);
  });

  test('gives up ringing after Timeout, and talking after TimeLimit', async () => {
    const { dial, ended, statuses } = await start({ ring_ms: 60_000 });
    const to = number('7777');
    await dial(to, { Timeout: '1' });
    await ended(to);
    expect(statuses(to).at(-1)).toBe('no-answer');
    const talking = await start();
    talking.customer.agent = () => undefined;
    const other = number('7777');
    await talking.dial(other, { TimeLimit: '1' });
    expect((await talking.ended(other)).form.get('CallStatus')).toBe('completed');
    expect((await talking.ledger(other)).calls[0]).toMatchObject({ ended_by: 'carrier' });
  });

  test('lists calls by numbers and status, newest first, in pages', async () => {
    const { dial, call, ended } = await start();
    const to = number('0001');
    const sids: string[] = [];
    for (let count = 0; count < 3; count++) sids.push((await dial(to)).body.sid);
    await dial(number('0002'));
    await ended(to);
    const list = async (query: Record<string, string>) => (await call('GET', `/Calls.json?${new URLSearchParams(query)}`)).body;
    expect((await list({ To: to })).calls.map(({ sid }: { sid: string }) => sid)).toEqual(sids.toReversed());
    const page = await list({ To: to, PageSize: '2' });
    expect([page.calls.length, page.next_page_uri]).toEqual([2, expect.stringContaining('Page=1')]);
    expect((await list({ To: to, From: '+12025550100' })).calls).toEqual([]);
  });

  test('keeps a recording, and gives it to the account alone', async () => {
    const { dial, ended, customer, url } = await start();
    const to = number('7777');
    await dial(to, { Record: 'true', RecordingStatusCallback: `${customer.url}/recording` });
    await ended(to);
    const { form } = await customer.next('/recording');
    expect(Object.fromEntries(form)).toMatchObject({ RecordingStatus: 'completed', RecordingDuration: '1', RecordingChannels: '2' });
    const address = form.get('RecordingUrl')!;
    expect(address.startsWith(`${url}/twilio/2010-04-01/Accounts/${account}/Recordings/RE`)).toBe(true);
    const authorization = `Basic ${Buffer.from(`${account}:${token}`).toString('base64')}`;
    const fetched = await fetch(`${address}.mp3`, { headers: { authorization } });
    expect([fetched.status, fetched.headers.get('content-type'), (await fetched.arrayBuffer()).byteLength]).toEqual([
      200,
      'audio/mpeg',
      4170,
    ]);
    expect((await fetch(`${address}.mp3`)).status).toBe(401);
  });
});

describe('the exchange', () => {
  test('apologises and hangs up where ConversationRelay is not switched on, and only the error log of the call says so', async () => {
    const { dial, call, customer } = await start({ has_relay: false });
    customer.respond = ({ path }) =>
      path === '/answer' ? { body: connectTwiml({ url: `${customer.socketUrl}/talk` }, `${customer.url}/action`) } : undefined;
    const { sid } = (await dial('+14150007777')).body;
    await customer.next('/status/+14150007777', ({ form }) => form.get('CallStatus') === 'completed');
    expect(customer.at('/action')).toEqual([]);
    const { notifications } = (await call('GET', `/Calls/${sid}/Notifications.json`)).body;
    expect(notifications).toMatchObject([{ call_sid: sid, log: '0', message_text: expect.stringContaining('Addendum') }]);
  });

  test('dials no faster than the calls per second, and queues the rest', async () => {
    const { dial, ended, ledger } = await start({ calls_per_second: 20 });
    const numbers = [number('0001'), number('0001'), number('0001')];
    const startedAt = Date.now();
    await Promise.all(numbers.map((to) => dial(to)));
    await Promise.all(numbers.map(ended));
    const dialled = (await ledger()).calls.map(({ dialled_at }) => dialled_at!).toSorted((one, other) => one - other);
    expect(dialled[2]! - startedAt).toBeGreaterThanOrEqual(95);
  });

  test('takes its time to accept a call if a setting says so, and gives each number its own times out of a range', async () => {
    const { dial, ended, ledger, steer } = await start();
    expect((await steer('PATCH', '/settings', { accept_ms: 60, ring_ms: '20-60' })).body).toMatchObject({
      accept_ms: 60,
      ring_ms: { from: 20, to: 60 },
      turn_ms: { from: 5, to: 5 },
    });
    const to = number('0001');
    const startedAt = performance.now();
    await dial(to);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(55);
    await ended(to);
    const [call] = (await ledger(to)).calls;
    expect(call!.ended_at! - call!.dialled_at!).toBeGreaterThanOrEqual(18);
    expect((await steer('PATCH', '/settings', { ring_ms: 'long' })).status).toBe(422);
  });

  test('counts what is live at once, and names attempts that were dialled twice', async () => {
    const { dial, ended, ledger } = await start();
    const to = number('0002');
    await Promise.all([dial(to), dial(to), dial(number('0001'))]);
    await ended(to);
    expect(await ledger()).toMatchObject({ total: 3, peak_concurrent: 3, attempts_dialled_twice: [to] });
  });

  test('remembers every call across a restart; what was going on is over', async () => {
    const ledgerFile = join(temporaryDirectory(), 'requests.jsonl');
    const first = await start({ ledgerFile });
    first.customer.agent = () => undefined;
    const [busy, talking] = [number('0001'), number('7777')];
    await first.dial(busy);
    const { body } = await first.dial(talking);
    await first.ended(busy);
    await first.customer.until(() => first.customer.talks[0], 'A socket');
    await first.stop();
    const second = await start({ ledgerFile });
    expect((await second.ledger()).calls).toMatchObject([
      { to: busy, status: 'busy', attempt_key: busy },
      { to: talking, status: 'completed', ended_by: 'carrier' },
    ]);
    expect((await second.call('GET', `/Calls/${body.sid}.json`)).body).toMatchObject({ status: 'completed' });
    await fetch(`${second.url}/__sim/reset`, { method: 'POST' });
    await second.stop();
    expect((await (await start({ ledgerFile })).ledger()).total).toBe(0);
  });

  test('a reset ends what is going on without a word', async () => {
    const { dial, customer, url, ledger, statuses } = await start();
    customer.agent = () => undefined;
    const to = number('7777');
    await dial(to);
    const talk = await customer.until(() => customer.talks[0], 'A socket');
    await fetch(`${url}/__sim/reset?provider=twilio`, { method: 'POST' });
    expect((await ledger()).total).toBe(0);
    expect(() => talk.say('Hello')).not.toThrow();
    expect(statuses(to)).not.toContain('completed');
  });

  test('calls a number of the account: asks its address while it rings, and is answered by the document', async () => {
    const { steer, customer, ledger } = await start();
    customer.agent = scripted('Welcome, how can I help you?', 'end');
    const call = {
      account_sid: account,
      auth_token: token,
      from: number('7777'),
      to: from,
      voice_url: `${customer.url}/answer`,
      status_callback: `${customer.url}/status`,
    };
    const { body } = await steer('POST', '/inbound', call);
    const asked = await customer.next('/answer');
    expect(Object.fromEntries(asked.form)).toMatchObject({ CallSid: body.sid, CallStatus: 'ringing', Direction: 'inbound', To: from });
    expect(isSigned(asked)).toBe(true);
    expect((await customer.next('/status')).form.get('CallStatus')).toBe('completed');
    expect(customer.talks[0]!.frames[0]).toMatchObject({ type: 'setup', direction: 'inbound' });
    customer.respond = () => ({ body: '<Response><Reject reason="busy"/></Response>' });
    const refused = await steer('POST', '/inbound', { ...call, from: number('7777') });
    await customer.until(() => customer.at('/status').find(({ form }) => form.get('CallSid') === refused.body.sid), 'The end');
    expect((await ledger()).calls.at(-1)).toMatchObject({ status: 'busy', answered_at: null });
  });
});

test('the settings come from the environment; a bad one is named', () => {
  expect(readCallSettings({})).toMatchObject({
    ring_ms: { from: 50, to: 50 },
    turn_ms: { from: 20, to: 20 },
    calls_per_second: 0,
    callbacks: 'send',
  });
  const environment = {
    SIM_RING_MS: '100-300',
    SIM_TURN_MS: '7',
    SIM_CPS: '2.5',
    SIM_ACCEPT_MS: '100',
    SIM_CALLBACKS: 'hold',
    SIM_PATIENCE_MS: '900',
  };
  const settings = readCallSettings(environment);
  expect(settings).toMatchObject({
    ring_ms: { from: 100, to: 300 },
    calls_per_second: 2.5,
    accept_ms: 100,
    callbacks: 'hold',
    patience_ms: 900,
  });
  for (const bad of [{ SIM_RING_MS: 'soon' }, { SIM_RING_MS: '9-3' }, { SIM_CPS: '-1' }, { SIM_CALLBACKS: 'never' }])
    expect(() => readCallSettings(bad)).toThrow(LocalError);
  const times = Array.from({ length: 50 }, (_, index) => pickWithin(settings.ring_ms, `+1415000${index}`));
  expect(times.every((time) => time >= 100 && time <= 300)).toBe(true);
  expect(new Set(times).size).toBeGreaterThan(20);
  expect(pickWithin(settings.ring_ms, '+14150001')).toBe(pickWithin(settings.ring_ms, '+14150001'));
});

test('with held callbacks nothing is sent: a test fetches what is due, and answers in the place of the customer', async () => {
  const { dial, steer, customer, ledger } = await start({ callbacks: 'hold' });
  const to = number('7777');
  const { body } = await dial(to);
  const events: string[] = [];
  const take = async (event: string): Promise<any> => {
    for (;;) {
      const { due } = (await steer('GET', `/due?account=${account}&wait_ms=5000`)).body as { due: any[] };
      expect(due.length).toBeGreaterThan(0);
      events.push(...due.map((entry) => entry.event));
      const found = due.find((entry) => entry.event === event);
      if (found) return found;
    }
  };
  const asked = await take('answer');
  expect(asked).toMatchObject({ method: 'POST', url: `${customer.url}/answer`, headers: { 'x-twilio-signature': expect.any(String) } });
  expect(new URLSearchParams(asked.body).get('CallSid')).toBe(body.sid);
  await steer('POST', `/due/${asked.id}`, { body: connectTwiml({ url: 'wss://calls.example.com/talk' }, `${customer.url}/action`) });
  const socket = await take('socket');
  expect(JSON.parse(socket.body)).toMatchObject({ type: 'setup', callSid: body.sid });
  await steer('POST', `/due/${socket.id}`, { body: '{"reason":"ended","handoffData":"x"}' });
  const action = await take('action');
  expect(new URLSearchParams(action.body).get('HandoffData')).toBe('x');
  await steer('POST', `/due/${action.id}`, { body: hangUpTwiml() });
  await take('ended');
  expect(events).toEqual(['initiated', 'ringing', 'answered', 'answer', 'socket', 'action', 'ended']);
  expect(customer.received).toEqual([]);
  expect((await ledger(to)).calls[0]).toMatchObject({ status: 'completed', ended_by: 'service' });
  expect((await steer('POST', `/due/${asked.id}`, {})).status).toBe(404);
});
