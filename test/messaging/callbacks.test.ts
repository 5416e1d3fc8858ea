import { createHmac } from 'node:crypto';
import { exports } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { rankOf } from '../../src/messaging/messages/status.ts';
import { linesLoggedBy, serviceWith } from '../http/service.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';
import { explainQueryPlans, recordedClient } from '../support/recorded-database.ts';
import {
  canary,
  configPath,
  logOf,
  messageIn,
  messagingOrganization,
  newCredentials,
  providerKeys,
  simulators,
  testMessage,
} from './accounts.ts';

afterEach(() => vi.restoreAllMocks());

interface Callback {
  id: string;
  method: string;
  url: string;
  body: string;
  headers: Record<string, string>;
}

const vendorOf = { provider_a: 'wati', provider_b: 'meta', provider_c: 'gupshup', provider_d: 'twilio' };

/** What the simulated provider of an account holds until somebody fetches it. */
async function due(vendor: string, account: string): Promise<Callback[]> {
  const answer = await fetch(`${simulators}/${vendor}/__sim/due?wait_ms=5000&account=${account}`);
  return ((await answer.json()) as { due: Callback[] }).due;
}

const post = async (url: string, body: string, headers: Record<string, string> = {}) => {
  const answer = await exports.default.fetch(new Request(url, { method: 'POST', headers, body }));
  return { status: answer.status, body: (await answer.json()) as any };
};
const deliver = ({ url, body, headers }: Callback) => post(url, body, headers);

const send = async (client: Client, to = newPhone()): Promise<string> =>
  (await client.post(`${configPath}/test`, testMessage(to))).body.message_id;

const accountOf = (credentials: ReturnType<typeof newCredentials>) => ({
  provider_a: credentials.provider_a.api_endpoint.split('/').at(-1)!,
  provider_b: credentials.provider_b.phone_number_id,
  provider_c: credentials.provider_c.app_name,
  provider_d: credentials.provider_d.account_sid,
});

describe.each(providerKeys)('what %s tells of a message', (provider) => {
  test('moves it on to delivered, whatever comes twice and in whichever order', async () => {
    const { client, credentials, callbackUrl } = await messagingOrganization(provider);
    const vendor = vendorOf[provider];
    const account = accountOf(credentials)[provider];
    const registration = { url: callbackUrl, account, ...(provider === 'provider_b' && { app_secret: credentials.provider_b.app_secret }) };
    // Each message to Twilio has the address of the callback.
    if (provider !== 'provider_d')
      await fetch(`${simulators}/${vendor}/__sim/webhook`, { method: 'POST', body: JSON.stringify(registration) });
    await send(client);
    const callbacks: Callback[] = [];
    while (callbacks.filter(({ body }) => /delivered/i.test(body)).length === 0) callbacks.push(...(await due(vendor, account)));
    for (const callback of [...callbacks, ...callbacks].toReversed()) {
      expect(callback.url).toBe(callbackUrl);
      expect((await deliver(callback)).status).toBe(200);
    }
    const [message] = await logOf(client);
    expect(message).toMatchObject({ status: 'delivered', error: null });
    // It was delivered before any other report.
    expect(message.history.map(({ status }: any) => status).slice(2)).toEqual(['delivered']);
  });

  test('and why it failed stands in the log, with the class and the code', async () => {
    const { client, credentials, callbackUrl } = await messagingOrganization(provider);
    const vendor = vendorOf[provider];
    const account = accountOf(credentials)[provider];
    if (provider !== 'provider_d')
      await fetch(`${simulators}/${vendor}/__sim/webhook`, { method: 'POST', body: JSON.stringify({ url: callbackUrl, account }) });
    if (provider === 'provider_b') await client.post(configPath, { messaging_app: { provider_b: { app_secret: null } } });
    const { body } = await client.post(`${configPath}/test`, testMessage(`${newPhone().slice(0, -4)}0014`));
    if (body.success)
      while ((await logOf(client, '?status=failed')).length === 0) for (const one of await due(vendor, account)) await deliver(one);
    expect((await logOf(client))[0]).toMatchObject({
      status: 'failed',
      failure_class: 'opted_out',
      failure_code: expect.any(String),
      error: expect.stringContaining('does not want these messages'),
    });
  });
});

/** A webhook of Meta that tells of statuses. */
const metaBody = (statuses: { id: string; status: string; timestamp?: string; errors?: object[] }[]) =>
  JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value: { messaging_product: 'whatsapp', statuses } }] }],
  });
const metaHeaders = (body: string, secret: string) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

async function metaOrganization() {
  const made = await messagingOrganization('provider_b');
  const { app_secret: secret } = made.credentials.provider_b;
  const tell = (...statuses: Parameters<typeof metaBody>[0]) => {
    const body = metaBody(statuses);
    return post(made.callbackUrl, body, metaHeaders(body, secret));
  };
  return { ...made, secret, tell };
}

test('a status never goes back: in whatever order reports come, the message ends with the status of the highest rank', async () => {
  const { client, tell } = await metaOrganization();
  const statuses = ['sent', 'failed', 'delivered', 'read'];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...statuses), { minLength: 1, maxLength: 6 }), async (reported) => {
      const id = await send(client);
      for (const status of reported) await tell({ id, status });
      const [message] = await logOf(client);
      const ranks = message.history.map(({ status }: any) => rankOf(status));
      expect(message.status).toBe(reported.toSorted((one, other) => rankOf(other) - rankOf(one))[0]);
      expect(ranks).toEqual([...new Set(ranks)].toSorted((one, other) => Number(one) - Number(other)));
      expect(message.error === null).toBe(message.status !== 'failed');
    }),
    { numRuns: 12 },
  );
});

test('many messages in one request each get theirs, those of strangers are passed over', async () => {
  const { client, tell } = await metaOrganization();
  const ids = [await send(client), await send(client), await send(client)];
  const answer = await tell(
    { id: ids[1]!, status: 'read' },
    { id: 'wamid.of-nobody', status: 'sent' },
    { id: ids[0]!, status: 'sent', timestamp: '1700000000' },
    { id: ids[1]!, status: 'sent' },
  );
  expect(answer).toEqual({ status: 200, body: { status: 'ok' } });
  const messages = await logOf(client);
  expect(messages.map(({ status }) => status)).toEqual(['accepted', 'read', 'sent']);
  expect(messages[1].history.map(({ status }: any) => status)).toEqual(['sending', 'accepted', 'sent', 'read']);
  expect(messages[2].history[2]).toEqual({ status: 'sent', at: '2023-11-14T22:13:20.000Z' });
});

test('a repeat writes nothing', async () => {
  const { client, tell } = await metaOrganization();
  const id = await send(client);
  await tell({ id, status: 'sent' });
  const [before] = await logOf(client);
  expect(await tell({ id, status: 'sent' })).toEqual({ status: 200, body: { status: 'ok' } });
  expect((await logOf(client))[0]).toEqual(before);
});

test('what is not signed by the app, or by another one, is a 401 and changes nothing', async () => {
  const { client, callbackUrl } = await metaOrganization();
  const id = await send(client);
  const body = metaBody([{ id, status: 'read' }]);
  for (const headers of [{}, { 'x-hub-signature-256': 'sha256=00' }, metaHeaders(body, 'another'), metaHeaders(`${body} `, 'appsecret')])
    expect((await post(callbackUrl, body, headers as Record<string, string>)).status).toBe(401);
  expect((await logOf(client))[0].status).toBe('accepted');
});

test('the signature that Meta itself documents opens the address, over the bytes as they came', async () => {
  const { client, callbackUrl } = await messagingOrganization('provider_b');
  await client.post(configPath, { messaging_app: { provider_b: { app_secret: 'appsecret' } } });
  const signature = { 'x-hub-signature-256': 'sha256=5f9beeed2e1e89805bea7cbb95a08185aa38c3c39eafbadecbf2cfeafb2955d7' };
  expect(await post(callbackUrl, '{"hello":"world"}', signature)).toEqual({ status: 200, body: { status: 'ignored' } });
  expect((await post(callbackUrl, '{"hello": "world"}', signature)).status).toBe(401);
});

test('Twilio is known by its signature over the address and the form, and with the token of the account that sends', async () => {
  const { client, credentials, callbackUrl } = await messagingOrganization('provider_d');
  const id = await send(client);
  const form = { AccountSid: credentials.provider_d.account_sid, MessageSid: id, MessageStatus: 'delivered' };
  const signed = (token: string, url = callbackUrl) => {
    const text =
      url +
      Object.entries(form)
        .toSorted()
        .map((pair) => pair.join(''))
        .join('');
    return {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': createHmac('sha1', token).update(text).digest('base64'),
    };
  };
  const body = new URLSearchParams(form).toString();
  const token = credentials.provider_d.auth_token;
  for (const headers of [{}, signed('another'), signed(token, `${callbackUrl}?more`)])
    expect((await post(callbackUrl, body, headers as Record<string, string>)).status).toBe(401);
  expect((await logOf(client))[0].status).toBe('queued');
  expect((await post(callbackUrl, body, signed(token))).status).toBe(200);
  expect((await logOf(client))[0].status).toBe('delivered');
});

test('an address that is not ours is a 404: another organization in it, another provider, a changed token', async () => {
  const { callbackUrl, id } = await messagingOrganization('provider_a');
  const other = await newOrganization();
  const wrong = [
    callbackUrl.replace(`/${id}-`, `/${other.id}-`),
    callbackUrl.replace('provider_a', 'provider_c'),
    callbackUrl.replace('provider_a', 'provider_z'),
    `${callbackUrl.slice(0, -1)}${callbackUrl.endsWith('0') ? '1' : '0'}`,
    callbackUrl.slice(0, -1),
    callbackUrl.replace(/[^/]+$/, '1'),
  ];
  for (const url of wrong) expect((await post(url, '{}')).status, url).toBe(404);
  expect((await post(callbackUrl, '{}')).status).toBe(200);
});

test('what is no status of ours is taken and ignored', async () => {
  const { client, callbackUrl } = await messagingOrganization('provider_a');
  await send(client);
  for (const body of [
    '',
    'nonsense',
    '[]',
    '{"eventType":"message","text":"hi"}',
    '{"eventType":"sentMessageREAD_v2","localMessageId":"x"}',
  ])
    expect(await post(callbackUrl, body), body).toEqual({ status: 200, body: { status: 'ignored' } });
  await client.post(configPath, { messaging_app: { provider_a: null } });
  expect(await post(callbackUrl, '{}')).toEqual({ status: 200, body: { status: 'ignored' } });
  expect((await post(callbackUrl, 'x'.repeat(4 * 1024 * 1024 + 1))).status).toBe(413);
});

test("a message of another organization, or of another provider, is not moved by this one's address", async () => {
  const one = await metaOrganization();
  const other = await messagingOrganization('provider_b');
  const id = await send(other.client);
  expect((await one.tell({ id, status: 'read' })).body).toEqual({ status: 'ignored' });
  expect((await logOf(other.client))[0].status).toBe('accepted');
});

test('a report that comes before the answer to the sending is stored is not lost', async () => {
  const { client, credentials, tell } = await metaOrganization();
  await send(client);
  let mayAnswer = false;
  const asked = stubFetch(`${simulators}/meta/v25.0/${credentials.provider_b.phone_number_id}/messages`, async () => {
    while (!mayAnswer) await new Promise((resolve) => setTimeout(resolve, 5));
    return Response.json({ messages: [{ id: 'wamid.early' }] });
  });
  const sent = send(client);
  await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 5000, interval: 5 });
  const report = tell({ id: 'wamid.early', status: 'delivered' });
  // Until the callback has looked in vain.
  await new Promise((resolve) => setTimeout(resolve, 100));
  mayAnswer = true;
  expect(await sent).toBe('wamid.early');
  expect(await report).toEqual({ status: 200, body: { status: 'ok' } });
  expect(await messageIn(client, 'delivered')).toMatchObject({ message_id: 'wamid.early' });
});

test('Meta is answered its challenge where it gives the last part of the address as verify token', async () => {
  const { callbackUrl } = await messagingOrganization('provider_b');
  const ask = async (url: string, query: Record<string, string>) => {
    const answer = await exports.default.fetch(new Request(`${url}?${new URLSearchParams(query)}`));
    return [answer.status, answer.headers.get('content-type'), await answer.text()];
  };
  const token = callbackUrl.split('/').at(-1)!;
  const query = { 'hub.mode': 'subscribe', 'hub.verify_token': token, 'hub.challenge': '1158201444' };
  expect(await ask(callbackUrl, query)).toEqual([200, expect.stringContaining('text/plain'), '1158201444']);
  expect((await ask(callbackUrl, { ...query, 'hub.verify_token': 'another' }))[0]).toBe(403);
  expect((await ask(callbackUrl, {}))[0]).toBe(403);
  expect((await ask(callbackUrl.slice(0, -1), query))[0]).toBe(404);
  const { callbackUrl: watis } = await messagingOrganization('provider_a');
  expect((await ask(watis, { ...query, 'hub.verify_token': watis.split('/').at(-1)! }))[0]).toBe(403);
});

test('no line of the log holds a token of an address, nor what came there', async () => {
  const { callbackUrl, client } = await messagingOrganization('provider_a');
  await send(client);
  const lines = await linesLoggedBy(async () => {
    const verbose = serviceWith({ LOG_LEVEL: 'debug' });
    await verbose(new Request(callbackUrl, { method: 'POST', body: '{"text":"private words"}' }));
    await verbose(new Request(callbackUrl.slice(0, -1), { method: 'POST', body: '{}' }));
  });
  expect(lines.join('\n')).toContain('/messaging-config/callbacks/provider_a/****');
  for (const secret of [callbackUrl.split('/').at(-1)!.slice(-40, -1), 'private words', canary])
    expect(lines.join('\n')).not.toContain(secret);
});

test('a callback finds its message by an index, and a repeat of it writes no row', async () => {
  const { client, key, callbackUrl, secret, tell } = await metaOrganization();
  const id = await send(client);
  await tell({ id, status: 'sent' });
  const recorded = recordedClient(key);
  const path = callbackUrl.slice('https://service.test/api/v1'.length);
  for (const status of ['delivered', 'delivered', 'sent']) {
    const body = metaBody([{ id, status }]);
    expect((await recorded.client.post(path, body, metaHeaders(body, secret))).status).toBe(200);
  }
  const updates = recorded.recording.statements.filter(({ rowsWritten }) => rowsWritten > 0);
  expect(updates.map(({ sql }) => sql.slice(0, 14))).toEqual(['UPDATE message']);
  for (const { plan } of await explainQueryPlans(recorded.recording)) expect(plan.join('\n')).not.toMatch(/SCAN (m|message)\b/);
});
