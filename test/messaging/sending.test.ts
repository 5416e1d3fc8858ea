import { env } from 'cloudflare:workers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newOrganization, newPhone } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';
import * as accounts from './accounts.ts';

afterEach(() => vi.restoreAllMocks());

const { canary, configPath, logOf, messagingOrganization, newCredentials, providerKeys, simulators, takenFor, testMessage } = accounts;
const testPath = `${configPath}/test`;
const templatesPath = `${configPath}/messaging-app-templates`;

/** A number with these last four digits, which tell the simulators what is to become of it. */
const numberEnding = (ending: string) => `${newPhone().slice(0, -4)}${ending}`;

describe.each(providerKeys)('%s', (provider) => {
  test('lists the approved templates alone, with what they want to be filled with', async () => {
    const { client } = await messagingOrganization(provider);
    const { status, body } = await client.get(templatesPath);
    expect(status, JSON.stringify(body)).toBe(200);
    const names = body.templates.map(({ name }: any) => name);
    expect(names).toEqual(expect.arrayContaining(['order_update', 'welcome']));
    expect(names).not.toContain('old_promo');
    const order = body.templates.find(({ name, language }: any) => name === 'order_update' && language === 'en');
    expect(order).toEqual({
      id: expect.any(String),
      name: 'order_update',
      language: 'en',
      category: expect.any(String),
      status: expect.stringMatching(/approved/i),
      body: expect.stringContaining('your order'),
      placeholders: 2,
      parameters: [expect.any(String), expect.any(String)],
      unfillable: [],
      components: expect.any(Array),
    });
  });

  test('takes a test message, which the log then shows', async () => {
    const { client } = await messagingOrganization(provider);
    const to = newPhone();
    const { status, body } = await client.post(testPath, testMessage(to));
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        provider,
        channel: 'messaging_app',
        message_id: expect.stringMatching(/./),
        status: expect.stringMatching(/^(accepted|submitted|queued)$/),
        error: null,
      },
    });
    expect(await takenFor(provider, to)).toMatchObject([{ id: body.message_id, template: 'order_update', params: ['Ada', '1001'] }]);
    expect(await logOf(client)).toEqual([
      {
        id: expect.any(Number),
        to,
        provider,
        kind: 'template',
        template_name: 'order_update',
        language: 'en',
        status: body.status,
        error: null,
        failure_class: null,
        failure_code: null,
        message_id: body.message_id,
        contact_id: null,
        automation_run_id: null,
        history: [
          { status: 'sending', at: expect.any(String) },
          { status: body.status, at: expect.any(String) },
        ],
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
  });

  test('takes a text', async () => {
    const { client } = await messagingOrganization(provider);
    const to = newPhone();
    expect((await client.post(testPath, { to, kind: 'text', text: 'Hello' })).body).toMatchObject({ success: true });
    expect(await takenFor(provider, to)).toMatchObject([{ kind: 'text', text: 'Hello' }]);
    expect((await logOf(client))[0]).toMatchObject({ kind: 'text', template_name: null });
  });

  test('fails before sending where template, language or parameters are wrong, and says what would do', async () => {
    const { client } = await messagingOrganization(provider);
    const to = newPhone();
    const errorOf = async (more: object) => {
      const { status, body } = await client.post(testPath, testMessage(to, more));
      expect({ status, body }).toMatchObject({ status: 200, body: { success: false, provider, status: 'failed', message_id: '' } });
      return [body.error, (await logOf(client))[0].failure_class];
    };
    expect(await errorOf({ template_params: { 1: 'Ada' } })).toEqual([
      expect.stringMatching(/^template_params lacks "/),
      'template_params',
    ]);
    expect(await errorOf({ template_params: { 1: 'Ada', 2: 'two\nlines' } })).toEqual([
      expect.stringContaining('line break'),
      'template_params',
    ]);
    expect(await errorOf({ template_name: 'no_such_template' })).toEqual([expect.stringContaining('no_such_template'), 'template_missing']);
    expect(await errorOf({ template_name: 'old_promo', template_params: {} })).toEqual([expect.any(String), 'template_missing']);
    expect(await errorOf({ language: 'de' })).toEqual([expect.stringMatching(/not approved in "de"; it is in en/), 'template_missing']);
    expect(await takenFor(provider, to)).toEqual([]);
  });

  test('that limits the rate leads to a failure that says so', async () => {
    const { client } = await messagingOrganization(provider);
    const { body } = await client.post(testPath, testMessage(numberEnding('0013')));
    expect(body).toMatchObject({ success: false, status: 'failed' });
    expect((await logOf(client))[0]).toMatchObject({ status: 'failed', failure_class: 'rate_limited', message_id: null });
  });

  test('that does not accept the credentials is named in the answer, without them', async () => {
    const { client } = await newOrganization();
    const credentials = JSON.parse(JSON.stringify(newCredentials()).replaceAll(canary, `${canary}-invalid`))[provider];
    await client.post(configPath, { messaging_app: { provider, [provider]: credentials } });
    const { status, body } = await client.post(testPath, testMessage(newPhone()));
    expect({ status, body }).toMatchObject({ status: 200, body: { success: false } });
    expect((await logOf(client))[0].failure_class).toBe('auth');
    const templates = await client.get(templatesPath);
    expect(templates.status).toBe(502);
    expect(JSON.stringify([body, templates.body])).not.toContain(canary);
  });
});

test('with nothing configured templates are a 409 and a test message is success false, with what to do', async () => {
  const { client } = await newOrganization();
  expect(await client.get(templatesPath)).toMatchObject({
    status: 409,
    body: { detail: expect.stringMatching(/^messaging_not_configured: .*messaging-config/) },
  });
  expect((await client.post(testPath, testMessage(newPhone()))).body).toEqual({
    success: false,
    provider: '',
    channel: 'messaging_app',
    message_id: '',
    status: 'failed',
    error: expect.stringContaining('messaging_not_configured'),
  });
  expect((await logOf(client))[0]).toMatchObject({ status: 'failed', failure_class: 'not_configured' });
});

test('a test message that cannot be meant is a 422', async () => {
  const { client } = await messagingOrganization();
  const placeOf = async (body: object) => {
    const answer = await client.post(testPath, body);
    expect(answer.status).toBe(422);
    return answer.body.detail[0].loc;
  };
  expect(await placeOf({ template_name: 'welcome' })).toEqual(['body', 'to']);
  expect(await placeOf(testMessage('n/a'))).toEqual(['body', 'to']);
  expect(await placeOf(testMessage(newPhone(), { kind: 'image' }))).toEqual(['body', 'kind']);
  expect(await placeOf(testMessage(newPhone(), { template_params: { 1: ['Ada'] } }))).toEqual(['body', 'template_params', '1']);
  expect(await placeOf({ to: newPhone(), kind: 'text' })).toEqual(['body', 'text']);
  expect(await logOf(client)).toEqual([]);
});

test('a test message goes to any usual spelling of a number, and to one that is suppressed otherwise', async () => {
  const { client } = await messagingOrganization();
  const to = newPhone();
  await client.post('/contacts/suppressions', { phone: to });
  const spelt = `${to.slice(2, 5)}-${to.slice(5, 8)}.${to.slice(8)}`;
  expect((await client.post(testPath, testMessage(spelt))).body.success).toBe(true);
  expect(await takenFor('provider_b', to)).toHaveLength(1);
});

test('a masked secret that is sent back goes on working, and a changed one at once', async () => {
  const { client } = await messagingOrganization('provider_b');
  const { provider_b: shown } = (await client.get(configPath)).body.messaging_app;
  await client.post(configPath, { messaging_app: { provider_b: shown } });
  expect((await client.post(testPath, testMessage(newPhone()))).body.success).toBe(true);
  await client.post(configPath, { messaging_app: { provider_b: { access_token: 'invalid-token-from-elsewhere' } } });
  expect((await client.post(testPath, testMessage(newPhone()))).body.success).toBe(false);
});

test('Twilio sends with the current account of the telephony configuration where the messaging configuration says so', async () => {
  const { client } = await newOrganization();
  const { provider_d: own } = newCredentials();
  const block = { from_number: own.from_number, use_telephony_credentials: true };
  await client.post(configPath, { messaging_app: { provider: 'provider_d', provider_d: block } });
  const to = newPhone();
  expect((await client.post(testPath, testMessage(to))).body.error).toMatch(/use_telephony_credentials is true.*telephony-configs/);
  const twilio = { account_sid: own.account_sid, auth_token: own.auth_token };
  const config = await client.post('/organizations/telephony-configs', {
    name: 'Line',
    provider: 'twilio',
    twilio,
    from_numbers: [newPhone()],
  });
  expect((await client.post(testPath, testMessage(to))).body).toMatchObject({ success: true });
  expect(await takenFor('provider_d', to)).toMatchObject([{ account: own.account_sid }]);
  const changed = { auth_token: 'invalid-and-changed' };
  await client.patch(`/organizations/telephony-configs/${config.body.id}`, { twilio: changed });
  expect((await client.post(testPath, testMessage(newPhone()))).body).toMatchObject({ success: false });
});

test('Twilio sends its default template where none is named', async () => {
  const { client } = await messagingOrganization('provider_d');
  const { templates } = (await client.get(templatesPath)).body;
  const { id } = templates.find(({ name }: any) => name === 'welcome');
  await client.post(configPath, { messaging_app: { provider_d: { content_sid: id } } });
  const to = newPhone();
  expect((await client.post(testPath, { to })).body.success).toBe(true);
  expect(await takenFor('provider_d', to)).toMatchObject([{ template: 'welcome' }]);
});

test('a template that was approved after the list was read is found', async () => {
  const { client, credentials } = await messagingOrganization('provider_a');
  expect((await client.post(testPath, testMessage(newPhone()))).body.success).toBe(true);
  const account = credentials.provider_a.api_endpoint.split('/').at(-1);
  const added = { account, templates: [{ name: 'fresh', body: 'Fresh bread!' }] };
  await fetch(`${simulators}/wati/__sim/templates`, { method: 'POST', body: JSON.stringify(added) });
  expect((await client.post(testPath, { to: newPhone(), template_name: 'fresh' })).body).toMatchObject({ success: true });
});

test('a request that comes again under its Idempotency-Key sends one message, also when the first died before its answer was kept', async () => {
  const { client, id } = await messagingOrganization();
  const to = newPhone();
  const send = () => client.post(testPath, testMessage(to), { 'Idempotency-Key': 'once' });
  const first = await send();
  expect((await send()).headers.get('Idempotency-Replayed')).toBe('true');
  await env.DB.prepare('DELETE FROM idempotency_key WHERE organization_id = ?').bind(id).run();
  const repeated = await send();
  expect(repeated.headers.get('Idempotency-Replayed')).toBeNull();
  expect(repeated.body).toEqual(first.body);
  expect(await takenFor('provider_b', to)).toHaveLength(1);
  await client.post(testPath, testMessage(to), { 'Idempotency-Key': 'twice' });
  expect(await takenFor('provider_b', to)).toHaveLength(2);
});

test.each([
  ['no answer', () => Promise.reject(new TypeError('connection lost'))],
  ['a 500', () => new Response('oops', { status: 500 })],
  ['an answer that names no message', () => Response.json({ messages: [] })],
] as const)('after %s nobody can say whether the message was sent: it is unknown, and asked for once', async (_name, answer) => {
  const { client, credentials } = await messagingOrganization();
  await client.post(testPath, testMessage(newPhone()));
  const asked = stubFetch(`${simulators}/meta/v25.0/${credentials.provider_b.phone_number_id}/messages`, answer);
  const { status, body } = await client.post(testPath, testMessage(newPhone()));
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { success: false, status: 'unknown', error: expect.stringContaining('not sent again') },
  });
  expect(asked).toHaveLength(1);
  expect((await logOf(client))[0]).toMatchObject({ status: 'unknown', message_id: null, error: body.error });
});

test('a provider that is out of order when templates are listed is a 502 with Retry-After', async () => {
  const { client, credentials } = await messagingOrganization();
  stubFetch(
    `${simulators}/meta/v25.0/${credentials.provider_b.waba_id}`,
    () => new Response('busy', { status: 429, headers: { 'Retry-After': '60' } }),
  );
  const answer = await client.get(templatesPath);
  expect(answer.status).toBe(502);
  expect(answer.headers.get('Retry-After')).toBe('60');
});
