import { describe, expect, test } from 'vitest';
import { parseGupshupTemplate } from '../../src/providers/messaging/gupshup/templates.ts';
import { createMessagingProvider } from '../../src/providers/messaging/registry.ts';
import {
  answeringRuntime,
  failureOf,
  impatient,
  providerBefore,
  secret,
  startMessaging,
  templatesOf,
  textTemplate,
} from './messaging-fakes.ts';

const key = 'provider_c';
const to = '+919876543210';
const template = textTemplate({ id: '1f0c2d7e-0000-4000-8000-000000000001' });
const submitted = { status: 'submitted', messageId: 'ee4a68a0' };

describe('the templates of Gupshup', () => {
  const appId = '0d5c2d7e-0000-4000-8000-000000000042';
  const account = (options: object, more: object = {}) =>
    createMessagingProvider({ provider: key, apiKey: secret, source: '917834811114', appName: 'DemoApp', ...more }, options as never);

  test('are listed by the id of the app where it is given', async () => {
    const { options, url } = await startMessaging();
    expect((await templatesOf(account(options, { appId }))).map(({ name }) => name)).toEqual(['order_update', 'welcome']);
    const { requests } = (await (await fetch(`${url}/__sim/requests?provider=gupshup`)).json()) as { requests: { path: string }[] };
    expect(requests.map(({ path }) => path)).toEqual([`/wa/app/${appId}/template`]);
  });

  test('say that the id is missing where no list takes the name', async () => {
    const runtime = answeringRuntime(() => Response.json({ status: 'error', message: 'Invalid App Details' }, { status: 400 }));
    expect(failureOf(await providerBefore(key, runtime).listTemplates()).message).toMatch(/give app_id/);
  });

  test('that have cards say so', () => {
    const listed = { id: '1', elementName: 'cards', languageCode: 'en', status: 'APPROVED', templateType: 'CAROUSEL', data: 'Hi' };
    expect(parseGupshupTemplate(listed)).toMatchObject({ unfillable: ['carousel'] });
  });
});

describe('Gupshup', () => {
  test.each([200, 202])('is asked for exactly this, and takes it with %d', async (status) => {
    const runtime = answeringRuntime(() => Response.json(submitted, { status }));
    const sent = await providerBefore(key, runtime).send({ to, template, params: { 1: 'Sam', 2: '1001' }, key: 'k1' });
    expect(sent).toEqual({ messageId: 'ee4a68a0', status: 'submitted' });
    const { method, url, headers, body } = runtime.asked[0]!;
    expect([method, url]).toEqual(['POST', 'https://gupshup.example.com/wa/api/v1/template/msg']);
    expect([headers.get('apikey'), headers.get('content-type')]).toEqual([secret, 'application/x-www-form-urlencoded']);
    expect([...new URLSearchParams(body)]).toEqual([
      ['channel', 'whatsapp'],
      ['source', '917834811114'],
      ['destination', '919876543210'],
      ['src.name', 'DemoApp'],
      ['template', JSON.stringify({ id: template.id, params: ['Sam', '1001'] })],
    ]);
  });

  test('gets a medium of a header beside the parameters', async () => {
    const runtime = answeringRuntime(() => Response.json(submitted));
    const withImage = parseGupshupTemplate({
      id: 'u1',
      elementName: 'rich',
      languageCode: 'en',
      status: 'APPROVED',
      templateType: 'IMAGE',
      data: 'Hi {{1}}\nBye | [Open,https://a.test/{{1}}]',
      containerMeta: JSON.stringify({
        data: 'Hi {{1}}',
        footer: 'Bye',
        buttons: [{ type: 'URL', url: 'https://a.test/{{1}}' }, { type: 'QUICK_REPLY' }],
      }),
    })!;
    expect(withImage).toMatchObject({ body: 'Hi {{1}}', placeholders: 3 });
    expect(withImage.components.map((component) => (component as { type: string }).type)).toEqual(['BODY', 'FOOTER', 'BUTTONS']);
    const params = { header_image: 'https://a.test/i.png', 1: 'Ada', button_0: 'path' };
    await providerBefore(key, runtime).send({ to, template: withImage, params, key: 'k1' });
    const form = new URLSearchParams(runtime.asked[0]!.body);
    expect(JSON.parse(form.get('template')!)).toEqual({ id: 'u1', params: ['Ada', 'path'] });
    expect(JSON.parse(form.get('message')!)).toEqual({ type: 'image', image: { link: 'https://a.test/i.png' } });
  });

  test('describes a template whose parts cannot be read by its whole text', () => {
    for (const containerMeta of [undefined, null, '', '{broken', '[]'])
      expect(parseGupshupTemplate({ id: 'u1', elementName: 'a', status: 'APPROVED', data: 'Hi {{1}}', containerMeta })).toMatchObject({
        body: 'Hi {{1}}',
        placeholders: 1,
        language: '',
      });
  });

  test('lists by the id of the app, all pages of it', async () => {
    const { options, post } = await startMessaging();
    const app = '1f0c2d7e-0000-4000-8000-00000000000a';
    const templates = Array.from({ length: 250 }, (_, index) => ({ name: `t${index}`, body: 'Hi' }));
    await post('/gupshup/__sim/templates', { account: app, templates });
    const provider = createMessagingProvider({ provider: key, apiKey: 'k', source: '917834811114', appName: app }, options);
    expect(await templatesOf(provider)).toHaveLength(252);
  });

  test('whose list knows no pages is not asked for ever', async () => {
    const templates = Array.from({ length: 100 }, (_, index) => ({
      id: `u${index}`,
      elementName: `t${index}`,
      status: 'APPROVED',
      data: 'Hi',
    }));
    const runtime = answeringRuntime(() => Response.json({ status: 'success', templates }));
    expect(await templatesOf(providerBefore(key, runtime))).toHaveLength(100);
    expect(runtime.asked).toHaveLength(2);
  });

  test('is asked for the older list when the newer does not know the name', async () => {
    const answers = [
      Response.json({ status: 'error', message: 'Invalid App Details' }, { status: 400 }),
      Response.json({ status: 'success', templates: [] }),
    ];
    const runtime = answeringRuntime(() => answers.shift()!);
    expect(await templatesOf(providerBefore(key, runtime))).toEqual([]);
    expect(runtime.asked.map(({ url }) => new URL(url).pathname)).toEqual(['/wa/app/DemoApp/template', '/sm/api/v1/template/list/DemoApp']);
  });

  test.each([
    [401, { status: 'error', message: 'Portal User Not Found With APIKey' }, 'auth'],
    [401, 'Portal User Not Found With APIKey', 'auth'],
    [403, '', 'auth'],
    [400, { status: 'error', message: 'Template Not Found' }, 'template_missing'],
    [400, { status: 'error', message: 'Template params mismatch' }, 'template_params'],
    [400, { status: 'error', message: 'Invalid Destination' }, 'not_on_channel'],
    [400, { status: 'error', message: 'Insufficient balance' }, 'balance'],
    [400, { status: 'error', message: 'Something' }, 'unknown'],
    [200, { status: 'error', message: 'Something' }, 'unknown'],
  ])('answers %d with %j: %s', async (status, answer, failure) => {
    const runtime = answeringRuntime(() =>
      typeof answer === 'string' ? new Response(answer, { status }) : Response.json(answer, { status }),
    );
    const result = failureOf(await providerBefore(key, runtime).send({ to, template, params: { 1: 'a', 2: 'b' }, key: 'k1' }));
    expect(result).toMatchObject({ failure, code: String(status), retryable: false });
  });
});

describe('a callback of Gupshup', () => {
  const now = 1_700_000_100_000;
  const provider = providerBefore(key, Object.assign(impatient(), { now: () => now }));
  const read = (body: unknown) =>
    provider.readCallback({ url: 'https://a.test', headers: new Headers(), body: typeof body === 'string' ? body : JSON.stringify(body) });
  const event = (payload: object) => ({ app: 'DemoApp', timestamp: 1_580_546_677_791, version: 2, type: 'message-event', payload });

  test('knows a message by the id of Gupshup, wherever it stands', () => {
    expect(read(event({ id: 'gs1', type: 'enqueued', destination: '1', payload: { whatsappMessageId: 'wa1', type: 'session' } }))).toEqual({
      events: [{ messageId: 'gs1', status: 'accepted', at: 1_580_546_677_791 }],
    });
    for (const type of ['sent', 'delivered', 'read'])
      expect(read(event({ id: 'wa1', gsId: 'gs1', type, destination: '1', payload: { ts: 1_700_000_000 } }))).toEqual({
        events: [{ messageId: 'gs1', status: type, at: 1_700_000_000_000 }],
      });
    expect(read(event({ id: 'wa1', type: 'delivered', payload: { ts: 1_700_000_000 } }))).toMatchObject({ events: [{ messageId: 'wa1' }] });
  });

  test.each([
    [1002, 'not_on_channel'],
    [1003, 'balance'],
    [1004, 'window_closed'],
    [1005, 'template_missing'],
    [1006, 'opted_out'],
    [1007, 'template_missing'],
    [1008, 'opted_out'],
    [1010, 'media'],
    [1011, 'media'],
    [1012, 'opted_out'],
    [4001, 'rate_limited'],
    [4003, 'template_missing'],
    [131047, 'window_closed'],
    [132000, 'template_params'],
    [500, 'unknown'],
  ])('of a failure with code %d is of the class %s', (code, failure) => {
    expect(read(event({ id: 'gs1', type: 'failed', destination: '1', payload: { code, reason: 'Because' } }))).toEqual({
      events: [
        {
          messageId: 'gs1',
          status: 'failed',
          at: 1_580_546_677_791,
          failure: expect.objectContaining({ failure, code: String(code), words: 'Because' }),
        },
      ],
    });
  });

  test("of version 3 has Meta's form", () => {
    const statuses = [
      { id: 'wa1', gs_id: 'gs1', status: 'delivered', timestamp: '1700000000' },
      { id: 'wa2', gs_id: 'gs2', status: 'read', timestamp: '1700000000123' },
      { id: 'gs3', status: 'failed', errors: [{ code: 131026, title: 'Message undeliverable' }] },
      { id: 'gs4', status: 'deleted' },
    ];
    expect(
      read({ object: 'whatsapp_business_account', gs_app_id: 'a', entry: [{ changes: [{ field: 'messages', value: { statuses } }] }] }),
    ).toEqual({
      events: [
        { messageId: 'gs1', status: 'delivered', at: 1_700_000_000_000 },
        { messageId: 'gs2', status: 'read', at: 1_700_000_000_123 },
        { messageId: 'gs3', status: 'failed', at: now, failure: expect.objectContaining({ failure: 'not_on_channel', code: '131026' }) },
      ],
    });
  });

  test('of something else tells of no message', () => {
    const others = [
      { type: 'user-event', payload: { type: 'opted-in' } },
      { type: 'message', payload: { id: 'x', type: 'text' } },
      event({ type: 'sent' }),
    ];
    for (const body of ['', 'null', '[]', '7', ...others]) expect(read(body)).toEqual({ events: [] });
  });
});
