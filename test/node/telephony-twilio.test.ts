import { text as readText } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import { createTwilio } from '../../simulators/twilio.ts';
import type { CallRecord } from '../../simulators/telephony/call-record.ts';
import { hangUpTwiml } from '../../src/providers/telephony/twilio/twiml.ts';
import { twilioTelephony } from '../../src/providers/telephony/twilio/adapter.ts';
import type { CallState, CarrierRuntime, Telephony } from '../../src/providers/telephony/telephony.ts';
import { readTwilioCallback } from '../../src/providers/telephony/twilio/callbacks.ts';
import { Customer } from './carrier-customer.ts';
import { brokenRuntime, callTo, fakeRuntime, kindOf, silentRuntime } from './telephony-fakes.ts';

const accountSid = 'AC00000000000000000000000000000001';
const authToken = 'secret-token-of-the-account';

async function start(token = authToken) {
  const { url, close } = await listen({ port: 0, vendors: [createTwilio({ ring_ms: 20, turn_ms: 5, retry_delays_ms: [5] })] });
  onTestFinished(close);
  const customer = await Customer.start();
  customer.respond = () => ({ body: hangUpTwiml() });
  const telephony = twilioTelephony({ accountSid, authToken: token }, { baseUrl: `${url}/twilio` });
  const call = (to: string, more = {}) =>
    callTo(to, { urls: { status: `${customer.url}/status`, answer: `${customer.url}/answer` }, ...more });
  const ledger = async () => ((await (await fetch(`${url}/twilio/__sim/ledger`)).json()) as { calls: CallRecord[] }).calls;
  const ended = () => customer.next('/status', ({ form }) => form.has('SipResponseCode'));
  return { url, customer, telephony, call, ledger, ended };
}

const withFake = (runtime: CarrierRuntime, timeoutMs = 50): Telephony =>
  twilioTelephony({ accountSid, authToken }, { baseUrl: 'https://api.twilio.test/', timeoutMs, runtime });
const answering = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  fakeRuntime(() => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers }));

describe('placing a call', () => {
  test('asks Twilio for exactly this', async () => {
    const runtime = answering(201, { sid: 'CA1', status: 'queued' });
    const urls = {
      status: 'https://a.test/s',
      answer: 'https://a.test/a?x=1&y=2',
      machine: 'https://a.test/m',
      recording: 'https://a.test/r',
    };
    const call = callTo('+14155552671', { urls, ringSeconds: 25, maxSeconds: 300 });
    expect(await withFake(runtime).place(call)).toEqual({ placed: { callId: 'CA1', status: 'queued' } });
    const [asked] = runtime.asked;
    expect([asked!.method, asked!.url]).toEqual(['POST', `https://api.twilio.test/2010-04-01/Accounts/${accountSid}/Calls.json`]);
    expect(asked!.headers.get('authorization')).toBe(`Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`);
    expect(asked!.headers.get('content-type')).toBe('application/x-www-form-urlencoded');
    expect([...new URLSearchParams(asked!.body)]).toEqual([
      ['To', '+14155552671'],
      ['From', '+15005550006'],
      ['Url', 'https://a.test/a?x=1&y=2'],
      ['Method', 'POST'],
      ['StatusCallback', 'https://a.test/s'],
      ['StatusCallbackMethod', 'POST'],
      ['StatusCallbackEvent', 'initiated'],
      ['StatusCallbackEvent', 'answered'],
      ['StatusCallbackEvent', 'completed'],
      ['Timeout', '25'],
      ['TimeLimit', '300'],
      ['MachineDetection', 'Enable'],
      ['AsyncAmd', 'true'],
      ['AsyncAmdStatusCallback', 'https://a.test/m'],
      ['AsyncAmdStatusCallbackMethod', 'POST'],
      ['Record', 'true'],
      ['RecordingChannels', 'dual'],
      ['RecordingStatusCallback', 'https://a.test/r'],
      ['RecordingStatusCallbackMethod', 'POST'],
      ['RecordingStatusCallbackEvent', 'completed'],
      ['RecordingStatusCallbackEvent', 'absent'],
    ]);
  });

  test('is taken by a strict Twilio, with every option', async () => {
    const { telephony, call, ledger, customer, ended } = await start();
    const urls = {
      status: `${customer.url}/status`,
      answer: `${customer.url}/answer`,
      machine: `${customer.url}/machine`,
      recording: `${customer.url}/recording`,
    };
    const placed = await telephony.place(call('+14150007777', { urls, ringSeconds: 25, maxSeconds: 300 }));
    expect(placed).toEqual({ placed: { callId: expect.stringMatching(/^CA/), status: 'queued' } });
    await ended();
    const events = customer.at('/status').map(({ form }) => readTwilioCallback(form, 0));
    expect(events).toMatchObject([
      { status: 'initiated', sequence: 0 },
      { status: 'answered', sequence: 1 },
      { status: 'completed', sequence: 2, isTerminal: true },
    ]);
    expect(readTwilioCallback((await customer.next('/machine')).form, 0)).toMatchObject({ kind: 'machine', answeredBy: 'person' });
    const recording = readTwilioCallback((await customer.next('/recording')).form, 0);
    expect(recording).toMatchObject({ kind: 'recording', status: 'completed', durationSeconds: 1 });
    expect(await ledger()).toMatchObject([{ status: 'completed', problems: [] }]);
  });

  test('never waits for the verdict of machine detection, which comes separately', async () => {
    const { telephony, call, customer, ended } = await start();
    await telephony.place(call('+14150000004'));
    await ended();
    const answer = readTwilioCallback((await customer.next('/answer')).form, 0);
    expect(answer).toMatchObject({ kind: 'status', status: 'answered' });
    expect(answer).not.toHaveProperty('answeredBy');
  });

  test('detects no machine when detection is turned off', async () => {
    const runtime = answering(201, { sid: 'CA1', status: 'queued' });
    await withFake(runtime).place(callTo('+14155552671', { detectsMachines: false }));
    expect(runtime.asked[0]!.body).not.toContain('MachineDetection');
  });

  test.each([
    ['12', '+15005550006', '21211', 'number', '12 is not a phone number that can be called; correct it (Twilio error 21211)'],
    ['+15005550001', '+15005550006', '21217', 'number', 'not a phone number'],
    ['+15005550002', '+15005550006', '21214', 'number', 'cannot reach +15005550002'],
    ['+15005550003', '+15005550006', '21215', 'blocked', 'Geo permissions'],
    ['+15005550004', '+15005550006', '21216', 'blocked', 'take the number out'],
    ['+14150007777', '+15005550009', '21210', 'caller_id', '+15005550009 is neither a number of the Twilio account nor verified there'],
    ['+14150007777', '+15005550001', '21212', 'caller_id', 'from_numbers'],
  ])('to %s from %s is refused with %s, about the %s', async (to, from, code, kind, words) => {
    const { telephony, call, ledger } = await start();
    const result = await telephony.place(call(to, { from }));
    expect(result).toEqual({ refused: { code, kind, message: expect.stringContaining(words), retryable: false } });
    expect(await ledger()).toEqual([]);
  });

  test('with a wrong token says what to correct', async () => {
    const { telephony, call } = await start('invalid-token');
    expect(await telephony.place(call('+14150007777'))).toEqual({
      refused: {
        code: '20003',
        kind: 'account',
        retryable: false,
        message: expect.stringContaining('correct them in the telephony configuration'),
      },
    });
  });

  test('whose answer is lost, or that fails inside Twilio, may have been placed', async () => {
    const { telephony, call, ledger } = await start();
    expect(kindOf(await telephony.place(call('+14150000006')))).toBe('unknown');
    expect(await ledger()).toHaveLength(1);
    expect(await telephony.place(call('+14150000005'))).toEqual({ unknown: 'Twilio failed with status 500' });
    expect(await ledger()).toHaveLength(1);
    expect(kindOf(await telephony.place(call('+14150000005')))).toBe('placed');
  });

  test.each([
    ['nothing in time', silentRuntime(), { unknown: 'Twilio gave no answer within 0.05 seconds' }],
    ['a broken connection', brokenRuntime(), { unknown: expect.stringContaining('cannot be reached') }],
    ['429', answering(429, { code: 20429, message: 'Too many requests', status: 429 }), { busy: {} }],
    ['429 with Retry-After', answering(429, {}, { 'retry-after': '7' }), { busy: { retryAfterSeconds: 7 } }],
    [
      '429 with a date',
      answering(429, {}, { 'retry-after': new Date(1_700_000_030_000).toUTCString() }),
      { busy: { retryAfterSeconds: 30 } },
    ],
    ['503 that declines', answering(503, 'later', { 'retry-after': '2' }), { busy: { retryAfterSeconds: 2 } }],
    ['503 without a word', answering(503, ''), { unknown: 'Twilio failed with status 503' }],
    ['502 of a proxy', answering(502, '<html>Bad gateway</html>'), { unknown: 'Twilio failed with status 502' }],
    ['408', answering(408, ''), { unknown: 'Twilio failed with status 408' }],
    ['201 without a call', answering(201, { ok: true }), { unknown: expect.stringContaining('something that is no call') }],
    ['201 that is no JSON', answering(201, '<call/>'), { unknown: expect.stringContaining('something that is no call') }],
    [
      'a status that nobody knows',
      answering(201, { sid: 'CA1', status: 'dreaming' }),
      { unknown: expect.stringContaining('something that is no call') },
    ],
    [
      'a redirect',
      answering(302, '', { location: 'https://elsewhere.test' }),
      { refused: { kind: 'request', code: 'http_302', message: expect.stringContaining('TWILIO_BASE_URL') } },
    ],
    [
      'a suspended account',
      answering(401, { code: 10001, message: 'Account is not active' }),
      { refused: { kind: 'account', message: expect.stringContaining('suspended') } },
    ],
    [
      '403',
      answering(403, { code: 20403, message: 'Forbidden' }),
      {
        refused: {
          kind: 'account',
          code: '20403',
          message: 'The Twilio account may not place calls: Forbidden; see the Twilio console (Twilio error 20403)',
        },
      },
    ],
    [
      '404',
      answering(404, { code: 20404, message: 'not found' }),
      { refused: { kind: 'account', message: expect.stringContaining('account_sid') } },
    ],
    [
      'an error of tomorrow',
      answering(400, { code: 29999, message: 'The moon is full' }),
      {
        refused: {
          kind: 'request',
          code: '29999',
          message: 'Twilio refuses the call with status 400: The moon is full (Twilio error 29999)',
        },
      },
    ],
    [
      '400 of a proxy',
      answering(400, 'no'),
      { refused: { kind: 'request', code: 'http_400', message: 'Twilio refuses the call with status 400' } },
    ],
  ])('that gets %s', async (_what, runtime, expected) => {
    const result = await withFake(runtime).place(callTo('+14155552671'));
    expect(result).toMatchObject(expected);
    expect(JSON.stringify(result)).not.toMatch(/secret|10\.0\.0\.1/);
  });

  test('quotes the carrier without the token that it repeats', async () => {
    const runtime = answering(400, { code: 1, message: `Bad token ${authToken}\n${'x'.repeat(500)}` });
    const result = await withFake(runtime).place(callTo('+14155552671'));
    expect(result).toMatchObject({ refused: { message: expect.stringMatching(/Bad token \*\*\*\* x{10,200}\.\.\. \(Twilio error 1\)$/) } });
  });
});

describe('a call that is there', () => {
  test('is looked up and found among the calls since then', async () => {
    const { telephony, call, ended } = await start();
    const since = Date.now();
    const lost = call('+14150000006');
    await telephony.place(lost);
    await ended();
    const { to, from, attemptKey } = lost;
    const list = (query: object) => telephony.list({ to, from, since, attemptKey, ...query });
    const found = await list({});
    expect(found).toEqual({
      isComplete: true,
      calls: [
        {
          callId: expect.stringMatching(/^CA/),
          status: 'completed',
          rank: 4,
          isTerminal: true,
          direction: 'outbound',
          to,
          from,
          durationSeconds: 1,
          createdAt: expect.any(Number),
        },
      ],
    });
    expect(await list({ since: since + 65_000 })).toEqual({ calls: [], isComplete: true });
    expect(await list({ from: '+12025550100' })).toEqual({ calls: [], isComplete: true });
    const { callId } = (found as { calls: CallState[] }).calls[0]!;
    expect(await telephony.lookUp(callId)).toMatchObject({ call: { callId, status: 'completed', isTerminal: true } });
  });

  const made = (sid: string, seconds: number) => ({
    sid,
    status: 'ringing',
    date_created: new Date(Date.UTC(2026, 10, 28, 8) + seconds * 1000).toUTCString(),
  });
  const listing = (body: object) =>
    withFake(answering(200, body)).list({ to: '+1', from: '+2', since: Date.UTC(2026, 10, 28, 8, 0, 1, 50), attemptKey: 'a' });

  test('is found although the clock of Twilio is behind ours, by up to a minute', async () => {
    const calls = ['CA1', 'CA2', 'CA3'].map((sid, index) => made(sid, [5, -59, -60][index]!));
    expect(await listing({ calls })).toMatchObject({ calls: [{ callId: 'CA1' }, { callId: 'CA2' }], isComplete: true });
  });

  test('was not placed when it is not in a list that holds all of them', async () => {
    const next_page_uri = '/2010-04-01/Accounts/AC1/Calls.json?Page=1';
    expect(await listing({ calls: [], next_page_uri: null })).toEqual({ calls: [], isComplete: true });
    expect(await listing({ calls: [made('CA1', 5)], next_page_uri })).toMatchObject({ calls: [{}], isComplete: false });
    expect(await listing({ calls: [made('CA1', 5), made('CA2', -600)], next_page_uri })).toMatchObject({ calls: [{}], isComplete: true });
    expect(await listing({ calls: [{ sid: 'CA1', status: 'dreaming' }], next_page_uri: null })).toEqual({ calls: [], isComplete: false });
  });

  test('is hung up once, and is gone then', async () => {
    const { telephony, call, customer, ended } = await start();
    customer.respond = ({ path }) => ({ body: path === '/answer' ? '<Response><Pause length="60"/></Response>' : '' });
    const placed = await telephony.place(call('+14150007777'));
    const { callId } = (placed as { placed: { callId: string } }).placed;
    await customer.next('/answer');
    expect(await telephony.lookUp(callId)).toMatchObject({ call: { status: 'answered', rank: 3, isTerminal: false } });
    expect(await telephony.hangUp(callId)).toEqual({ done: true });
    expect(readTwilioCallback((await ended()).form, 0)).toMatchObject({ status: 'completed' });
    expect(await telephony.hangUp(callId)).toEqual({ gone: true });
  });

  test('is missing when Twilio says so, and unknown when anything else happens', async () => {
    const { telephony } = await start();
    const none = `CA${'0'.repeat(32)}`;
    expect(await telephony.lookUp(none)).toEqual({ missing: true });
    expect(await telephony.hangUp(none)).toEqual({ gone: true });
    for (const runtime of [
      silentRuntime(),
      brokenRuntime(),
      answering(404, '<html>'),
      answering(500, ''),
      answering(200, { sid: 1 }),
      answering(401, {}),
      answering(200, ''),
    ]) {
      expect(await withFake(runtime).lookUp(none)).toEqual({ failure: expect.any(String) });
      expect(await withFake(runtime).list({ to: '+1', from: '+1', since: 0, attemptKey: '' })).toEqual({ failure: expect.any(String) });
    }
    for (const runtime of [silentRuntime(), brokenRuntime(), answering(500, ''), answering(401, {})])
      expect(await withFake(runtime).hangUp(none)).toEqual({ failure: expect.any(String) });
  });
});

describe('a recording', () => {
  test('is fetched as a stream, with the credentials', async () => {
    const { telephony, call, customer } = await start();
    const urls = { status: `${customer.url}/status`, answer: `${customer.url}/answer`, recording: `${customer.url}/recording` };
    await telephony.place(call('+14150007777', { urls }));
    const event = readTwilioCallback((await customer.next('/recording')).form, 0);
    const url = event?.kind === 'recording' ? event.location! : '';
    const result = await telephony.fetchRecording(url);
    expect(result).toMatchObject({ recording: { contentType: 'audio/mpeg', bytes: 4170 } });
    if ('recording' in result) expect((await readText(result.recording.stream as never)).length).toBeGreaterThan(1000);
    expect(await telephony.fetchRecording(url.replace(/RE./, 'RE_'))).toEqual({ missing: true });
  });

  test('elsewhere than at Twilio is not fetched, so that nobody else gets the credentials', async () => {
    const runtime = answering(200, 'sound');
    for (const url of [
      'https://evil.test/2010-04-01/x',
      `https://api.twilio.test.evil.test/2010-04-01/Accounts/${accountSid}/Recordings/RE1`,
      'nonsense',
    ])
      expect(await withFake(runtime).fetchRecording(url)).toEqual({
        refused: 'The recording is not at the carrier, so it was not fetched',
      });
    expect(runtime.asked).toEqual([]);
  });

  const url = `https://api.twilio.test/2010-04-01/Accounts/${accountSid}/Recordings/RE1`;

  test('is followed to another store without the credentials', async () => {
    const places: Record<string, string> = {
      [`${url}.mp3`]: '/media/RE1',
      'https://api.twilio.test/media/RE1': 'https://store.example.com/RE1?signature=1',
    };
    const runtime = fakeRuntime((asked) =>
      places[asked.url] ? new Response(null, { status: 302, headers: { location: places[asked.url]! } }) : new Response('sound'),
    );
    expect(await withFake(runtime).fetchRecording(url)).toMatchObject({ recording: {} });
    expect(runtime.asked.map((asked) => [asked.url, asked.headers.has('authorization')])).toEqual([
      [`${url}.mp3`, true],
      ['https://api.twilio.test/media/RE1', true],
      ['https://store.example.com/RE1?signature=1', false],
    ]);
  });

  test('that cannot be had says why', async () => {
    expect(await withFake(silentRuntime()).fetchRecording(url)).toEqual({ failure: 'Twilio gave no answer within 0.05 seconds' });
    expect(await withFake(answering(500, 'no')).fetchRecording(url)).toEqual({ failure: expect.stringContaining('status 500') });
  });
});
