import { describe, expect, test } from 'vitest';
import type { ProviderKey } from '../../src/providers/messaging/messaging.ts';
import {
  answeringRuntime,
  eventsIn,
  failureOf,
  impatient,
  providerBefore,
  providerKeys,
  secret,
  simulated,
  startMessaging,
  templateNamed,
  templatesOf,
  textTemplate,
} from './messaging-fakes.ts';

const to = '+14155550123';
const params = { 1: 'Ada', 2: '1001' };
const firstStatus = { provider_a: 'accepted', provider_b: 'accepted', provider_c: 'submitted', provider_d: 'queued' };

describe.each(providerKeys)('%s', (key: ProviderKey) => {
  test('lists its approved templates alone, with their placeholders', async () => {
    const { providerOf } = await startMessaging();
    const templates = await templatesOf(providerOf(key));
    expect(templates.map(({ name, language, placeholders }) => [name, language, placeholders])).toEqual([
      ['order_update', 'en', 2],
      ['welcome', 'en', 0],
      ...(key === 'provider_b' ? [['order_update', 'en_US', 2]] : []),
    ]);
    expect(templates[0]).toMatchObject({
      status: expect.stringMatching(/^approved$/i),
      category: 'UTILITY',
      body: expect.stringContaining('Hi {{'),
    });
    expect(JSON.stringify(templates[0]!.components)).toContain(templates[0]!.body);
  });

  test('lists templates from all pages', async () => {
    const { providerOf, post } = await startMessaging();
    const { vendor, account } = simulated[key];
    const more = Array.from({ length: 450 }, (_, index) => ({ name: `extra_${index}`, body: 'Hello {{1}}' }));
    await post(`/${vendor}/__sim/templates`, { account, templates: more });
    const names = (await templatesOf(providerOf(key))).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('extra_'))).toEqual(more.map(({ name }) => name));
  });

  test('sends a template, and tells what becomes of it', async () => {
    const { providerOf, register, customer, messages, url } = await startMessaging();
    await register(key);
    const provider = providerOf(key);
    const template = await templateNamed(provider, 'order_update');
    const sent = await provider.send({ to, template, params, key: 'step:7:greet:1', callbackUrl: `${customer.url}/${key}` });
    expect(sent).toEqual({ messageId: expect.stringMatching(/.{20}/), status: firstStatus[key] });
    const { messageId } = sent as { messageId: string };
    expect(await messages(key)).toMatchObject([{ id: messageId, to, kind: 'template', template: 'order_update', params: ['Ada', '1001'] }]);

    const statuses = () =>
      new Set(
        customer
          .at(`/${key}`)
          .flatMap((request) => eventsIn(provider, request))
          .map(({ status }) => status),
      );
    await customer.until(() => statuses().has('delivered'), 'delivered');
    await fetch(`${url}/${simulated[key].vendor}/__sim/messages/${encodeURIComponent(messageId)}/read`, { method: 'POST' });
    await customer.until(() => statuses().has('read'), 'read');
    const events = customer.at(`/${key}`).flatMap((request) => eventsIn(provider, request));
    expect(events.every((event) => event.messageId === messageId && Math.abs(event.at - Date.now()) < 60_000)).toBe(true);
    expect([...statuses()].filter((status) => status !== 'accepted')).toEqual(['sent', 'delivered', 'read']);
  });

  test('sends a text', async () => {
    const { providerOf, messages } = await startMessaging();
    const text = 'Yes, it is: 100 % done & more\nin two lines';
    const sent = await providerOf(key).send({ to, text, key: 'k1' });
    expect(await messages(key)).toMatchObject([{ id: (sent as { messageId: string }).messageId, to, kind: 'text', text }]);
  });

  test('sends a template without placeholders', async () => {
    const { providerOf, messages } = await startMessaging();
    const provider = providerOf(key);
    await provider.send({ to, template: await templateNamed(provider, 'welcome'), params: { unused: 'x' }, key: 'k1' });
    expect(await messages(key)).toMatchObject([{ template: 'welcome', params: [] }]);
  });

  test.each([
    ['0011', 'not_on_channel'],
    ['0012', 'window_closed'],
    ['0014', 'opted_out'],
  ])('to a number that ends in %s fails as %s', async (ending, failure) => {
    const { providerOf, register, customer } = await startMessaging();
    await register(key);
    const provider = providerOf(key);
    const template = await templateNamed(provider, 'order_update');
    const sent = await provider.send({ to: `+1415555${ending}`, template, params, key: 'k1', callbackUrl: `${customer.url}/${key}` });
    const reportedFailure = async () => {
      const events = () => customer.at(`/${key}`).flatMap((request) => eventsIn(provider, request));
      return customer.until(() => events().find(({ status }) => status === 'failed')?.failure, 'The failure');
    };
    const found = 'failure' in sent ? sent : await reportedFailure();
    expect(found).toMatchObject({ failure, retryable: false, words: expect.stringMatching(/\w/) });
    expect(found.code === null || /^\d+$/.test(found.code)).toBe(true);
    expect(found.message).toContain(found.words!);
  });

  test('says to a number that ends in 0013 that it takes no more for the moment', async () => {
    const { providerOf, messages } = await startMessaging();
    const provider = providerOf(key);
    const template = await templateNamed(provider, 'welcome');
    expect(await provider.send({ to: '+14155550013', template, params: {}, key: 'k1' })).toMatchObject({
      failure: 'rate_limited',
      retryable: true,
    });
    expect(await messages(key)).toEqual([]);
  });

  test('says that its credentials are wrong, to both questions, and does not show them', async () => {
    const { providerOf } = await startMessaging();
    const provider = providerOf(key, 'invalid-token-abcdef');
    for (const result of [await provider.listTemplates(), await provider.send({ to, template: textTemplate(), params, key: 'k1' })]) {
      expect(result).toMatchObject({ failure: 'auth', retryable: false });
      expect(JSON.stringify(result)).not.toContain('invalid-token-abcdef');
    }
  });

  test('is asked for nothing when a parameter is missing', async () => {
    const { providerOf, received } = await startMessaging();
    const provider = providerOf(key);
    const template = await templateNamed(provider, 'order_update');
    const before = await received(key);
    const failure = failureOf(await provider.send({ to, template, params: { 1: 'Ada' }, key: 'k1' }));
    expect(failure).toMatchObject({ failure: 'template_params', code: null, retryable: false });
    expect(failure.message).toContain('has 2 placeholders');
    expect(await received(key)).toBe(before);
  });

  test('is asked once when its answer to a message is lost, and the outcome stays open', async () => {
    const { providerOf, post, messages } = await startMessaging();
    const provider = providerOf(key);
    const template = await templateNamed(provider, 'order_update');
    await post('/__sim/faults', { provider: simulated[key].vendor, match: { method: 'POST' }, drop_response: true });
    const result = await provider.send({ to, template, params, key: 'k1' });
    expect(result).toMatchObject({ failure: 'provider_down', outcomeUnknown: true, retryable: false });
    expect(await messages(key)).toHaveLength(1);
  });

  test.each([500, 502, 504, 408])('that answers a message with %d may have sent it', async (status) => {
    const runtime = answeringRuntime(() => new Response('<html>gateway</html>', { status }));
    const result = await providerBefore(key, runtime).send({ to, template: textTemplate(), params, key: 'k1' });
    expect(result).toMatchObject({ failure: 'provider_down', outcomeUnknown: true, retryable: false });
    expect(runtime.asked).toHaveLength(1);
  });

  test('that declines with Retry-After has not sent the message', async () => {
    for (const [status, failure] of [
      [429, 'rate_limited'],
      [503, 'provider_down'],
    ] as const) {
      const runtime = answeringRuntime(() => new Response('', { status, headers: { 'retry-after': '17' } }));
      const result = await providerBefore(key, runtime).send({ to, template: textTemplate(), params, key: 'k1' });
      expect(result).toMatchObject({ failure, retryable: true, retryAfterSeconds: 17 });
      expect(result).not.toHaveProperty('outcomeUnknown');
      expect(runtime.asked).toHaveLength(1);
    }
  });

  test('that takes a message and does not say which one may have sent it', async () => {
    for (const body of [
      '',
      'ok',
      '{}',
      '[]',
      '{"result":true,"receivers":[{}]}',
      '{"messages":[{}]}',
      '{"status":"submitted"}',
      '{"sid":""}',
    ]) {
      const result = await providerBefore(
        key,
        answeringRuntime(() => new Response(body)),
      ).send({ to, template: textTemplate(), params, key: 'k1' });
      expect([body, result]).toEqual([body, expect.objectContaining({ outcomeUnknown: true, retryable: false })]);
    }
  });

  test('that does not answer in time may have sent the message', async () => {
    const runtime = impatient(
      (_input, init) =>
        new Promise((_resolve, reject) => init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason as Error))),
    );
    const provider = providerBefore(key, runtime);
    expect(await provider.send({ to, template: textTemplate(), params, key: 'k1' })).toMatchObject({ outcomeUnknown: true });
    expect(failureOf(await provider.listTemplates())).toMatchObject({ failure: 'provider_down', retryable: true });
  });

  test('is asked for its templates again after a disturbance, three times at the most', async () => {
    const { providerOf, post } = await startMessaging();
    await post('/__sim/faults', { provider: simulated[key].vendor, times: 2, status: 503 });
    expect(await templatesOf(providerOf(key))).not.toEqual([]);
    const runtime = answeringRuntime(() => new Response('', { status: 500 }));
    expect(failureOf(await providerBefore(key, runtime).listTemplates())).toMatchObject({ failure: 'provider_down', retryable: true });
    expect([runtime.asked.length, runtime.slept]).toEqual([3, [500, 1000]]);
  });

  test('is waited for as it asks, but not for long', async () => {
    const answers = [
      new Response('', { status: 429, headers: { 'retry-after': '3' } }),
      new Response('', { status: 429, headers: { 'retry-after': '86400' } }),
    ];
    const runtime = answeringRuntime(() => answers.shift()!);
    expect(failureOf(await providerBefore(key, runtime).listTemplates())).toMatchObject({
      failure: 'rate_limited',
      retryAfterSeconds: 86_400,
    });
    expect(runtime.slept).toEqual([3000]);
  });

  test('that answers nonsense has no list of templates', async () => {
    for (const body of ['', 'ok', '[]', '{}', '{"data":{},"templates":7,"contents":null,"messageTemplates":"x"}'])
      expect(
        failureOf(
          await providerBefore(
            key,
            answeringRuntime(() => new Response(body)),
          ).listTemplates(),
        ),
      ).toMatchObject({ failure: 'provider_down' });
  });

  test('leaves out templates that it cannot describe', async () => {
    const listed = [null, 7, {}, { id: 1 }, { sid: '' }];
    const body = JSON.stringify({
      data: listed,
      templates: listed,
      contents: listed,
      messageTemplates: listed,
      link: { total: 5, pageSize: 200 },
    });
    expect(
      await templatesOf(
        providerBefore(
          key,
          answeringRuntime(() => new Response(body)),
        ),
      ),
    ).toEqual([]);
  });

  test('gets its credentials at its own address alone', async () => {
    const runtime = answeringRuntime(() => new Response('', { status: 302, headers: { location: 'https://evil.example.org/' } }));
    const provider = providerBefore(key, runtime);
    for (const result of [await provider.listTemplates(), await provider.send({ to, template: textTemplate(), params, key: 'k1' })])
      expect(result).toMatchObject({ failure: 'auth' });
    expect(runtime.asked.every(({ url, redirect }) => redirect === 'manual' && !url.includes('evil'))).toBe(true);
  });

  test('shows no secret in a failure, whatever it echoes', async () => {
    const echo = { error: { code: 7, message: secret }, message: secret, info: secret, result: false, code: 12, status: 'error' };
    for (const status of [200, 400, 401, 403, 404, 422, 500]) {
      const provider = providerBefore(
        key,
        answeringRuntime(() => Response.json(echo, { status })),
      );
      for (const result of [await provider.listTemplates(), await provider.send({ to, template: textTemplate(), params, key: 'k1' })])
        expect(JSON.stringify(result)).not.toContain(secret);
    }
  });

  test('does not send a text that is empty or too long', async () => {
    const runtime = answeringRuntime(() => new Response(''));
    for (const text of ['', ' \n ', 'x'.repeat(5000)])
      expect(failureOf(await providerBefore(key, runtime).send({ to, text, key: 'k1' }))).toMatchObject({ code: null, retryable: false });
    expect(runtime.asked).toEqual([]);
  });
});
