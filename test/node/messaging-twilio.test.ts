import { describe, expect, test } from 'vitest';
import { sign } from '../../simulators/twilio/signature.ts';
import { createMessagingProvider } from '../../src/providers/messaging/registry.ts';
import { parseTwilioTemplate } from '../../src/providers/messaging/twilio/templates.ts';
import {
  accountSid,
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

const key = 'provider_d';
const to = '+919876543210';
const queued = { sid: 'SM1', status: 'queued', error_code: null };
const list = (contents: unknown[], next: string | null = null) =>
  Response.json({ contents, meta: { next_page_url: next, key: 'contents' } });
const listed = (sid: string, more: object = {}) => ({
  sid,
  friendly_name: 'a_name',
  language: 'en',
  variables: {},
  types: { 'twilio/text': { body: 'Hi' } },
  approval_requests: { name: sid.toLowerCase(), category: 'UTILITY', status: 'approved' },
  ...more,
});

describe('Twilio', () => {
  test('is asked for exactly this', async () => {
    const runtime = answeringRuntime(() => Response.json(queued, { status: 201 }));
    const message = {
      to,
      template: textTemplate(),
      params: { 2: '1001', 1: 'Sam' },
      key: 'k1',
      callbackUrl: 'https://calls.example.com/cb/token?x=1',
    };
    expect(await providerBefore(key, runtime).send(message)).toEqual({ messageId: 'SM1', status: 'queued' });
    const { method, url, headers, body } = runtime.asked[0]!;
    expect([method, url]).toEqual(['POST', `https://twilio.example.com/2010-04-01/Accounts/${accountSid}/Messages.json`]);
    expect(headers.get('authorization')).toBe(`Basic ${Buffer.from(`${accountSid}:${secret}`).toString('base64')}`);
    expect([...new URLSearchParams(body)]).toEqual([
      ['From', 'whatsapp:+15005550006'],
      ['To', 'whatsapp:+919876543210'],
      ['ContentSid', 'HX00000000000000000000000000000001'],
      ['ContentVariables', '{"1":"Sam","2":"1001"}'],
      ['StatusCallback', 'https://calls.example.com/cb/token?x=1'],
    ]);
  });

  test.each([
    ['whatsapp:+15005550006', 'From', 'whatsapp:+15005550006'],
    ['MG00000000000000000000000000000001', 'MessagingServiceSid', 'MG00000000000000000000000000000001'],
  ])('sends from %s', async (fromNumber, field, value) => {
    const { options } = await startMessaging();
    const runtime = answeringRuntime(() => Response.json(queued, { status: 201 }));
    const account = { provider: key, accountSid, authToken: 't', fromNumber } as const;
    await createMessagingProvider(account, { ...options, runtime }).send({ to, text: 'Hi', key: 'k1' });
    expect([...new URLSearchParams(runtime.asked[0]!.body)]).toEqual([
      [field, value],
      ['To', `whatsapp:${to}`],
      ['Body', 'Hi'],
    ]);
    expect(await createMessagingProvider(account, options).send({ to, text: 'Hi', key: 'k1' })).toMatchObject({ status: 'queued' });
  });

  test('does not own every number', async () => {
    const { options, providerOf } = await startMessaging();
    const template = await templateNamed(providerOf(key), 'welcome');
    const provider = createMessagingProvider({ provider: key, accountSid, authToken: 't', fromNumber: '+15005550007' }, options);
    expect(await provider.send({ to, template, params: {}, key: 'k1' })).toMatchObject({
      failure: 'auth',
      code: '63007',
      message: expect.stringContaining('from_number'),
    });
  });

  test('wants a value for every placeholder of all texts, and for every variable', () => {
    const template = parseTwilioTemplate(
      listed('HX1', {
        variables: { 10: 'sample', 2: 'x' },
        types: { 'twilio/call-to-action': { body: 'Hi {{1}}', actions: [{ type: 'URL', url: 'https://a.test/{{2}}' }] } },
      }),
    )!;
    expect(template.parameters.map(({ name }) => name)).toEqual(['1', '2', '10']);
    expect(template).toMatchObject({ name: 'hx1', otherName: 'a_name', body: 'Hi {{1}}', isNamed: false });
  });

  test('lists a content without an approval as not approved', async () => {
    const runtime = answeringRuntime(() =>
      list([listed('HX1', { approval_requests: null }), listed('HX2', { approval_requests: { status: 'paused' } }), listed('HX3')]),
    );
    expect((await templatesOf(providerBefore(key, runtime))).map(({ id }) => id)).toEqual(['HX3']);
  });

  test('is followed to its next page at its own host alone', async () => {
    const next = 'https://content.example.com/v1/ContentAndApprovals?PageSize=100&Page=1&PageToken=t';
    const pages = [list([listed('HX1')], next), list([listed('HX2')])];
    const runtime = answeringRuntime(() => pages.shift()!);
    expect((await templatesOf(providerBefore(key, runtime))).map(({ id }) => id)).toEqual(['HX1', 'HX2']);
    expect(runtime.asked.map(({ url }) => url)).toEqual(['https://content.example.com/v1/ContentAndApprovals?PageSize=100', next]);

    for (const elsewhere of ['https://evil.example.org/v1/ContentAndApprovals', 'http://content.example.com/v1/ContentAndApprovals']) {
      const misled = answeringRuntime(() => list([], elsewhere));
      expect(failureOf(await providerBefore(key, misled).listTemplates()).message).toContain('no list of templates');
      expect(misled.asked).toHaveLength(1);
    }
    const circle = answeringRuntime(() => list([], next));
    expect(failureOf(await providerBefore(key, circle).listTemplates()).message).toContain('no list of templates');
    expect(circle.asked).toHaveLength(2);
  });

  test.each([
    [401, 20003, 'auth'],
    [404, 20404, 'auth'],
    [400, 21408, 'auth'],
    [400, 21603, 'auth'],
    [400, 21606, 'auth'],
    [400, 63007, 'auth'],
    [429, 20429, 'rate_limited'],
    [400, 21211, 'not_on_channel'],
    [400, 21610, 'opted_out'],
    [400, 21655, 'template_missing'],
    [400, 21656, 'template_params'],
    [400, 21620, 'media'],
    [400, 63015, 'not_on_channel'],
    [400, 99999, 'unknown'],
  ])('answers %d with code %d: %s', async (status, code, failure) => {
    const runtime = answeringRuntime(() => Response.json({ code, message: 'The words', more_info: 'x', status }, { status }));
    const result = failureOf(
      await providerBefore(key, runtime).send({ to, template: textTemplate(), params: { 1: 'a', 2: 'b' }, key: 'k1' }),
    );
    expect(result).toMatchObject({ failure, retryable: failure === 'rate_limited' });
    if (status !== 429) expect(result).toMatchObject({ code: String(code), words: 'The words' });
  });
});

describe('a status callback of Twilio', () => {
  const now = 1_700_000_100_000;
  const url = 'https://calls.example.com/api/v1/organizations/messaging-config/callbacks/provider_d/token';
  const provider = providerBefore(key, Object.assign(impatient(), { now: () => now }));
  const read = (fields: Record<string, string | undefined>, { token = secret, at = url } = {}) => {
    const form = new URLSearchParams(Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined));
    const headers = new Headers({
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'x-twilio-signature': sign(token, url, form),
    });
    return provider.readCallback({ url: at, headers, body: form.toString() });
  };
  const callback = {
    MessageSid: 'SM1',
    SmsSid: 'SM1',
    To: `whatsapp:${to}`,
    From: 'whatsapp:+15005550006',
    AccountSid: accountSid,
    ApiVersion: '2010-04-01',
  };

  test('that is not signed, or for another address or by another, is refused', () => {
    const sent = { ...callback, MessageStatus: 'sent' };
    expect(read(sent, { token: 'another' })).toEqual({ isUnsigned: true });
    expect(read(sent, { at: `${url}2` })).toEqual({ isUnsigned: true });
    const body = new URLSearchParams(sent).toString();
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(provider.readCallback({ url, headers: new Headers(form), body })).toEqual({ isUnsigned: true });
    expect(provider.readCallback({ url, headers: new Headers({ 'x-twilio-signature': 'x' }), body: '' })).toEqual({ isUnsigned: true });
  });

  test.each([
    ['accepted', 'accepted'],
    ['queued', 'accepted'],
    ['sending', 'accepted'],
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'read'],
  ])('of %s tells that it is %s', (word, status) => {
    expect(read({ ...callback, MessageStatus: word })).toEqual({ events: [{ messageId: 'SM1', status, at: now }] });
  });

  test.each([
    ['63003', 'not_on_channel'],
    ['63014', 'opted_out'],
    ['63016', 'window_closed'],
    ['63018', 'rate_limited'],
    ['63024', 'not_on_channel'],
    ['63027', 'template_missing'],
    ['63028', 'template_params'],
    ['63032', 'not_on_channel'],
    ['63012', 'provider_down'],
    ['63041', 'template_paused'],
    ['63013', 'unknown'],
    [undefined, 'unknown'],
  ])('of a failure with code %s is of the class %s', (ErrorCode, failure) => {
    for (const MessageStatus of ['failed', 'undelivered'])
      expect(read({ ...callback, MessageStatus, ...(ErrorCode && { ErrorCode, ErrorMessage: 'The words' }) })).toEqual({
        events: [
          {
            messageId: 'SM1',
            status: 'failed',
            at: now,
            failure: expect.objectContaining({ failure, code: ErrorCode ?? null, words: ErrorCode ? 'The words' : null }),
          },
        ],
      });
  });

  test('of something else tells of no message', () => {
    for (const fields of [{}, callback, { ...callback, MessageStatus: 'received' }, { MessageStatus: 'sent' }])
      expect(read(fields)).toEqual({ events: [] });
  });
});
