import { createHmac } from 'node:crypto';
import { env, exports } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { tickAt } from '../support/background.ts';
import { chain, waitForEndedRuns, waitForRunState, runStub } from '../support/journeys.ts';
import { Client, newOrganization, newPhone } from '../support/organization.ts';
import { storedRows, storedRun } from '../support/stored-run.ts';

afterEach(() => vi.restoreAllMocks());

// Every secret that these rooms are given holds this word, so that it is found wherever it comes out.
const canary = 'canary4711';
const whsec = `whsec_${btoa(`${canary}-signing-secret-of-32-b`)}`;
const secrets = {
  bearer: `Bearer ${canary}-bearer`,
  apiKey: `${canary}-api-key`,
  cookie: `session=${canary}-cookie`,
  hmac: `${canary}-hmac`,
  token: `${canary}-token`,
  password: `${canary}-password`,
  verify: `${canary}-verify`,
};

const found = (text: string) => text.includes(canary) || text.includes(whsec) || text.includes(whsec.slice(6));

/** The rows of all tables that contain a secret. */
async function leaksInDatabase(): Promise<string[]> {
  const { results: tables } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'contact_search%'",
  ).all<{ name: string }>();
  const leaks = [];
  for (const { name } of tables) {
    const { results } = await env.DB.prepare(`SELECT * FROM "${name}"`).all();
    for (const row of results) if (found(JSON.stringify(row))) leaks.push(`${name}: ${JSON.stringify(row).slice(0, 400)}`);
  }
  return leaks;
}

async function leaksInFiles(organizationId: number): Promise<string[]> {
  const leaks = [];
  for (let cursor: string | undefined; ;) {
    const page = await env.FILES.list(cursor === undefined ? {} : { cursor });
    for (const { key } of page.objects.filter((object) => object.key.includes(`/${organizationId}/`)))
      if (found(await (await env.FILES.get(key))!.text())) leaks.push(key);
    if (!page.truncated) return leaks;
    cursor = page.cursor;
  }
}

test('a secret is shown nowhere: in no answer, history, log line, table or file, and not in the storage of a run', async () => {
  const lines: string[] = [];
  for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const)
    vi.spyOn(console, level).mockImplementation(
      (...values) => void lines.push(values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' ')),
    );
  // Answers of the customer's endpoint: one good, the others failing, so that errors are stored and logged.
  const sent: string[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const { url, headers } = new Request(input as RequestInfo, init as RequestInit);
    sent.push(JSON.stringify([url, ...headers]));
    return url.includes('/good')
      ? Response.json({ ok: true }, { headers: { 'Set-Cookie': secrets.cookie } })
      : new Response('no', { status: 500 });
  });
  const { key, id: organizationId } = await newOrganization();
  const answers: string[] = [];
  const app = createApp();
  const verbose = { ...env, LOG_LEVEL: 'debug' };
  const send = async (request: Request) => {
    const waiting: Promise<unknown>[] = [];
    const execution = { waitUntil: (work: Promise<unknown>) => void waiting.push(work), passThroughOnException() {}, props: {} };
    const response = await app.fetch(request, verbose as unknown as Env, execution as unknown as ExecutionContext);
    await Promise.all(waiting);
    answers.push(
      `${request.method} ${new URL(request.url).pathname} ${await response.clone().text()} ${JSON.stringify([...response.headers])}`,
    );
    return response;
  };
  const client = new Client(key, send);

  const data = {
    method: 'POST',
    headers: { Authorization: secrets.bearer, 'X-Api-Key': secrets.apiKey, Cookie: secrets.cookie, 'X-Order': '1' },
    body: { password: secrets.password, order: '{{ data.order }}' },
    secret: whsec,
  };
  const definition = chain(
    { id: 'good', type: 'http_request', data: { ...data, url: 'https://hook.example.com/good' } },
    { id: 'nap', type: 'wait', data: { duration: 'PT0.2S' } },
    { id: 'bad', type: 'http_request', data: { ...data, url: 'https://hook.example.com/bad' } },
  );
  const settings = { retry: { max_attempts: 2, initial_delay_seconds: 0.05 } };
  const trigger = {
    type: 'webhook',
    config: { auth: { type: 'hmac_sha256', header: 'X-Signature', secret: secrets.hmac, verify_token: secrets.verify } },
  };
  const created = await client.post('/automation-workflows', { name: 'Journey', definition, settings, trigger });
  const at = `/automation-workflows/${created.body.id}`;
  const broken = {
    ...definition,
    nodes: definition.nodes.map((node) =>
      node.id === 'bad' ? { ...node, data: { ...data, url: 'ftp://nowhere', secret: `${canary} is not base64` } } : node,
    ),
  };
  expect((await client.post(`${at}/validate`, { definition: broken })).body.valid).toBe(false);
  await client.patch(at, { status: 'active' });
  expect((await client.patch(at, { definition: broken })).status).toBe(422);
  const auths = [
    { type: 'standard_webhooks', secret: whsec },
    { type: 'shopify', secret: secrets.hmac },
    { type: 'stripe', secret: secrets.hmac },
    { type: 'header_token', header: 'X-Proof', token: secrets.token },
    { type: 'basic', username: 'shop', password: secrets.password, verify_token: secrets.verify },
  ];
  const hooks: { uuid: string; id: number }[] = [];
  for (const auth of auths) hooks.push((await client.post(`${at}/triggers`, { type: 'webhook', config: { auth } })).body);
  for (const { id } of hooks) {
    await client.patch(`/automation-workflows/triggers/${id}`, { name: 'Renamed' });
    await client.patch(`/automation-workflows/triggers/${id}`, { state: 'active' });
  }
  const primary = (await client.get(`${at}/triggers`)).body.triggers.at(-1);
  const url = (uuid: string) => `https://service.test/api/v1/automation-workflows/webhook/${uuid}`;
  const body = '{"order":"A-17"}';
  const signature = createHmac('sha256', secrets.hmac).update(body).digest('hex');
  const post = (uuid: string, headers: Record<string, string>) =>
    send(new Request(url(uuid), { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } }));
  expect((await post(primary.uuid, { 'X-Signature': signature })).status).toBe(202);
  expect(
    (await post(hooks[3]!.uuid, { 'X-Proof': secrets.token, Authorization: secrets.bearer, 'X-Auth-Token': secrets.token })).status,
  ).toBe(202);
  expect((await post(hooks[4]!.uuid, { Authorization: `Basic ${btoa(`shop:${secrets.password}`)}` })).status).toBe(202);
  for (const { uuid } of hooks)
    expect((await post(uuid, { 'X-Proof': `${secrets.token}-wrong`, Authorization: `${secrets.bearer}-wrong` })).status).toBe(401);
  for (const token of [secrets.verify, `${secrets.verify}-wrong`])
    await send(new Request(`${url(primary.uuid)}?challenge=42&verify_token=${token}`));
  const { body: contact } = await client.post('/contacts', { phone: newPhone() });
  const { body: live } = await client.post(`${at}/execute`, { context: { order: 'A-18' }, contact_id: contact.id });
  await client.post(`${at}/test`, { context: { order: 'A-19' } });
  await client.post(`${at}/test`, { context: { order: 'A-20' }, dry_run: false });
  await waitForRunState(client, live.id, 'failed');
  const runs = await waitForEndedRuns(client, created.body.id, 4);
  for (const run of runs) {
    await client.get(`/automation-workflows/runs/${run.id}`);
    const history = await client.get(`/automation-workflows/runs/${run.id}/history`);
    expect(history.body.history.map((entry: { status: string }) => entry.status)).toContain('retrying');
    await runInDurableObject(runStub(organizationId, run.id), (_instance, state) => {
      expect(storedRun(state.storage)).not.toBeNull();
      for (const row of storedRows(state.storage)) expect(found(JSON.stringify(row)), JSON.stringify(row)).toBe(false);
    });
  }
  for (const path of [
    at,
    `${at}/versions`,
    `${at}/triggers`,
    `${at}/trigger-meta`,
    '/automation-workflows',
    '/automation-workflows/runs?is_test=true',
    '/events',
  ])
    await client.get(path);
  await exports.default.fetch(new Request(url(primary.uuid), { method: 'POST', body, headers: { 'X-Signature': secrets.hmac } }));
  await tickAt(Date.now());
  vi.restoreAllMocks();

  expect(sent.length).toBeGreaterThan(8);
  expect(sent.some(found)).toBe(true);
  expect(answers.filter(found)).toEqual([]);
  expect(lines.filter(found)).toEqual([]);
  expect(lines.filter((line) => line.includes(primary.uuid))).toEqual([]);
  expect(lines.length).toBeGreaterThan(10);
  expect(await leaksInDatabase()).toEqual([]);
  expect(await leaksInFiles(organizationId)).toEqual([]);
  // The search itself works: it finds a planted secret.
  await env.DB.prepare('UPDATE automation_workflow SET description = ? WHERE id = ?').bind(canary, created.body.id).run();
  await env.FILES.put(`runs/${organizationId}/planted`, canary);
  expect([(await leaksInDatabase()).length, await leaksInFiles(organizationId)]).toEqual([1, [`runs/${organizationId}/planted`]]);
  await env.DB.prepare("UPDATE automation_workflow SET description = '' WHERE id = ?").bind(created.body.id).run();
});
