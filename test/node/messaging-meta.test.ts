import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifyWebhookChallenge, hasValidMetaSignature } from '../../src/providers/messaging/meta/signature.ts';
import { parseMetaTemplate } from '../../src/providers/messaging/meta/templates.ts';
import type { Template } from '../../src/providers/messaging/templates.ts';
import {
  answeringRuntime,
  appSecret,
  failureOf,
  impatient,
  providerBefore,
  startMessaging,
  templatesOf,
  textTemplate,
} from './messaging-fakes.ts';

const key = 'provider_b';
const to = '+919876543210';
const accepted = { messages: [{ id: 'wamid.1', message_status: 'accepted' }] };

async function contentFor(template: Template, params: Record<string, string>) {
  const runtime = answeringRuntime(() => Response.json(accepted));
  const sent = await providerBefore(key, runtime).send({ to, template, params, key: 'step:7:greet:1' });
  if ('failure' in sent) throw new Error(sent.message);
  return { ...runtime.asked[0]!, json: JSON.parse(runtime.asked[0]!.body) as Record<string, any> };
}

const rich = parseMetaTemplate({
  id: '77',
  name: 'rich',
  status: 'APPROVED',
  category: 'MARKETING',
  language: 'en_US',
  parameter_format: 'POSITIONAL',
  components: [
    { type: 'HEADER', format: 'TEXT', text: 'News for {{1}}' },
    { type: 'BODY', text: 'Hi {{1}}, {{2}}' },
    { type: 'FOOTER', text: 'Bye' },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'QUICK_REPLY', text: 'Stop' },
        { type: 'URL', text: 'Open', url: 'https://a.test/{{1}}' },
        { type: 'URL', text: 'Home', url: 'https://a.test/' },
        { type: 'COPY_CODE', text: 'Copy' },
      ],
    },
  ],
})!;

describe('a template with parts that a message cannot fill', () => {
  const listed = (components: object[]) =>
    parseMetaTemplate({ id: '1', name: 'rich', status: 'APPROVED', category: 'MARKETING', language: 'en', components })!;
  const body = { type: 'BODY', text: 'Hi {{1}}' };

  test.each([
    [[body, { type: 'HEADER', format: 'LOCATION' }], ['header (location)']],
    [[body, { type: 'CAROUSEL', cards: [] }], ['carousel']],
    [[body, { type: 'LIMITED_TIME_OFFER' }], ['limited_time_offer']],
    [
      [body, { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY' }, { type: 'FLOW' }, { type: 'OTP' }] }],
      ['button_1 (flow)', 'button_2 (otp)'],
    ],
  ])('says which, and is refused before anything is sent', async (components, unfillable) => {
    const template = listed(components);
    expect(template.unfillable).toEqual(unfillable);
    const runtime = answeringRuntime(() => Response.json({}));
    const sent = await providerBefore('provider_b', runtime).send({ to: '+14155550123', template, params: { 1: 'Ada' }, key: 'k' });
    expect(failureOf(sent)).toMatchObject({ failure: 'template_params', message: expect.stringContaining(unfillable.join(', ')) });
    expect(runtime.asked).toEqual([]);
  });

  test('is none with a header of text or a medium, links, codes, numbers and replies', () => {
    const buttons = ['QUICK_REPLY', 'URL', 'PHONE_NUMBER', 'COPY_CODE'].map((type) => ({ type }));
    for (const format of ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT'])
      expect(listed([body, { type: 'HEADER', format }, { type: 'FOOTER', text: 'Bye' }, { type: 'BUTTONS', buttons }])).not.toHaveProperty(
        'unfillable',
      );
  });
});

describe('Meta', () => {
  test('is asked for exactly this', async () => {
    const { method, url, headers, json } = await contentFor(textTemplate({ language: 'en_US' }), { 2: '1001', 1: 'Sam' });
    expect([method, url, headers.get('content-type')]).toEqual([
      'POST',
      'https://meta.example.com/v25.0/1001/messages',
      'application/json',
    ]);
    expect(headers.get('authorization')).toMatch(/^Bearer \S+$/);
    expect(json).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '919876543210',
      type: 'template',
      template: {
        name: 'order_update',
        language: { code: 'en_US' },
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Sam' },
              { type: 'text', text: '1001' },
            ],
          },
        ],
      },
      biz_opaque_callback_data: 'step:7:greet:1',
    });
  });

  test('gets the parameters of headers and buttons in their places', async () => {
    expect(rich.parameters.map(({ name }) => name)).toEqual(['header_1', '1', '2', 'button_1', 'button_3']);
    const { json } = await contentFor(rich, { header_1: 'Ada', 1: 'Ada', 2: 'hello', button_1: 'path', button_3: 'CODE7' });
    expect(json['template'].components).toEqual([
      { type: 'header', parameters: [{ type: 'text', text: 'Ada' }] },
      {
        type: 'body',
        parameters: [
          { type: 'text', text: 'Ada' },
          { type: 'text', text: 'hello' },
        ],
      },
      { type: 'button', sub_type: 'url', index: '1', parameters: [{ type: 'text', text: 'path' }] },
      { type: 'button', sub_type: 'copy_code', index: '3', parameters: [{ type: 'coupon_code', coupon_code: 'CODE7' }] },
    ]);
  });

  test('gets a medium of a header by its address', async () => {
    const template = parseMetaTemplate({
      ...rich,
      components: [
        { type: 'HEADER', format: 'IMAGE' },
        { type: 'BODY', text: 'Hi' },
      ],
    })!;
    const { json } = await contentFor(template, { header_image: 'https://a.test/i.png' });
    expect(json['template'].components).toEqual([
      { type: 'header', parameters: [{ type: 'image', image: { link: 'https://a.test/i.png' } }] },
    ]);
  });

  test('gets the names of named parameters, and a strict Meta takes them', async () => {
    const { providerOf, post, messages } = await startMessaging();
    const added = { name: 'by_name', body: '{{1}} ordered {{2}}', names: ['customer', 'article'], is_named: true };
    await post('/meta/__sim/templates', { account: '1001', templates: [added] });
    const template = (await templatesOf(providerOf(key))).find(({ name }) => name === 'by_name')!;
    expect(template).toMatchObject({ isNamed: true, body: '{{customer}} ordered {{article}}', placeholders: 2 });
    const { json } = await contentFor(template, { article: 'a book', customer: 'Ada' });
    expect(json['template'].components[0].parameters).toEqual([
      { type: 'text', parameter_name: 'customer', text: 'Ada' },
      { type: 'text', parameter_name: 'article', text: 'a book' },
    ]);
    await providerOf(key).send({ to, template, params: { article: 'a book', customer: 'Ada' }, key: 'k1' });
    expect(await messages(key)).toMatchObject([{ params: ['Ada', 'a book'] }]);
  });

  test('follows cursors as long as there is a next page, and no further', async () => {
    const page = (after: string, next?: string) =>
      Response.json({
        data: [{ id: after, name: after, status: 'APPROVED', language: 'en' }],
        paging: { cursors: { before: 'x', after }, next },
      });
    const pages = [page('one', 'https://evil.example.org/next'), page('two', 'https://evil.example.org/next'), page('three')];
    const runtime = answeringRuntime(() => pages.shift()!);
    expect((await templatesOf(providerBefore(key, runtime))).map(({ name }) => name)).toEqual(['one', 'two', 'three']);
    const asked = runtime.asked.map(({ url }) => new URL(url));
    expect(asked.map(({ searchParams }) => searchParams.get('after'))).toEqual([null, 'one', 'two']);
    expect(new Set(asked.map(({ origin }) => origin))).toEqual(new Set(['https://meta.example.com']));
  });

  test('whose pages lead in a circle is given up', async () => {
    const runtime = answeringRuntime(() => Response.json({ data: [], paging: { cursors: { after: 'same' }, next: 'https://a.test' } }));
    expect(failureOf(await providerBefore(key, runtime).listTemplates()).message).toContain('no list of templates');
    expect(runtime.asked).toHaveLength(2);
  });

  test.each([
    [401, 0, 'auth'],
    [401, 190, 'auth'],
    [500, 3, 'auth'],
    [403, 10, 'auth'],
    [403, 200, 'auth'],
    [403, 299, 'auth'],
    [400, 33, 'auth'],
    [403, 368, 'auth'],
    [403, 131005, 'auth'],
    [403, 131031, 'auth'],
    [400, 133010, 'auth'],
    [400, 4, 'rate_limited'],
    [400, 80007, 'rate_limited'],
    [400, 130429, 'rate_limited'],
    [400, 131048, 'rate_limited'],
    [400, 131056, 'rate_limited'],
    [400, 131008, 'template_params'],
    [400, 131009, 'template_params'],
    [400, 132000, 'template_params'],
    [400, 132005, 'template_params'],
    [400, 132012, 'template_params'],
    [404, 132001, 'template_missing'],
    [400, 132007, 'template_paused'],
    [400, 132015, 'template_paused'],
    [400, 132016, 'template_paused'],
    [400, 131021, 'not_on_channel'],
    [400, 131026, 'not_on_channel'],
    [400, 131030, 'not_on_channel'],
    [400, 131042, 'balance'],
    [400, 131047, 'window_closed'],
    [400, 131050, 'opted_out'],
    [400, 131052, 'media'],
    [400, 131053, 'media'],
    [503, 2, 'provider_down'],
    [503, 131016, 'provider_down'],
    [400, 100, 'unknown'],
    [400, 131051, 'unknown'],
    [400, 424242, 'unknown'],
  ])('answers %d with code %d: %s', async (status, code, failure) => {
    const error = {
      message: `(#${code}) The title`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details: 'The details' },
    };
    const runtime = answeringRuntime(() => Response.json({ error }, { status }));
    const result = failureOf(
      await providerBefore(key, runtime).send({ to, template: textTemplate(), params: { 1: 'a', 2: 'b' }, key: 'k' }),
    );
    expect(result).toMatchObject({ failure, code: String(code), words: 'The title; The details' });
    expect(result.retryable).toBe(failure === 'rate_limited' || failure === 'provider_down');
    expect(result.message).toMatch(new RegExp(`\\(Meta: ${code}: The title; The details\\)$`));
  });

  test('that has failed somewhere may have sent the message', async () => {
    const runtime = answeringRuntime(() =>
      Response.json({ error: { code: 131000, message: '(#131000) Something went wrong' } }, { status: 500 }),
    );
    expect(await providerBefore(key, runtime).send({ to, text: 'Hi', key: 'k' })).toMatchObject({
      failure: 'provider_down',
      code: '131000',
      outcomeUnknown: true,
      retryable: false,
    });
  });

  test('holds back marketing messages to one person, which trying again soon does not help', async () => {
    const runtime = answeringRuntime(() => Response.json({ error: { code: 131049, message: 'x' } }, { status: 400 }));
    expect(await providerBefore(key, runtime).send({ to, text: 'Hi', key: 'k' })).toMatchObject({
      failure: 'rate_limited',
      retryable: false,
    });
  });

  test('that does not know an id says whose it is', async () => {
    const error = { code: 100, error_subcode: 33, message: "Unsupported get request. Object with ID '1' does not exist" };
    const runtime = answeringRuntime(() => Response.json({ error }, { status: 400 }));
    expect(failureOf(await providerBefore(key, runtime).listTemplates())).toMatchObject({
      failure: 'auth',
      message: expect.stringContaining('waba_id'),
    });
  });
});

describe('a webhook of Meta', () => {
  const signed = (body: string, secret = appSecret) => ({
    url: 'https://calls.example.com/callback',
    headers: new Headers({ 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }),
    body,
  });
  const now = 1_700_000_100_000;
  const provider = providerBefore(key, Object.assign(impatient(), { now: () => now }));
  const webhook = (statuses: unknown[], field = 'messages') =>
    JSON.stringify({ object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field, value: { statuses } }] }] });

  test('is known by the signature that was computed elsewhere', () => {
    const signature = 'sha256=5f9beeed2e1e89805bea7cbb95a08185aa38c3c39eafbadecbf2cfeafb2955d7';
    expect(hasValidMetaSignature('{"hello":"world"}', signature, 'appsecret')).toBe(true);
    for (const [body, given, secret] of [
      ['{"hello": "world"}', signature, 'appsecret'],
      ['{"hello":"world"}', signature.toUpperCase(), 'appsecret'],
      ['{"hello":"world"}', signature.slice(7), 'appsecret'],
      ['{"hello":"world"}', null, 'appsecret'],
      ['{"hello":"world"}', '', 'appsecret'],
      ['{"hello":"world"}', signature, 'other'],
      ['{"hello":"world"}', `sha256=${createHmac('sha256', 'x').update('').digest('hex')}`, ''],
    ] as const)
      expect(hasValidMetaSignature(body, given, secret)).toBe(false);
  });

  test('that is not signed, or by another, is refused', () => {
    const body = webhook([{ id: 'wamid.1', status: 'sent' }]);
    expect(provider.readCallback(signed(body, 'another'))).toEqual({ isUnsigned: true });
    expect(provider.readCallback({ ...signed(body), headers: new Headers() })).toEqual({ isUnsigned: true });
    expect(provider.readCallback({ ...signed(body), body: `${body} ` })).toEqual({ isUnsigned: true });
  });

  test('tells every status in it, with failures by their code', () => {
    const statuses = [
      { id: 'wamid.1', status: 'sent', timestamp: '1700000000', recipient_id: '1' },
      { id: 'wamid.2', status: 'delivered', timestamp: '1700000001' },
      { id: 'wamid.3', status: 'read', timestamp: '1700000002' },
      { id: 'wamid.4', status: 'played', timestamp: '1700000003' },
      {
        id: 'wamid.5',
        status: 'failed',
        timestamp: '1700000004',
        errors: [{ code: 131026, title: 'Message undeliverable', error_data: { details: 'Not on WhatsApp' } }],
      },
      { id: 'wamid.6', status: 'failed' },
      { id: 'wamid.7', status: 'warning', timestamp: '1700000004' },
      { status: 'sent' },
      null,
    ];
    expect(provider.readCallback(signed(webhook(statuses)))).toEqual({
      events: [
        { messageId: 'wamid.1', status: 'sent', at: 1_700_000_000_000 },
        { messageId: 'wamid.2', status: 'delivered', at: 1_700_000_001_000 },
        { messageId: 'wamid.3', status: 'read', at: 1_700_000_002_000 },
        { messageId: 'wamid.4', status: 'read', at: 1_700_000_003_000 },
        {
          messageId: 'wamid.5',
          status: 'failed',
          at: 1_700_000_004_000,
          failure: expect.objectContaining({ failure: 'not_on_channel', code: '131026', words: 'Message undeliverable; Not on WhatsApp' }),
        },
        { messageId: 'wamid.6', status: 'failed', at: now, failure: expect.objectContaining({ failure: 'unknown', code: null }) },
      ],
    });
  });

  test('of something else tells of no message', () => {
    for (const body of ['', '[]', '{}', '{"entry":7}', webhook([{ id: 'a', status: 'sent' }], 'message_template_status_update')])
      expect(provider.readCallback(signed(body))).toEqual({ events: [] });
  });

  test('is confirmed with the challenge to who knows the token', () => {
    const url = (query: string) => `https://calls.example.com/callback?${query}`;
    const good = 'hub.mode=subscribe&hub.verify_token=t%20o&hub.challenge=1158201444';
    expect(verifyWebhookChallenge(url(good), 't o')).toBe('1158201444');
    expect(verifyWebhookChallenge(url(good), 'other')).toBeNull();
    expect(verifyWebhookChallenge(url(good), '')).toBeNull();
    expect(verifyWebhookChallenge(url(good.replace('subscribe', 'unsubscribe')), 't o')).toBeNull();
    expect(verifyWebhookChallenge(url('hub.mode=subscribe&hub.verify_token=&hub.challenge=1'), '')).toBeNull();
  });
});
