import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { chain, readEverythingStored, waitForRunState } from '../support/journeys.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';
import { canary, configPath, newCredentials, providerKeys, simulators, testMessage } from './accounts.ts';
import { realFetch } from '../support/real-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const found = (text: string) => text.includes(canary);

/** The secret that a request carries. */
function secretIn({ headers }: Request): string {
  const [scheme = '', value = ''] = headers.get('authorization')?.split(' ') ?? [];
  const basic = () => Buffer.from(value, 'base64').toString().split(':')[1]!;
  return headers.get('apikey') ?? (scheme === 'Basic' ? basic() : value);
}

/** Rows of any table that hold a secret. */
async function leaksInDatabase(): Promise<string[]> {
  const { results: tables } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'contact_search%'",
  ).all<{ name: string }>();
  const leaks = [];
  for (const { name } of tables) {
    const { results } = await env.DB.prepare(`SELECT * FROM "${name}"`).all();
    leaks.push(...results.map((row) => JSON.stringify(row)).filter(found));
  }
  return leaks;
}

test('no secret of a provider comes out again: not in an answer, a log line, an error, a history, a table, or what a run keeps', async () => {
  const lines: string[] = [];
  for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const)
    vi.spyOn(console, level).mockImplementation(
      (...values) => void lines.push(values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' ')),
    );
  // Providers that repeat in their answers what they were sent, as some do.
  let isEchoing = false;
  const sent: string[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    if (!request.url.startsWith(simulators)) return realFetch(request);
    sent.push(secretIn(request));
    if (!isEchoing) return realFetch(request);
    const words = `Unauthorized access token: ${secretIn(request)}`;
    const error = { message: words, code: 190, error_data: { details: words } };
    return Response.json({ error, message: words, status: 'error', result: false, info: words, code: 20003 }, { status: 400 });
  });
  const { key, id } = await newOrganization();
  const answers: string[] = [];
  const app = createApp();
  const verbose = { ...env, LOG_LEVEL: 'debug' } as unknown as Env;
  const send = async (request: Request) => {
    const waiting: Promise<unknown>[] = [];
    const execution = { waitUntil: (work: Promise<unknown>) => void waiting.push(work), passThroughOnException() {}, props: {} };
    const response = await app.fetch(request, verbose, execution as unknown as ExecutionContext);
    await Promise.all(waiting);
    answers.push(`${request.method} ${request.url} ${await response.clone().text()} ${JSON.stringify([...response.headers])}`);
    return response;
  };
  const client = new Client(key, send);
  const credentials = newCredentials();
  // A run that has failed is kept as it was.
  const definition = chain({ id: 'text', type: 'send_message', data: { to: newPhone(), template_name: 'order_update', language: 'en' } });
  for (const provider of providerKeys) {
    isEchoing = false;
    const { callback_urls: urls } = (await client.post(configPath, { messaging_app: { provider, [provider]: credentials[provider] } }))
      .body;
    await client.post(configPath, { messaging_app: { [provider]: { ...credentials[provider], no_such_field: canary } } });
    await client.get(configPath);
    expect((await client.post(`${configPath}/test`, testMessage(newPhone()))).body.success, provider).toBe(true);
    isEchoing = true;
    await client.post(`${configPath}/test`, testMessage(newPhone()));
    await client.post(`${configPath}/test`, { to: newPhone(), kind: 'text', text: 'Hello' });
    // Of another configuration, so that no list is kept of it.
    await client.post(configPath, { messaging_app: {} });
    expect((await client.get(`${configPath}/messaging-app-templates`)).status).toBe(502);
    expect((await client.post(`${configPath}/test`, testMessage(newPhone()))).body.success).toBe(false);
    for (const body of ['{}', 'nonsense']) await send(new Request(urls[provider], { method: 'POST', body }));
    const workflow = await client.post('/automation-workflows', { name: `Journey ${provider}`, definition });
    await client.patch(`/automation-workflows/${workflow.body.id}`, { status: 'active' });
    const run = (await client.post(`/automation-workflows/${workflow.body.id}/execute`, { context: {} })).body.id;
    await waitForRunState(client, run, 'failed');
    await client.get(`/automation-workflows/runs/${run}/history`);
    expect(found(await readEverythingStored(id, run)), provider).toBe(false);
  }
  await client.get('/organizations/messages?limit=500');
  expect(sent.filter(found).length).toBeGreaterThan(8);
  expect(answers.length).toBeGreaterThan(40);
  expect(answers.filter(found)).toEqual([]);
  expect(lines.filter(found)).toEqual([]);
  expect(await leaksInDatabase()).toEqual([]);
});
