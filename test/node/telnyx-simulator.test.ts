import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import { createTelnyx } from '../../simulators/telnyx.ts';
import type { CallRecord } from '../../simulators/telephony/call-record.ts';
import type { GivenCallSettings } from '../../simulators/telephony/settings.ts';
import { hasValidTelnyxSignature } from '../../src/providers/telephony/telnyx/signature.ts';
import { Customer, eventually, scripted, type Received } from './carrier-customer.ts';

const connection = '7267000000000000001';
const from = '+15005550006';

async function start(given: GivenCallSettings = {}) {
  const settings = { ring_ms: 20, turn_ms: 5, retry_delays_ms: [5, 10, 20], patience_ms: 2_000, ...given };
  const { url, close } = await listen({ port: 0, vendors: [createTelnyx(settings)] });
  onTestFinished(close);
  const customer = await Customer.start();
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/telnyx/v2${path}`, {
      method,
      headers: { authorization: 'Bearer KEY0123', 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const steer = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/telnyx/__sim${path}`, { method, body: body === undefined ? null : JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const dial = (to: string, more: object = {}) =>
    call('POST', '/calls', {
      connection_id: connection,
      to,
      from,
      webhook_url: `${customer.url}/hooks?attempt=${encodeURIComponent(to)}`,
      ...more,
    });
  const act = (id: string, action: string, body: object = {}) => call('POST', `/calls/${id}/actions/${action}`, body);
  const hooks = () => customer.at('/hooks').map(eventOf);
  const hook = (type: string, count = 1) =>
    customer.until(() => hooks().filter((event) => event.event_type === type)[count - 1], `The webhook ${type}`);
  const ledger = async () => (await steer('GET', '/ledger')).body.calls as CallRecord[];
  return { url, customer, call, steer, dial, act, hooks, hook, ledger };
}

const eventOf = ({ body }: Received) => JSON.parse(body).data as { event_type: string; payload: Record<string, any> };

let lastNumber = 500;
const number = (ending: string) => `+141${(lastNumber += 1)}0${ending}`;

describe('what the called number decides', () => {
  test.each([
    ['0001', 'user_busy', '486'],
    ['0002', 'timeout', '487'],
    ['0003', 'not_found', '404'],
  ])('%s ends by %s', async (ending, cause, sip) => {
    const { dial, hook, hooks, ledger } = await start();
    const to = number(ending);
    const { status, body } = await dial(to, { client_state: 'c3RhdGU=' });
    expect([status, body.data]).toMatchObject([
      200,
      { call_control_id: expect.stringMatching(/^v3:/), record_type: 'call', is_alive: false },
    ]);
    const { payload } = await hook('call.hangup');
    expect(payload).toMatchObject({
      call_control_id: body.data.call_control_id,
      hangup_cause: cause,
      sip_hangup_cause: sip,
      client_state: 'c3RhdGU=',
      to,
      from,
    });
    expect(hooks().map(({ event_type }) => event_type)).toEqual(['call.initiated', 'call.hangup']);
    expect(await ledger()).toMatchObject([{ attempt_key: to, account: connection }]);
  });

  test('0004 is a machine, reported by a webhook of its own; another number is a person', async () => {
    const { dial, hook } = await start({ patience_ms: 60 });
    await dial(number('0004'), { answering_machine_detection: 'detect' });
    expect((await hook('call.machine.detection.ended')).payload['result']).toBe('machine');
    await dial(number('7777'), { answering_machine_detection: 'premium' });
    expect((await hook('call.machine.premium.detection.ended')).payload['result']).toBe('human_residence');
  });

  test('0005 fails at first, 0006 loses its answer, 0009 never tells its end', async () => {
    const { dial, act, hook, hooks, ledger, call } = await start();
    const failing = number('0005');
    expect((await dial(failing)).status).toBe(500);
    expect((await dial(failing)).status).toBe(200);
    const lost = number('0006');
    await expect(dial(lost)).rejects.toThrow('fetch failed');
    await hook('call.answered', 2);
    expect((await ledger()).map(({ to }) => to)).toEqual([failing, lost]);
    const silent = (await dial(number('0009'))).body.data.call_control_id;
    await hook('call.answered', 3);
    await act(silent, 'hangup');
    expect((await call('GET', `/calls/${silent}`)).body.data).toMatchObject({ is_alive: false });
    expect(hooks().filter(({ event_type, payload }) => event_type === 'call.hangup' && payload['call_control_id'] === silent)).toEqual([]);
  });

  test('0008 sends its webhooks twice and out of order', async () => {
    const { dial, act, hook, customer } = await start();
    const { body } = await dial(number('0008'));
    await hook('call.answered');
    await act(body.data.call_control_id, 'hangup');
    const types = await customer.until(() => {
      const eventTypes = customer.at('/hooks').map((request) => eventOf(request).event_type);
      return eventTypes.length === 7 && eventTypes;
    }, 'Seven webhooks');
    expect(types.filter((type) => type === 'call.hangup')).toHaveLength(2);
    expect(types.indexOf('call.answered')).toBeLessThan(types.lastIndexOf('call.initiated'));
  });
});

test('a relay that is started on an answered call talks, and says when it is over', async () => {
  const { dial, act, hook, customer, ledger } = await start();
  customer.agent = scripted('Hello, are you interested in our offer?', 'Which day suits you?', 'end');
  const { body } = await dial(number('7777'), { time_limit_secs: 300 });
  const id = body.data.call_control_id;
  expect((await act(id, 'conversation_relay_start', { url: `${customer.socketUrl}/talk` })).body.errors[0].code).toBe('90034');
  await hook('call.answered');
  const relay = { url: `${customer.socketUrl}/talk`, custom_parameters: { run: '42' }, command_id: 'relay-1' };
  expect((await act(id, 'conversation_relay_start', relay)).body.data).toMatchObject({ result: 'ok' });
  expect((await act(id, 'conversation_relay_start', relay)).status).toBe(200);
  const { payload } = await hook('call.conversation.ended');
  expect(payload).toMatchObject({ call_control_id: id, reason: 'relay_ended' });
  expect(customer.talks).toHaveLength(1);
  expect(customer.talks[0]!.frames).toMatchObject([
    { type: 'setup', callControlId: id, callSid: id, customParameters: { run: '42' } },
    { type: 'prompt', voicePrompt: 'Yes, I am interested.' },
    { type: 'prompt', voicePrompt: 'Tuesday, please.' },
  ]);
  await act(id, 'hangup');
  expect((await hook('call.hangup')).payload).toMatchObject({
    hangup_cause: 'normal_clearing',
    hangup_source: 'caller',
    sip_hangup_cause: '200',
  });
  expect((await act(id, 'hangup')).body.errors[0].code).toBe('90018');
  expect((await ledger())[0]).toMatchObject({ status: 'completed', problems: [] });
});

test('a lost socket is reported, and another relay continues with the same person', async () => {
  const { dial, act, hook, customer } = await start();
  customer.agent = (frame, talk) => {
    if (customer.talks.length === 2) return scriptedAgain(frame, talk);
    return frame['type'] === 'setup' ? talk.say('Are you interested?') : talk.breakOff();
  };
  const scriptedAgain = scripted('Sorry, which day suits you?', 'end');
  const id = (await dial(number('7777'))).body.data.call_control_id;
  await hook('call.answered');
  await act(id, 'conversation_relay_start', { url: `${customer.socketUrl}/talk`, command_id: '1' });
  expect((await hook('call.conversation.ended')).payload['reason']).toBe('customer_disconnect');
  await act(id, 'conversation_relay_start', { url: `${customer.socketUrl}/talk`, command_id: '2' });
  expect((await hook('call.conversation.ended', 2)).payload['reason']).toBe('relay_ended');
  expect(customer.talks[1]!.frames[1]).toMatchObject({ voicePrompt: 'Tuesday, please.' });
  await act(id, 'hangup');
});

test('a person to whom nobody talks hangs up', async () => {
  const { dial, hook } = await start({ patience_ms: 40 });
  await dial(number('7777'));
  expect((await hook('call.hangup')).payload).toMatchObject({ hangup_source: 'callee', hangup_cause: 'normal_clearing' });
});

test('an inbound call waits to be answered by command', async () => {
  const { steer, act, hook, customer } = await start();
  await steer('POST', '/inbound', { connection_id: connection, from: number('7777'), to: from, webhook_url: `${customer.url}/hooks` });
  const { payload } = await hook('call.initiated');
  expect(payload).toMatchObject({ direction: 'incoming', state: 'parked', to: from });
  const id = payload['call_control_id'];
  await act(id, 'answer', { client_state: 'YQ==', command_id: 'answer-1' });
  expect((await hook('call.answered')).payload['client_state']).toBe('YQ==');
  await act(id, 'conversation_relay_start', { url: `${customer.socketUrl}/talk` });
  await hook('call.conversation.ended');
  await act(id, 'hangup');
  await hook('call.hangup');
});

test('the same command_id dials once, another one again', async () => {
  const { dial, ledger } = await start();
  const to = number('0001');
  const [first, second] = [await dial(to, { command_id: 'a' }), await dial(to, { command_id: 'a' })];
  expect(second.body.data.call_control_id).toBe(first.body.data.call_control_id);
  await dial(to, { command_id: 'b' });
  expect(await ledger()).toHaveLength(2);
});

test('another command under an id that was obeyed is not obeyed, and answered as if it were', async () => {
  const { dial, act, hook, customer, ledger } = await start({ patience_ms: 60 });
  const id = (await dial(number('7777'), { command_id: 'a' })).body.data.call_control_id;
  await hook('call.answered');
  const silent = await act(id, 'conversation_relay_start', { url: `${customer.socketUrl}/talk`, command_id: 'a' });
  expect([silent.status, silent.body.data]).toEqual([200, { result: 'ok' }]);
  await hook('call.hangup');
  expect(customer.talks).toEqual([]);
  expect(await ledger()).toMatchObject([{ sockets: 0 }]);
});

test('a refused command may be given again under its id', async () => {
  const { dial, act, hook, customer } = await start();
  customer.agent = scripted('Are you there?', 'end');
  const id = (await dial(number('7777'))).body.data.call_control_id;
  const relay = { url: `${customer.socketUrl}/talk`, command_id: 'relay-1' };
  expect((await act(id, 'conversation_relay_start', relay)).status).toBe(422);
  await hook('call.answered');
  await act(id, 'conversation_relay_start', relay);
  await hook('call.conversation.ended');
  expect(customer.talks).toHaveLength(1);
  await act(id, 'hangup');
});

test('texts with options and empty ones are refused, and the tenth closes the socket', async () => {
  const { dial, act, hook, customer } = await start();
  customer.agent = (frame, talk) => {
    if (frame['type'] !== 'setup') return;
    for (let sent = 0; sent < 5; sent++) talk.send({ type: 'text', token: 'Hello', last: false, interruptible: true });
    for (let sent = 0; sent < 5; sent++) talk.send({ type: 'text', token: '', last: true });
  };
  const id = (await dial(number('7777'))).body.data.call_control_id;
  await hook('call.answered');
  await act(id, 'conversation_relay_start', { url: `${customer.socketUrl}/talk` });
  expect((await hook('call.conversation.ended')).payload['reason']).toBe('customer_disconnect');
  expect(customer.talks[0]!.frames.filter(({ type }) => type === 'error').length).toBeGreaterThanOrEqual(9);
  await act(id, 'hangup');
});

test('webhooks are signed with the key that the account shows, each try anew', async () => {
  const { dial, hook, customer, call } = await start();
  customer.respond = () => (customer.received.length === 0 ? { status: 500 } : undefined);
  await dial(number('0001'));
  await hook('call.hangup');
  await eventually(async () => customer.received.length === 3, 'The second try');
  const { data } = (await call('GET', '/public_key')).body;
  for (const { body, headers } of customer.received) {
    const request = { body, signature: headers['telnyx-signature-ed25519']!, timestamp: headers['telnyx-timestamp']! };
    expect(await hasValidTelnyxSignature(request, data.public, Date.now())).toBe(true);
    expect(await hasValidTelnyxSignature({ ...request, body: `${body} ` }, data.public, Date.now())).toBe(false);
  }
});

test('active calls are listed in pages, with their state', async () => {
  const { dial, call, hook, ledger } = await start({ ring_ms: 5_000 });
  for (const state of ['MQ==', 'Mg==', 'Mw==']) await dial(number('7777'), { client_state: state });
  await hook('call.initiated', 3);
  const first = (await call('GET', `/connections/${connection}/active_calls?page[limit]=2`)).body;
  expect(first.data.map(({ client_state }: any) => client_state)).toEqual(['MQ==', 'Mg==']);
  const second = (await call('GET', `/connections/${connection}/active_calls?page[limit]=2&page[after]=${first.meta.cursors.after}`)).body;
  expect([second.data.length, second.meta.next]).toEqual([1, null]);
  expect((await call('GET', '/connections/other/active_calls')).body.data).toEqual([]);
  expect(await ledger()).toHaveLength(3);
});

test('a recording is reported after the call, and can be fetched', async () => {
  const { dial, act, hook } = await start();
  const id = (await dial(number('7777'), { record: 'record-from-answer', record_format: 'mp3', record_channels: 'dual' })).body.data
    .call_control_id;
  await hook('call.answered');
  await act(id, 'hangup');
  const { payload } = await hook('call.recording.saved');
  expect(payload).not.toHaveProperty('call_control_id');
  const fetched = await fetch(payload['recording_urls'].mp3);
  expect([fetched.status, fetched.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
});

test('a link to a recording ends, and the API gives a new one', async () => {
  const { dial, act, hook, call } = await start({ link_ms: 0 });
  const id = (await dial(number('7777'), { record: 'record-from-answer' })).body.data.call_control_id;
  await hook('call.answered');
  await act(id, 'hangup');
  const { payload } = await hook('call.recording.saved');
  expect((await fetch(payload['recording_urls'].mp3)).status).toBe(403);
  const { data } = (await call('GET', `/recordings?filter[call_leg_id]=${payload['call_leg_id']}`)).body;
  expect(data).toMatchObject([{ call_control_id: id, status: 'completed', download_urls: { mp3: expect.any(String) } }]);
  expect((await call('GET', `/recordings/${data[0].id}`)).body.data.id).toBe(data[0].id);
  expect((await call('GET', '/recordings?filter[call_leg_id]=other')).body.data).toEqual([]);
  expect((await call('GET', '/recordings/none')).status).toBe(404);
});

test.each([
  [{ to: '12' }, 422, '10016', '/to'],
  [{ from: 'Acme' }, 422, '10016', '/from'],
  [{ to: '+15005550001' }, 422, '10016', '/to'],
  [{ to: '+15005550003' }, 403, '10010', undefined],
  [{ from: '+15005550009' }, 403, '10010', undefined],
  [{ connection_id: undefined }, 422, '10015', '/connection_id'],
  [{ webhook_url: 'nowhere' }, 422, '10015', '/webhook_url'],
  [{ timeout_secs: 1 }, 422, '10015', '/timeout_secs'],
  [{ client_state: 'not base64!' }, 422, '10015', '/client_state'],
  [{ colour: 'red' }, 422, '10015', '/colour'],
])('a dial with %j is refused as Telnyx does', async (more, status, code, pointer) => {
  const { dial, ledger } = await start();
  const answer = await dial(number('7777'), more);
  expect([answer.status, answer.body.errors[0].code, answer.body.errors[0].source?.pointer]).toEqual([status, code, pointer]);
  expect(await ledger()).toEqual([]);
});

test('a key is needed, JSON is needed, and other paths are not there', async () => {
  const { call } = await start();
  expect((await call('GET', '/calls/v3:none', undefined, { authorization: '' })).body.errors[0].code).toBe('10009');
  expect((await call('GET', '/calls/v3:none', undefined, { authorization: 'Bearer invalid-key' })).status).toBe(401);
  expect((await call('POST', '/calls', {}, { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await call('GET', '/calls/v3:none')).status).toBe(404);
  expect((await call('POST', '/calls/v3:none/actions/hangup', {})).body.errors[0].code).toBe('90015');
  expect((await call('GET', '/balance')).status).toBe(404);
});
