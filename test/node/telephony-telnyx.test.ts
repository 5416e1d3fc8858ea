import { text as readText } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import { createTelnyx } from '../../simulators/telnyx.ts';
import type { CallRecord } from '../../simulators/telephony/call-record.ts';
import type { CarrierEvent } from '../../src/providers/telephony/carrier-events.ts';

import { commandId, telnyxTelephony } from '../../src/providers/telephony/telnyx/adapter.ts';
import { readTelnyxCallback } from '../../src/providers/telephony/telnyx/callbacks.ts';
import type { CarrierRuntime, Telephony } from '../../src/providers/telephony/telephony.ts';
import { Customer, scripted } from './carrier-customer.ts';
import { brokenRuntime, callTo, fakeRuntime, kindOf, silentRuntime } from './telephony-fakes.ts';

const connectionId = '7267000000000000001';
const apiKey = 'KEY-secret-of-the-account';

async function start(key = apiKey) {
  const settings = { ring_ms: 20, turn_ms: 5, retry_delays_ms: [5], patience_ms: 2_000 };
  const { url, close } = await listen({ port: 0, vendors: [createTelnyx(settings)] });
  onTestFinished(close);
  const customer = await Customer.start();
  const telephony = telnyxTelephony({ apiKey: key, connectionId }, { baseUrl: `${url}/telnyx/v2` });
  const call = (to: string, more = {}) => callTo(to, { urls: { status: `${customer.url}/hooks`, answer: 'https://unused.test' }, ...more });
  const ledger = async () => ((await (await fetch(`${url}/telnyx/__sim/ledger`)).json()) as { calls: CallRecord[] }).calls;
  const events = () => customer.at('/hooks').map(({ body }) => readTelnyxCallback(JSON.parse(body), 0));
  const event = <Kind extends CarrierEvent['kind']>(kind: Kind, status?: string) =>
    customer.until(
      () =>
        events().find(
          (one): one is Extract<CarrierEvent, { kind: Kind }> =>
            one?.kind === kind && (status === undefined || ('status' in one && one.status === status)),
        ),
      `${kind} ${status ?? ''}`,
    );
  return { url, customer, telephony, call, ledger, events, event };
}

const withFake = (runtime: CarrierRuntime): Telephony =>
  telnyxTelephony({ apiKey, connectionId }, { baseUrl: 'https://api.telnyx.test/v2', timeoutMs: 50, runtime });
const answering = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  fakeRuntime(() => new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers }));
const refusing = (status: number, code: string, detail: string, pointer?: string) =>
  answering(status, { errors: [{ code, title: 'Error', detail, ...(pointer && { source: { pointer } }) }] });

describe('placing a call', () => {
  test('asks Telnyx for exactly this', async () => {
    const runtime = answering(200, { data: { call_control_id: 'v3:1', is_alive: false } });
    const call = callTo('+14155552671', { attemptKey: 'campaign:7:12:1', ringSeconds: 2, maxSeconds: 30 });
    call.urls.recording = 'https://unused.test';
    expect(await withFake(runtime).place(call)).toEqual({ placed: { callId: 'v3:1', status: 'queued' } });
    const [asked] = runtime.asked;
    expect([asked!.method, asked!.url, asked!.headers.get('authorization')]).toEqual([
      'POST',
      'https://api.telnyx.test/v2/calls',
      `Bearer ${apiKey}`,
    ]);
    expect(JSON.parse(asked!.body)).toEqual({
      connection_id: connectionId,
      to: '+14155552671',
      from: '+15005550006',
      command_id: commandId('dial', 'campaign:7:12:1'),
      client_state: 'Y2FtcGFpZ246NzoxMjox',
      webhook_url: 'https://calls.example.com/status?attempt=a1',
      webhook_url_method: 'POST',
      timeout_secs: 5,
      time_limit_secs: 60,
      answering_machine_detection: 'detect',
      record: 'record-from-answer',
      record_format: 'mp3',
      record_channels: 'dual',
    });
  });

  test('twice with one attempt key is one call', async () => {
    const { telephony, call, ledger } = await start();
    const first = await telephony.place(call('+14150000002'));
    expect(await telephony.place(call('+14150000002'))).toEqual(first);
    expect(await ledger()).toHaveLength(1);
  });

  test.each([
    ['12', '+15005550006', '10016', 'number', '12 is not a phone number'],
    ['+15005550003', '+15005550006', '10010', 'blocked', 'outbound voice profile'],
    ['+15005550004', '+15005550006', '10010', 'account', 'Calls to this number are blocked'],
    ['+14150007777', 'Acme', '10016', 'caller_id', 'from_numbers'],
    ['+14150007777', '+15005550009', '10010', 'caller_id', 'from_numbers'],
  ])('to %s from %s is refused with %s, about the %s', async (to, from, code, kind, words) => {
    const { telephony, call, ledger } = await start();
    expect(await telephony.place(call(to, { from }))).toEqual({
      refused: { code, kind, message: expect.stringContaining(words), retryable: false },
    });
    expect(await ledger()).toEqual([]);
  });

  test('with a wrong key says what to correct', async () => {
    const { telephony, call } = await start('invalid');
    expect(await telephony.place(call('+14150007777'))).toMatchObject({
      refused: { kind: 'account', message: expect.stringContaining('api_key') },
    });
  });

  test('gives every command an id of its own, which a repeat keeps', async () => {
    const runtime = answering(200, { data: { call_control_id: 'v3:1', result: 'ok' } });
    const telephony = withFake(runtime);
    const key = `single:0:${'f'.repeat(64)}:1700000000000`;
    const relay = { url: 'wss://calls.test/1' };
    const commands = [
      () => telephony.place(callTo('+14155552671', { attemptKey: key })),
      () => telephony.commands!.answer('v3:1', 'https://calls.test/status', key),
      () => telephony.commands!.connect('v3:1', relay, key),
      () => telephony.commands!.connect('v3:1', relay, `${key}:session-1`),
      () => telephony.hangUp('v3:1'),
    ];
    for (const command of [...commands, ...commands]) await command();
    const ids = runtime.asked.map(({ body }) => (JSON.parse(body) as { command_id: string }).command_id);
    expect(new Set(ids).size).toBe(commands.length);
    expect(ids.slice(commands.length)).toEqual(ids.slice(0, commands.length));
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('whose answer is lost, or that fails inside Telnyx, may have been placed', async () => {
    const { telephony, call, ledger } = await start();
    expect(kindOf(await telephony.place(call('+14150000006')))).toBe('unknown');
    expect(await ledger()).toHaveLength(1);
    expect(await telephony.place(call('+14150000005'))).toEqual({ unknown: 'Telnyx failed with status 500' });
  });

  test.each([
    ['nothing in time', silentRuntime(), { unknown: 'Telnyx gave no answer within 0.05 seconds' }],
    ['a broken connection', brokenRuntime(), { unknown: expect.stringContaining('cannot be reached') }],
    ['429', refusing(429, '10011', 'Too many requests'), { busy: {} }],
    ['all channels taken', refusing(403, '10010', 'User channel limit exceeded D1'), { busy: {} }],
    ['200 without a call', answering(200, { data: {} }), { unknown: expect.stringContaining('something that is no call') }],
    ['200 that is no JSON', answering(200, 'ok'), { unknown: expect.stringContaining('something that is no call') }],
    [
      'an unknown connection',
      refusing(422, '10015', 'The requested connection_id (Call Control App ID) is either invalid or does not exist.'),
      { refused: { kind: 'account', message: expect.stringContaining('connection_id') } },
    ],
    [
      'no credit',
      refusing(403, '20100', 'Insufficient funds'),
      { refused: { kind: 'account', message: expect.stringContaining('credit') } },
    ],
    [
      'a bad webhook address',
      refusing(422, '10015', 'Invalid URL', '/webhook_url'),
      { refused: { kind: 'request', message: expect.stringContaining('PUBLIC_URL') } },
    ],
    [
      '404 of a wrong address',
      answering(404, 'nothing'),
      { refused: { kind: 'request', code: 'http_404', message: expect.stringContaining('TELNYX_BASE_URL') } },
    ],
    [
      'an error of tomorrow',
      refusing(422, '99999', 'The moon is full'),
      {
        refused: {
          kind: 'request',
          code: '99999',
          message: 'Telnyx refuses the call with status 422: Error: The moon is full (Telnyx error 99999)',
        },
      },
    ],
    ['errors of another form', answering(400, { errors: 'many' }), { refused: { kind: 'request', code: 'http_400' } }],
  ])('that gets %s', async (_what, runtime, expected) => {
    const result = await withFake(runtime).place(callTo('+14155552671'));
    expect(result).toMatchObject(expected);
    expect(JSON.stringify(result)).not.toMatch(/secret|10\.0\.0\.1/);
  });
});

describe('a call that is there', () => {
  test('is connected by command, talks, and is hung up', async () => {
    const { telephony, call, customer, event, ledger } = await start();
    customer.agent = scripted('Are you interested in our offer?', 'end');
    const placed = call('+14150007777');
    const result = await telephony.place(placed);
    const { callId } = (result as { placed: { callId: string } }).placed;
    expect(await event('status', 'answered')).toMatchObject({ callId, attemptKey: placed.attemptKey, rank: 3, isTerminal: false });
    expect(await event('machine')).toMatchObject({ callId, answeredBy: 'person', attemptKey: placed.attemptKey });
    const relay = {
      url: `${customer.socketUrl}/talk`,
      hasDtmf: true,
      isInterruptible: 'any',
      language: 'en-GB',
      parameters: { run: '42' },
    } as const;
    expect(await telephony.commands!.connect(callId, relay, 'relay-1')).toEqual({ done: true });
    expect(await event('relay_ended')).toMatchObject({ callId, fault: { words: 'relay_ended' } });
    expect(customer.talks[0]!.frames[0]).toMatchObject({ type: 'setup', customParameters: { run: '42' } });
    expect(await telephony.lookUp(callId)).toMatchObject({
      call: { status: 'initiated', isTerminal: false, attemptKey: placed.attemptKey },
    });
    expect(await telephony.hangUp(callId)).toEqual({ done: true });
    expect(await event('status', 'completed')).toMatchObject({ callId, isTerminal: true });
    expect(await telephony.hangUp(callId)).toEqual({ gone: true });
    expect(await telephony.commands!.connect(callId, relay, 'relay-2')).toEqual({ gone: true });
    expect(await telephony.lookUp(callId)).toMatchObject({ call: { status: 'completed', isTerminal: true } });
    expect(await ledger()).toMatchObject([{ problems: [] }]);
  });

  test('is found by its attempt key while it lives', async () => {
    const { telephony, call, event } = await start();
    await telephony.place(call('+14150007777', { attemptKey: 'other' }));
    await telephony.place(call('+14150000006', { attemptKey: 'mine' }));
    await event('status', 'answered');
    const query = { to: '+14150000006', from: '+15005550006', since: 0 };
    expect(await telephony.list({ ...query, attemptKey: 'mine' })).toMatchObject({ calls: [{ attemptKey: 'mine', isTerminal: false }] });
    // One that has ended is listed nowhere, so the list proves nothing of one that is not there.
    expect(await telephony.list({ ...query, attemptKey: 'nobody' })).toEqual({ calls: [], isComplete: false });
  });

  test('is looked for on every page', async () => {
    const item = (state: string) => ({
      call_control_id: `v3:${state}`,
      client_state: Buffer.from(state).toString('base64'),
      call_duration: 1,
    });
    const runtime = fakeRuntime(({ url }) =>
      Response.json(
        url.includes('after')
          ? { data: [item('mine')], meta: { cursors: { after: 'z' }, next: null } }
          : { data: [item('other')], meta: { cursors: { after: 'y' }, next: '/v2/more' } },
      ),
    );
    expect(await withFake(runtime).list({ to: '', from: '', since: 0, attemptKey: 'mine' })).toMatchObject({
      calls: [{ callId: 'v3:mine', status: 'initiated' }],
    });
    expect(runtime.asked.map(({ url }) => new URL(url).searchParams.get('page[after]'))).toEqual([null, 'y']);
  });

  const over = { call_control_id: 'v3:1', call_leg_id: 'leg-1', is_alive: false, call_duration: 45 };
  const withEvents = (...events: object[]) =>
    fakeRuntime(({ url }) => Response.json({ data: url.includes('/call_events') ? events : over }));

  test.each([
    ['was answered', [{ name: 'call.hangup' }, { name: 'call.answered' }], 'completed'],
    ['was never answered', [{ name: 'call.initiated' }, { name: 'call.hangup' }], 'no_answer'],
    ['was busy', [{ name: 'call.hangup', metadata: { payload: { hangup_cause: 'user_busy' } } }], 'busy'],
    ['could not be put through', [{ name: 'call.hangup', metadata: { hangup_cause: 'unallocated_number' } }], 'failed'],
  ])('that has ended and %s is recognized by its events, not by its duration', async (_what, events, status) => {
    const runtime = withEvents(...events);
    expect(await withFake(runtime).lookUp('v3:1')).toMatchObject({ call: { status, isTerminal: true } });
    expect(new URL(runtime.asked[1]!.url).searchParams.get('filter[leg_id]')).toBe('leg-1');
  });

  test('that has ended without known events is only known to have ended', async () => {
    expect(await withFake(withEvents()).lookUp('v3:1')).toEqual({ ended: true });
    const runtime = fakeRuntime(({ url }) =>
      url.includes('/call_events') ? new Response('no', { status: 403 }) : Response.json({ data: over }),
    );
    expect(await withFake(runtime).lookUp('v3:1')).toEqual({ ended: true });
  });

  test('that calls in is answered by command', async () => {
    const { url, telephony, customer, event } = await start();
    const body = JSON.stringify({
      connection_id: connectionId,
      from: '+14150007777',
      to: '+15005550006',
      webhook_url: `${customer.url}/hooks`,
    });
    await fetch(`${url}/telnyx/__sim/inbound`, { method: 'POST', body });
    const { callId, direction } = await event('status', 'initiated');
    expect(direction).toBe('inbound');
    expect(await telephony.commands!.answer(callId, `${customer.url}/hooks`, 'inbound:1')).toEqual({ done: true });
    expect(await event('status', 'answered')).toMatchObject({ callId, attemptKey: 'inbound:1' });
    await telephony.hangUp(callId);
  });

  test('is missing when Telnyx says so, and unknown when anything else happens', async () => {
    const { telephony } = await start();
    expect(await telephony.lookUp('v3:none')).toEqual({ missing: true });
    expect(await telephony.hangUp('v3:none')).toEqual({ gone: true });
    for (const runtime of [
      silentRuntime(),
      brokenRuntime(),
      answering(404, ''),
      answering(500, ''),
      answering(200, { data: [1, {}].at(0) }),
      answering(401, {}),
    ]) {
      expect(await withFake(runtime).lookUp('v3:1')).toEqual({ failure: expect.any(String) });
      expect(await withFake(runtime).list({ to: '', from: '', since: 0, attemptKey: '' })).toEqual({ failure: expect.any(String) });
    }
    for (const runtime of [silentRuntime(), brokenRuntime(), answering(500, ''), refusing(422, '90034', 'not answered')])
      expect(await withFake(runtime).hangUp('v3:1')).toEqual({ failure: expect.any(String) });
  });
});

describe('a recording', () => {
  test('is fetched without credentials', async () => {
    const { telephony, call, event, customer } = await start();
    const urls = { status: `${customer.url}/hooks`, answer: 'https://unused.test', recording: 'https://unused.test' };
    const result = await telephony.place(call('+14150007777', { urls }));
    await event('status', 'answered');
    await telephony.hangUp((result as { placed: { callId: string } }).placed.callId);
    const { location, status } = await event('recording');
    expect(status).toBe('completed');
    const fetched = await telephony.fetchRecording(location!);
    expect(fetched).toMatchObject({ recording: { contentType: 'audio/mpeg' } });
    if ('recording' in fetched) expect((await readText(fetched.recording.stream as never)).length).toBeGreaterThan(1000);
    const runtime = answering(200, 'sound');
    await withFake(runtime).fetchRecording('https://store.example.com/a.mp3?signature=1');
    expect(runtime.asked[0]!.headers.get('authorization')).toBeNull();
  });

  test('is asked for anew each time, since the links of its event end', async () => {
    const runtime = fakeRuntime(({ url }) =>
      url.includes('/v2/recordings')
        ? Response.json({ data: [{ id: 'r1', download_urls: { mp3: 'https://store.example.com/fresh.mp3' } }] })
        : new Response('sound'),
    );
    expect(await withFake(runtime).fetchRecording('/recordings?filter%5Bcall_leg_id%5D=leg-1')).toMatchObject({ recording: {} });
    expect(runtime.asked.map(({ url, headers }) => [url, headers.has('authorization')])).toEqual([
      ['https://api.telnyx.test/v2/recordings?filter%5Bcall_leg_id%5D=leg-1', true],
      ['https://store.example.com/fresh.mp3', false],
    ]);
  });

  test.each([
    ['is not there yet', answering(200, { data: [] }), { missing: true }],
    ['has no link yet', answering(200, { data: { id: 'r1', download_urls: {} } }), { missing: true }],
    ['is unknown', refusing(404, '10005', 'not found'), { missing: true }],
    ['may not be read', answering(401, {}), { failure: expect.stringContaining('api_key') }],
    ['cannot be asked for', brokenRuntime(), { failure: expect.stringContaining('cannot be reached') }],
  ])('that %s is asked for again', async (_what, runtime, expected) => {
    expect(await withFake(runtime).fetchRecording('/recordings/r1')).toEqual(expected);
  });

  test('at a private address is not fetched', async () => {
    const runtime = answering(200, 'sound');
    for (const url of ['http://169.254.169.254/latest', 'http://localhost/a.mp3', 'file:///etc/passwd', 'nonsense'])
      expect(await withFake(runtime).fetchRecording(url)).toEqual({ refused: expect.stringContaining('may not be called') });
    expect(runtime.asked).toEqual([]);
  });

  const redirecting = (location: string) => fakeRuntime(() => new Response(null, { status: 302, headers: { location } }));

  test('leads to no private address, wherever it is said to be', async () => {
    for (const location of [
      'http://169.254.169.254/latest',
      'http://10.0.0.1/',
      'https://inner.local/a',
      'file:///etc/passwd',
      'http://[',
    ]) {
      const runtime = redirecting(location);
      const fetched = await withFake(runtime).fetchRecording('https://store.example.com/a.mp3');
      expect(fetched).toEqual({ refused: expect.stringContaining('may not be called') });
      expect(runtime.asked).toHaveLength(1);
    }
  });

  test('is followed three times, and not for ever', async () => {
    const runtime = redirecting('https://store.example.com/again');
    expect(await withFake(runtime).fetchRecording('https://store.example.com/a.mp3')).toEqual({
      failure: 'Telnyx redirects more than 3 times where the recording should be',
    });
    expect(runtime.asked).toHaveLength(4);
  });

  test('has the length that is announced, unless it is compressed, and is not fetched when that is too much', async () => {
    const fetched = (headers: Record<string, string>) =>
      withFake(answering(200, 'sound', headers)).fetchRecording('https://store.example.com/a.mp3');
    const megabytes = (count: number) => ({ 'content-length': String(count * 1024 * 1024) });
    expect(await fetched(megabytes(500))).toMatchObject({ recording: { bytes: 500 * 1024 * 1024 } });
    expect(await fetched({ ...megabytes(1), 'content-encoding': 'gzip' })).not.toHaveProperty('recording.bytes');
    expect(await fetched(megabytes(501))).toEqual({ refused: expect.stringContaining('at most') });
  });
});
