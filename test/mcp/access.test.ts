import { expect, test } from 'vitest';
import { newMember, serviceWith } from '../http/service.ts';
import { newOrganization } from '../support/organization.ts';
import { assistantWith, mcpUrl, postMessage } from './assistant.ts';
import { exports } from 'cloudflare:workers';

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

test('without a key nothing is answered but the accepted credentials', async () => {
  const answer = await postMessage(list);
  expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer']);
  expect(await answer.json()).toEqual({ detail: 'Missing credentials; send the API key as "Authorization: Bearer vaa_..."' });
});

test('an unknown key is refused without being repeated', async () => {
  const answer = await postMessage(list, bearer('vaa_unknown'));
  expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
  expect(await answer.text()).not.toContain('vaa_unknown');
});

test('a page of another site is refused, whatever key it has', async () => {
  const { key } = await newOrganization();
  const answer = await postMessage(list, { ...bearer(key), Origin: 'https://elsewhere.example' });
  expect(answer.status).toBe(403);
});

test('a page of an allowed site may call it, and its preflight needs no key', async () => {
  const { key } = await newOrganization();
  const send = serviceWith({ CORS_ALLOWED_ORIGINS: 'https://app.example' });
  const ask = (method: string, headers: Record<string, string>) =>
    send(
      new Request(mcpUrl, {
        method,
        headers: { Origin: 'https://app.example', ...headers },
        ...(method === 'POST' && { body: JSON.stringify(list) }),
      }),
    );
  const preflight = await ask('OPTIONS', { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' });
  expect([preflight.status, preflight.headers.get('Access-Control-Allow-Origin')]).toEqual([204, 'https://app.example']);
  const answer = await ask('POST', { ...bearer(key), 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' });
  expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([200, 'https://app.example']);
});

test('a cookie counts for nothing', async () => {
  const { token } = await newMember();
  expect((await postMessage(list, { Cookie: `session=${token}` })).status).toBe(401);
  expect((await postMessage(list, bearer(token))).status).toBe(200);
});

test('a key of scope read sees reading tools alone, and is refused what it calls all the same', async () => {
  const { key } = await newOrganization({ scopes: ['read'] });
  const assistant = await assistantWith(key);
  const names = (await assistant.client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain('find_contacts');
  expect(names).toContain('search_knowledge');
  expect(names).not.toContain('create_journey');
  expect(names).not.toContain('start_campaign');
  expect(await assistant.refused('create_journey', { name: 'Mine' })).toContain('insufficient_scope');
});

test("another organization's records are not there", async () => {
  const owner = await newOrganization();
  const created = await owner.client.post('/contacts', { email: 'ada@example.com' });
  const stranger = await assistantWith((await newOrganization()).key);
  expect(await stranger.refused('get_contact', { contact_id: created.body.id })).toMatch(/^404: /);
});

test('a wrong argument is named, so that the assistant can correct it', async () => {
  const assistant = await assistantWith((await newOrganization()).key);
  const reason = await assistant.refused('list_runs', { state: 'asleep' });
  expect(reason).toMatch(/^422: /);
  expect(reason).toContain('"state"');
});

test('an unknown tool is an error of the protocol', async () => {
  const assistant = await assistantWith((await newOrganization()).key);
  await expect(assistant.client.callTool({ name: 'drop_everything', arguments: {} })).rejects.toThrow('There is no tool drop_everything');
});

test('a call repeated under its key is done once', async () => {
  const { key, client } = await newOrganization();
  const assistant = await assistantWith(key);
  const first = await assistant.use('create_journey', { name: 'Once', idempotency_key: 'k1' });
  const again = await assistant.use('create_journey', { name: 'Once', idempotency_key: 'k1' });
  expect(again.id).toBe(first.id);
  expect((await client.get('/automation-workflows')).body.total).toBe(1);
});

test('what is no message of the protocol is refused in its own words, never with 500', async () => {
  const { key } = await newOrganization();
  for (const body of [
    '',
    '{',
    '[]',
    '42',
    '{"jsonrpc":"2.0"}',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 7 } }),
  ]) {
    const answer = await postMessage(body, bearer(key));
    expect(answer.status, body).toBeLessThan(500);
    expect(answer.headers.get('Content-Type') ?? '', body).toMatch(/json|event-stream/);
  }
  const opened = await exports.default.fetch(new Request(mcpUrl, { headers: bearer(key) }));
  expect(opened.status).toBe(405);
});

test('a message over the limit is refused before it is read', async () => {
  const { key } = await newOrganization();
  const answer = await postMessage({ ...list, params: { filler: 'x'.repeat(2 * 1024 * 1024) } }, bearer(key));
  expect(answer.status).toBe(413);
});

test('a change by a tool is in the audit log with the network address of the assistant', async () => {
  const { key, client } = await newOrganization();
  const assistant = await assistantWith(key, (request) => {
    const headers = new Headers(request.headers);
    headers.set('cf-connecting-ip', '192.0.2.31');
    return exports.default.fetch(new Request(request, { headers }));
  });
  const made = await assistant.use('create_journey', { name: 'Mine' });
  const { body } = await client.get('/audit-log');
  expect(body.entries).toMatchObject([{ action: 'journeys.create', record_id: String(made.id), address: '192.0.2.31' }]);
});
