import { describe, expect, test } from 'vitest';
import { parseWatiTemplate } from '../../src/providers/messaging/wati/templates.ts';
import { createMessagingProvider } from '../../src/providers/messaging/registry.ts';
import {
  answeringRuntime,
  failureOf,
  impatient,
  providerBefore,
  secret,
  startMessaging,
  templateNamed,
  templatesOf,
  textTemplate,
} from './messaging-fakes.ts';

const key = 'provider_a';
const to = '+919876543210';
const receiver = { localMessageId: 'd38f', waId: '919876543210', isValidWhatsAppNumber: true, errors: [] };
const accepted = { result: true, error: null, templateName: 'order_update', receivers: [receiver], parameters: [] };
const send = (answer: unknown, status = 200) => {
  const runtime = answeringRuntime(() =>
    typeof answer === 'string' ? new Response(answer, { status }) : Response.json(answer, { status }),
  );
  return providerBefore(key, runtime).send({ to, template: textTemplate(), params: { 1: 'Sam', 2: '7' }, key: 'k1' });
};

describe('a scoped token of WATI', () => {
  test('opens the newer API alone, which then lists and sends', async () => {
    const { providerOf, url } = await startMessaging();
    const provider = providerOf(key, 'a-scoped-token');
    const template = await templateNamed(provider, 'order_update');
    expect(template.parameters.map(({ name }) => name)).toEqual(['customer_name', 'order_number']);
    const params = { order_number: '1001', customer_name: 'Ada' };
    expect(await provider.send({ to, template, params, key: 'k7' })).toEqual({ messageId: 'k7', status: 'accepted' });
    const { messages } = (await (await fetch(`${url}/wati/__sim/messages?account=scoped`)).json()) as { messages: object[] };
    expect(messages).toMatchObject([{ id: 'k7', params: ['Ada', '1001'] }]);
    expect(failureOf(await provider.send({ to, template: { ...template, name: 'gone' }, params, key: 'k8' })).failure).toBe(
      'template_missing',
    );
  });
});

test('a template with cards is not sent', () => {
  const listed = { id: '1', elementName: 'cards', status: 'APPROVED', language: 'en', body: 'Hi', carouselCards: [{}] };
  expect(parseWatiTemplate(listed)).toMatchObject({ unfillable: ['carousel'] });
});

describe('WATI', () => {
  test('is asked for exactly this', async () => {
    const runtime = answeringRuntime(() => Response.json(accepted));
    const template = textTemplate({ parameters: [{ name: 'customer_name', place: 'body', kind: 'text' }], isNamed: true });
    const sent = await providerBefore(key, runtime).send({ to, template, params: { customer_name: 'Sam' }, key: 'step:7:greet:1' });
    expect(sent).toEqual({ messageId: 'd38f', status: 'accepted' });
    const { method, url, headers, body } = runtime.asked[0]!;
    expect([method, url]).toEqual(['POST', 'https://wati.example.com/1/api/v2/sendTemplateMessage?whatsappNumber=919876543210']);
    expect([headers.get('authorization'), headers.get('content-type')]).toEqual([`Bearer ${secret}`, 'application/json']);
    expect(JSON.parse(body)).toEqual({
      template_name: 'order_update',
      broadcast_name: 'step:7:greet:1',
      parameters: [{ name: 'customer_name', value: 'Sam' }],
    });
  });

  test('is given the names that the template has for its placeholders', async () => {
    const { providerOf, messages } = await startMessaging();
    const provider = providerOf(key);
    const template = await templateNamed(provider, 'order_update');
    expect(template.parameters.map(({ name }) => name)).toEqual(['customer_name', 'order_number']);
    await provider.send({ to, template, params: { order_number: '1001', customer_name: 'Ada' }, key: 'k1' });
    expect(await messages(key)).toMatchObject([{ params: ['Ada', '1001'], reference: 'k1' }]);
  });

  test('takes a token with the word Bearer and an endpoint with a slash, as people paste them', async () => {
    const { url, options } = await startMessaging();
    const account = { provider: key, apiEndpoint: ` ${url}/wati/1/ `.trim(), apiToken: 'Bearer token-1' } as const;
    expect(await templatesOf(createMessagingProvider(account, options))).not.toEqual([]);
  });

  test.each([
    'https://10.0.0.1/1',
    'http://localhost:1/1',
    'ftp://wati.example.com/1',
    'https://user:pass@wati.example.com/1',
    'live-mt-server.wati.io/1',
    '',
  ])('is not asked at %j, an address that may not be called', async (apiEndpoint) => {
    const { options } = await startMessaging();
    const runtime = answeringRuntime(() => Response.json(accepted));
    const provider = createMessagingProvider({ provider: key, apiEndpoint, apiToken: 't' }, { ...options, runtime });
    for (const result of [await provider.listTemplates(), await provider.send({ to, text: 'Hi', key: 'k1' })])
      expect(result).toMatchObject({ failure: 'auth', message: expect.stringContaining('api_endpoint'), retryable: false });
    expect(runtime.asked).toEqual([]);
  });

  test.each([
    [{ result: false, info: 'Template order_update is not found' }, 'template_missing', null],
    [{ result: false, error: 'Missing parameters: name' }, 'template_params', null],
    [{ result: false, info: 'Insufficient balance' }, 'balance', null],
    [{ result: false }, 'unknown', null],
    [
      { ...accepted, receivers: [{ ...receiver, errors: ['(#132001) Template name does not exist in the translation'] }] },
      'template_missing',
      '132001',
    ],
    [{ ...accepted, receivers: [{ ...receiver, errors: [{ code: 131056, message: 'pair rate limit hit' }] }] }, 'rate_limited', '131056'],
    [{ ...accepted, receivers: [{ ...receiver, isValidWhatsAppNumber: false, localMessageId: null }] }, 'not_on_channel', null],
    [{ result: false, receivers: [{ ...receiver, errors: [{ description: 'odd' }] }] }, 'unknown', null],
  ])('that answers 200 and %j has not sent it: %s', async (answer, failure, code) => {
    expect(await send(answer)).toMatchObject({ failure, code });
  });

  test.each([
    [401, '', 'auth'],
    [403, '', 'auth'],
    [404, '<html>', 'auth'],
    [400, { result: false, info: 'whatsappNumber is required' }, 'unknown'],
    [400, { result: false, info: 'Invalid template' }, 'template_missing'],
  ])('answers %d with %j: %s', async (status, answer, failure) => {
    expect(await send(answer, status)).toMatchObject({ failure, code: String(status), retryable: false });
  });

  test('sends a text into an open session alone', async () => {
    const { providerOf } = await startMessaging();
    const result = await providerOf(key).send({ to: '+14155550012', text: 'Hi', key: 'k1' });
    expect(result).toMatchObject({ failure: 'window_closed', words: 'Ticket has been expired.' });
  });

  test('may give fewer templates a page than it is asked for, or the same page twice', async () => {
    const one = (id: number) => ({
      id: String(id),
      elementName: `t${id}`,
      status: 'APPROVED',
      language: { value: 'en' },
      body: 'Hi',
      customParams: [],
    });
    const pages = [
      { messageTemplates: [one(1), one(2)], link: { pageNumber: 1, pageSize: 2, total: 5 } },
      { messageTemplates: [one(1), one(2)], link: { pageNumber: 2, pageSize: 2, total: 5 } },
      { messageTemplates: [one(3)], link: { pageNumber: 3, pageSize: 2, total: 5 } },
    ];
    const runtime = answeringRuntime(() => Response.json(pages.shift()!));
    expect((await templatesOf(providerBefore(key, runtime))).map(({ id }) => id)).toEqual(['1', '2', '3']);
    expect(runtime.asked).toHaveLength(3);
  });

  test('that does not end its list is given up', async () => {
    const template = { id: '1', elementName: 't', status: 'APPROVED', language: 'en', body: 'Hi' };
    const runtime = answeringRuntime(() => Response.json({ messageTemplates: [template], link: { total: 1e9, pageSize: 1 } }));
    expect(failureOf(await providerBefore(key, runtime).listTemplates()).message).toContain('no list of templates');
    expect(runtime.asked).toHaveLength(100);
  });
});

describe('a webhook of WATI', () => {
  const now = 1_700_000_100_000;
  const provider = providerBefore(key, Object.assign(impatient(), { now: () => now }));
  const read = (body: unknown) =>
    provider.readCallback({ url: 'https://a.test', headers: new Headers(), body: typeof body === 'string' ? body : JSON.stringify(body) });

  test.each([
    ['templateMessageSent', 'sent'],
    ['templateMessageSent_v2', 'sent'],
    ['templateMessageSent_v2_bsuid', 'sent'],
    ['sessionMessageSent_v2', 'sent'],
    ['sentMessageDELIVERED', 'delivered'],
    ['sentMessageDELIVERED_v2', 'delivered'],
    ['sentMessageREAD_v2', 'read'],
    ['sentMessageREPLIED_v2', 'read'],
  ])('%s tells that it is %s', (eventType, status) => {
    expect(read({ eventType, localMessageId: 'd38f', timestamp: '1700000000' })).toEqual({
      events: [{ messageId: 'd38f', status, at: 1_700_000_000_000 }],
    });
  });

  test('tells its time as it has it', () => {
    const at = (more: object) =>
      (read({ eventType: 'templateMessageSent', localMessageId: 'd38f', ...more }) as { events: { at: number }[] }).events[0]!.at;
    expect(at({ created: '2023-03-11T14:27:32.9655388Z' })).toBe(Date.parse('2023-03-11T14:27:32.965Z'));
    expect(at({})).toBe(now);
    expect(at({ created: 'yesterday', timestamp: null })).toBe(now);
  });

  test.each([
    ['131026', 'Message undeliverable', 'not_on_channel'],
    [131050, 'Stopped', 'opted_out'],
    ['', 'Insufficient balance', 'balance'],
    [undefined, undefined, 'unknown'],
  ])('of a failure with %j and %j is of the class %s', (failedCode, failedDetail, failure) => {
    for (const eventType of ['templateMessageFailed', 'sessionMessageFailed'])
      expect(read({ eventType, localMessageId: 'd38f', failedCode, failedDetail })).toEqual({
        events: [
          {
            messageId: 'd38f',
            status: 'failed',
            at: now,
            failure: expect.objectContaining({ failure, code: failedCode ? String(failedCode) : null, words: failedDetail ?? null }),
          },
        ],
      });
  });

  test('of something else tells of no message', () => {
    const others = [
      { eventType: 'message', waId: '1', text: 'hi' },
      { eventType: 'templateReviewed', localMessageId: 'x' },
      { eventType: 'templateMessageSent', localMessageId: null },
    ];
    for (const body of ['', 'null', '[]', '7', ...others]) expect(read(body)).toEqual({ events: [] });
  });
});
