import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { serviceWith } from '../http/service.ts';
import { Client, newOrganization } from '../support/organization.ts';
import { canary, configPath, newCredentials, providerKeys } from './accounts.ts';

const save = (client: Client, messagingApp: object) => client.post(configPath, { messaging_app: messagingApp });
const nothing = { provider: '', provider_a: null, provider_b: null, provider_c: null, provider_d: null };

describe('a messaging configuration', () => {
  test('is there before anything is configured: no provider, every block null, and where each would call back', async () => {
    const { client, id } = await newOrganization();
    const { status, body } = await client.get(configPath);
    expect(status).toBe(200);
    expect(body.messaging_app).toEqual(nothing);
    for (const provider of providerKeys)
      expect(body.callback_urls[provider]).toMatch(
        new RegExp(`^https://service\\.test/api/v1${configPath}/callbacks/${provider}/${id}-[0-9a-f]{64}$`),
      );
    expect(new Set(Object.values<string>(body.callback_urls).map((url) => url.split('/').at(-1))).size).toBe(4);
  });

  test('is stored sealed and shown masked, for each provider', async () => {
    const { client, id } = await newOrganization();
    const credentials = newCredentials();
    for (const provider of providerKeys) {
      const { status, body } = await save(client, { provider, [provider]: credentials[provider] });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.messaging_app.provider).toBe(provider);
      expect(JSON.stringify(body)).not.toContain(canary);
    }
    const { body } = await client.get(configPath);
    const masked = (secret: string) => `****${secret.slice(-4)}`;
    expect(body.messaging_app).toEqual({
      provider: 'provider_d',
      provider_a: { ...credentials.provider_a, api_token: masked(credentials.provider_a.api_token) },
      provider_b: {
        ...credentials.provider_b,
        access_token: masked(credentials.provider_b.access_token),
        app_secret: masked(credentials.provider_b.app_secret),
      },
      provider_c: { ...credentials.provider_c, api_key: masked(credentials.provider_c.api_key), app_id: null },
      provider_d: {
        ...credentials.provider_d,
        auth_token: masked(credentials.provider_d.auth_token),
        use_telephony_credentials: false,
        content_sid: null,
      },
    });
    const stored = await env.DB.prepare('SELECT * FROM messaging_config WHERE organization_id = ?').bind(id).first<any>();
    expect(JSON.stringify(stored)).not.toContain(canary);
    expect(JSON.parse(stored.credentials).provider_a.api_token).toMatch(/^sealed:v1:/);
  });

  test('is the same after its own answer is sent back, and after nothing is sent', async () => {
    const { client, id } = await newOrganization();
    const credentials = newCredentials();
    await save(client, { provider: 'provider_b', ...credentials });
    const before = (await client.get(configPath)).body;
    const sealed = async () =>
      (await env.DB.prepare('SELECT credentials FROM messaging_config WHERE organization_id = ?').bind(id).first<any>()).credentials;
    const stored = await sealed();
    for (const body of [{}, { messaging_app: {} }, before]) {
      const answer = await client.post(configPath, body);
      expect(answer, JSON.stringify(body)).toMatchObject({ status: 200, body: before });
      expect(await sealed()).toBe(stored);
    }
  });

  test('keeps what a change does not name: other providers, other fields, masked secrets', async () => {
    const { client } = await newOrganization();
    const credentials = newCredentials();
    await save(client, { provider: 'provider_c', ...credentials });
    const before = (await client.get(configPath)).body.messaging_app;
    const { body } = await save(client, { provider_c: { app_name: 'Other', api_key: before.provider_c.api_key } });
    expect(body.messaging_app).toEqual({ ...before, provider_c: { ...before.provider_c, app_name: 'Other' } });
    const renewed = await save(client, { provider_c: { api_key: 'another-key-9876' } });
    expect(renewed.body.messaging_app.provider_c).toEqual({ ...before.provider_c, app_name: 'Other', api_key: '****9876' });
  });

  test('loses a value or a provider to null, and the selection with the selected one', async () => {
    const { client } = await newOrganization();
    const credentials = newCredentials();
    await save(client, { provider: 'provider_d', ...credentials, provider_d: { ...credentials.provider_d, content_sid: 'HX1' } });
    expect((await save(client, { provider_d: { content_sid: null } })).body.messaging_app.provider_d.content_sid).toBeNull();
    expect((await save(client, { provider_a: null })).body.messaging_app).toMatchObject({ provider: 'provider_d', provider_a: null });
    expect((await save(client, { provider_d: null })).body.messaging_app).toMatchObject({ provider: '', provider_d: null });
    expect((await save(client, { provider: 'provider_b' })).body.messaging_app.provider).toBe('provider_b');
    for (const none of ['', null]) {
      await save(client, { provider: 'provider_b' });
      expect((await save(client, { provider: none })).body.messaging_app).toMatchObject({ provider: '', provider_b: expect.any(Object) });
    }
  });

  test('of WATI keeps its token for its own address: with another host it must be given again, also when it is left out', async () => {
    const { client } = await newOrganization();
    const { provider_a: wati } = newCredentials();
    const { body } = await save(client, { provider_a: wati });
    const { api_token: masked } = body.messaging_app.provider_a;
    const elsewhere = 'https://thief.example.com/12345';
    for (const block of [{ api_endpoint: elsewhere, api_token: masked }, { api_endpoint: elsewhere }]) {
      const refused = await save(client, { provider_a: block });
      expect(refused.status).toBe(422);
      expect(refused.body.detail).toMatchObject([{ loc: ['body', 'messaging_app', 'provider_a', 'api_token'], type: 'mask' }]);
    }
    const { api_endpoint } = wati;
    const samePlace = await save(client, { provider_a: { api_endpoint: `${new URL(api_endpoint).origin}/67890`, api_token: masked } });
    expect(samePlace.body.messaging_app.provider_a.api_token).toBe(masked);
    expect((await save(client, { provider_a: { api_endpoint: elsewhere, api_token: 'another-token-9876' } })).status).toBe(200);
  });

  test('takes values as people paste them', async () => {
    const { client } = await newOrganization();
    const { provider_a: wati, provider_d: twilio } = newCredentials();
    const { body } = await save(client, {
      provider_a: { api_endpoint: ` ${wati.api_endpoint}\n`, api_token: `Bearer ${wati.api_token} ` },
      provider_d: { ...twilio, from_number: 'whatsapp:+1 (500) 555-0006' },
    });
    expect(body.messaging_app.provider_a).toEqual({ ...wati, api_token: `****${wati.api_token.slice(-4)}` });
    expect(body.messaging_app.provider_d.from_number).toBe('+15005550006');
    const service = `MG${'a'.repeat(32)}`;
    expect((await save(client, { provider_d: { from_number: service } })).body.messaging_app.provider_d.from_number).toBe(service);
  });

  test("of Twilio needs no account of its own where the telephony configuration's is to be used", async () => {
    const { client } = await newOrganization();
    const block = { from_number: '+15005550006', use_telephony_credentials: true };
    const { status, body } = await save(client, { provider: 'provider_d', provider_d: block });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.messaging_app.provider_d).toEqual({ ...block, account_sid: null, auth_token: null, content_sid: null });
    const without = await save(client, { provider_d: { use_telephony_credentials: false } });
    expect(without.status).toBe(422);
    expect(without.body.detail.map(({ loc }: any) => loc.at(-1))).toEqual(['account_sid', 'auth_token']);
  });

  test('has providers call back under PUBLIC_URL where that is set', async () => {
    const { key } = await newOrganization();
    const behindProxy = new Client(key, serviceWith({ PUBLIC_URL: 'https://calls.example.com/' }));
    const { body } = await save(behindProxy, { provider_b: newCredentials().provider_b });
    expect(body.callback_urls.provider_b).toMatch(/^https:\/\/calls\.example\.com\/api\/v1\/organizations\//);
  });

  test('changed by many at once has every change', async () => {
    const { client } = await newOrganization();
    const credentials = newCredentials();
    const answers = await Promise.all(providerKeys.map((provider) => save(client, { [provider]: credentials[provider] })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { messaging_app: app } = (await client.get(configPath)).body;
    for (const provider of providerKeys) expect(app[provider], provider).not.toBeNull();
  });
});

describe('what is no messaging configuration', () => {
  const good = newCredentials();
  const secretless = { ...good.provider_c, api_key: undefined };
  test.each([
    ['a provider without credentials', { provider: 'provider_a' }, ['provider_a'], /no credentials yet/],
    ['a provider whose credentials go at once', { provider: 'provider_a', provider_a: null }, ['provider_a'], /no credentials yet/],
    ['WATI without address', { provider_a: { api_token: 't' } }, ['provider_a', 'api_endpoint'], /missing/],
    ['WATI without token', { provider_a: { ...good.provider_a, api_token: ' ' } }, ['provider_a', 'api_token'], /missing/],
    ['WATI at no address', { provider_a: { ...good.provider_a, api_endpoint: 'live' } }, ['provider_a', 'api_endpoint'], /not a URL/],
    [
      'WATI at a private address',
      { provider_a: { ...good.provider_a, api_endpoint: 'http://169.254.169.254/' } },
      ['provider_a', 'api_endpoint'],
      /may not be called/i,
    ],
    ['Meta without number', { provider_b: { ...good.provider_b, phone_number_id: null } }, ['provider_b', 'phone_number_id'], /missing/],
    [
      'Meta with the number itself',
      { provider_b: { ...good.provider_b, phone_number_id: '+1500' } },
      ['provider_b', 'phone_number_id'],
      /not the phone/,
    ],
    ['Meta without token', { provider_b: { ...good.provider_b, access_token: null } }, ['provider_b', 'access_token'], /missing/],
    ['Meta without account', { provider_b: { ...good.provider_b, waba_id: '' } }, ['provider_b', 'waba_id'], /missing/],
    ['Gupshup without key', { provider_c: secretless }, ['provider_c', 'api_key'], /missing/],
    ['Gupshup without source', { provider_c: { ...good.provider_c, source: null } }, ['provider_c', 'source'], /missing/],
    ['Gupshup with a name as source', { provider_c: { ...good.provider_c, source: 'Shop' } }, ['provider_c', 'source'], /country code/],
    ['Gupshup without app', { provider_c: { ...good.provider_c, app_name: null } }, ['provider_c', 'app_name'], /missing/],
    ['Twilio without account', { provider_d: { ...good.provider_d, account_sid: null } }, ['provider_d', 'account_sid'], /missing/],
    ['Twilio with an API key', { provider_d: { ...good.provider_d, account_sid: 'SK1' } }, ['provider_d', 'account_sid'], /Account SID/],
    ['Twilio without token', { provider_d: { ...good.provider_d, auth_token: null } }, ['provider_d', 'auth_token'], /missing/],
    ['Twilio without sender', { provider_d: { ...good.provider_d, from_number: null } }, ['provider_d', 'from_number'], /missing/],
    ['Twilio with no sender', { provider_d: { ...good.provider_d, from_number: 'Shop' } }, ['provider_d', 'from_number'], /MG/],
    ['Twilio with no content', { provider_d: { ...good.provider_d, content_sid: 'order_update' } }, ['provider_d', 'content_sid'], /HX/],
    ['a mask of nothing', { provider_c: { ...good.provider_c, api_key: '****1234' } }, ['provider_c', 'api_key'], /mask/],
    ['a token with a space', { provider_a: { ...good.provider_a, api_token: 'two words' } }, ['provider_a', 'api_token'], /character/],
    ['a misspelt field', { provider_a: { ...good.provider_a, api_tokn: 'x' } }, ['provider_a', 'api_tokn'], /api_tokn/],
    [
      'a flag that is text',
      { provider_d: { ...good.provider_d, use_telephony_credentials: 'yes' } },
      ['provider_d', 'use_telephony_credentials'],
      /true or false/,
    ],
    ['a block that is text', { provider_a: 'wati' }, ['provider_a'], /object/i],
    ['a provider that is a number', { provider: 1 }, ['provider'], /text/],
  ])('%s is a 422 that names it', async (_name, messagingApp, place, words) => {
    const { client } = await newOrganization();
    const { status, body } = await save(client, messagingApp);
    expect(status, JSON.stringify(body)).toBe(422);
    const issue = body.detail.find(({ loc }: any) => loc.join('.') === ['body', 'messaging_app', ...place].join('.'));
    expect(issue?.msg, JSON.stringify(body.detail)).toMatch(words);
    expect(JSON.stringify(body)).not.toContain(canary);
    expect((await client.get(configPath)).body.messaging_app).toEqual(nothing);
  });

  test('an unknown provider is a 400 that names those there are, selected or as a block', async () => {
    const { client } = await newOrganization();
    for (const wanted of [{ provider: 'provider_z' }, { provider_z: { api_key: 'x' } }])
      expect(await save(client, wanted)).toMatchObject({
        status: 400,
        body: { detail: 'Unknown provider "provider_z"; there are provider_a, provider_b, provider_c, provider_d' },
      });
  });

  test('every missing field is reported at once', async () => {
    const { client } = await newOrganization();
    const { body } = await save(client, { provider_b: {}, provider_c: {} });
    expect(body.detail.map(({ loc }: any) => loc.slice(2).join('.'))).toEqual([
      'provider_b.phone_number_id',
      'provider_b.access_token',
      'provider_b.waba_id',
      'provider_c.api_key',
      'provider_c.source',
      'provider_c.app_name',
    ]);
  });
});

test('another organization, a key that may only read, and nobody at all get nothing of it', async () => {
  const { client } = await newOrganization();
  await save(client, { provider: 'provider_b', provider_b: newCredentials().provider_b });
  const other = await newOrganization();
  expect((await other.client.get(configPath)).body.messaging_app).toEqual(nothing);
  const reader = (await newOrganization({ scopes: ['read'] })).client;
  expect((await reader.get(configPath)).status).toBe(200);
  expect((await save(reader, { provider: '' })).status).toBe(403);
  expect((await reader.post(`${configPath}/test`, { to: '+14155550123' })).status).toBe(403);
  const nobody = new Client(undefined);
  for (const path of [configPath, `${configPath}/messaging-app-templates`, '/organizations/messages'])
    expect((await nobody.get(path)).status, path).toBe(401);
});

test('the addresses with secret tokens are shown to admins alone, and the rest to whoever may read', async () => {
  const admin = await newOrganization();
  const shown = (await admin.client.get('/organizations/messaging-config')).body;
  expect(Object.keys(shown.callback_urls)).toHaveLength(4);
  for (const scopes of [['read'], ['write'], ['read', 'write']] as const) {
    const { key } = await otherKey(admin, [...scopes]);
    const read = await new Client(key).get('/organizations/messaging-config');
    expect(read).toMatchObject({ status: 200, body: { ...shown, callback_urls: null } });
    if (!(scopes as readonly string[]).includes('write')) continue;
    expect((await new Client(key).post('/organizations/messaging-config', {})).body).toEqual({ ...shown, callback_urls: null });
  }
});

/** Another key of the organization. */
async function otherKey({ client }: { client: Client }, scopes: string[]): Promise<{ key: string }> {
  return { key: (await client.post('/user/api-keys', { name: 'Other', scopes })).body.api_key };
}
