import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { createActiveWorkflow, chain, waitForEndedRuns } from '../support/journeys.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { stubFetch } from '../support/stub-fetch.ts';

afterEach(() => vi.restoreAllMocks());

const whsec = `whsec_${btoa('canary-signing-secret-of-a-node!')}`;
const bearer = 'Bearer canary-bearer-of-a-node';
const apiKey = 'canary-api-key-of-a-node';

const call = (more: Record<string, unknown> = {}) => ({
  id: 'call',
  type: 'http_request',
  data: {
    method: 'POST',
    url: 'https://hook.example.com/in',
    headers: { Authorization: bearer, 'X-Api-Key': apiKey, 'X-Order': '{{ data.order }}' },
    body: { order: '{{ data.order }}' },
    secret: whsec,
    ...more,
  },
});
const canaries = [whsec, 'canary-bearer-of-a-node', apiKey];

const expectNone = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  for (const canary of canaries) expect(text).not.toContain(canary);
};

/** The requests to the customer's endpoint. */
const receiver = () => stubFetch('https://hook.example.com/', () => Response.json({ ok: true }));

const execute = async (client: Client, id: number, context = { order: 'A-17' }) =>
  (await client.post(`/automation-workflows/${id}/execute`, { context })).body;

test("a node's secrets go out as they are, and are never read back: not by GET, PATCH, versions, dry run, run or history", async () => {
  const requests = receiver();
  const { client } = await newOrganization();
  const created = await client.post('/automation-workflows', { name: 'Journey', definition: chain(call()) });
  const id = created.body.id as number;
  expect(created.body.definition.nodes[1].data).toMatchObject({
    secret: '****',
    headers: { Authorization: '****', 'X-Api-Key': '****', 'X-Order': '****' },
  });
  const dry = await client.post(`/automation-workflows/${id}/test`, { context: { order: 'A-17' } });
  const simulated = dry.body.history.find((entry: { node_id: string }) => entry.node_id === 'call');
  expect(simulated).toMatchObject({
    status: 'simulated',
    output: { request: { headers: { authorization: '****', 'x-api-key': '****', 'x-order': '****' } } },
  });
  const answers = [
    created,
    dry,
    await client.get(`/automation-workflows/${id}`),
    await client.patch(`/automation-workflows/${id}`, { status: 'active' }),
    await client.get('/automation-workflows'),
    await client.get(`/automation-workflows/${id}/versions`),
  ];
  const { id: runId } = await execute(client, id);
  const [run] = await waitForEndedRuns(client, id);
  answers.push(
    run,
    await client.get(`/automation-workflows/runs/${runId}`),
    await client.get(`/automation-workflows/runs/${runId}/history`),
  );
  answers.push(await client.get(`/automation-workflows/runs/${dry.body.id}/history`));
  for (const answer of answers) expectNone(answer);
  expect(run.state).toBe('completed');
  expect(requests).toHaveLength(1);
  expect(requests[0]!.headers.get('authorization')).toBe(bearer);
  expect(requests[0]!.headers.get('x-api-key')).toBe(apiKey);
  expect(requests[0]!.headers.get('webhook-signature')).toMatch(/^v1,/);
});

test('a definition is encrypted in the database, and a secret that was encrypted elsewhere cannot be used here', async () => {
  const requests = receiver();
  const { client, id: organizationId } = await newOrganization();
  const id = await createActiveWorkflow(client, { definition: chain(call()) });
  const rows = async (table: string, key: string) =>
    (await env.DB.prepare(`SELECT definition FROM ${table} WHERE ${key} = ?`).bind(id).all<{ definition: string }>()).results;
  const stored = [...(await rows('automation_workflow', 'id')), ...(await rows('automation_version', 'workflow_id'))];
  expect(stored).toHaveLength(2);
  for (const { definition } of stored) {
    expectNone(definition);
    expect(definition).toContain('sealed:v1:');
  }
  const sealed = JSON.parse(stored[0]!.definition).nodes[1].data.headers.Authorization;
  const thief = await createActiveWorkflow(client, { definition: chain(call({ secret: undefined, headers: { Authorization: sealed } })) });
  await execute(client, thief);
  await waitForEndedRuns(client, thief);
  expect(requests.at(-1)!.headers.get('authorization')).not.toBe(bearer);
  expect(organizationId).toBeGreaterThan(0);
});

test('a mask that is sent back keeps the secret, wherever its node has moved to; another value replaces it', async () => {
  const requests = receiver();
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, {
    definition: chain({ id: 'first', type: 'set_context', data: { assign: { a: 1 } } }, call()),
  });
  const { definition } = (await client.get(`/automation-workflows/${id}`)).body;
  expect((await client.patch(`/automation-workflows/${id}`, { definition })).body.version).toBe(1);
  const moved = { ...definition, nodes: definition.nodes.toReversed() };
  moved.nodes.find((node: { id: string }) => node.id === 'call').name = 'Renamed';
  expect((await client.patch(`/automation-workflows/${id}`, { definition: moved })).body.version).toBe(2);
  await execute(client, id);
  await waitForEndedRuns(client, id, 1);
  expect(requests[0]!.headers.get('authorization')).toBe(bearer);
  expect(requests[0]!.headers.get('webhook-signature')).toMatch(/^v1,/);
  moved.nodes.find((node: { id: string }) => node.id === 'call').data.headers.Authorization = 'Bearer new';
  expect((await client.patch(`/automation-workflows/${id}`, { definition: moved })).body.version).toBe(3);
  await execute(client, id);
  await waitForEndedRuns(client, id, 2);
  expect(requests[1]!.headers.get('authorization')).toBe('Bearer new');
  expect(requests[1]!.headers.get('x-api-key')).toBe(apiKey);
});

test('validate accepts a definition as GET shows it, and an invalid signing secret prevents the activation', async () => {
  const { client } = await newOrganization();
  const sound = (await client.post('/automation-workflows', { name: 'Sound', definition: chain(call()) })).body;
  const { definition } = (await client.get(`/automation-workflows/${sound.id}`)).body;
  expect((await client.post(`/automation-workflows/${sound.id}/validate`, { definition })).body).toEqual({
    valid: true,
    errors: [],
    warnings: [],
  });
  const bad = (await client.post('/automation-workflows', { name: 'Bad', definition: chain(call({ secret: 'not base64!' })) })).body;
  const refused = await client.patch(`/automation-workflows/${bad.id}`, { status: 'active' });
  expect(refused.status).toBe(422);
  expect(refused.body.detail[0].loc.join('.')).toBe('body.definition.nodes.call.data.secret');
  expect(JSON.stringify(refused.body)).not.toContain('not base64!');
  const template = chain(call({ headers: { Authorization: 'Bearer {{ contact.custom_fields.token' } }));
  const unparsed = (await client.post('/automation-workflows', { name: 'Unparsed', definition: template })).body;
  expect((await client.patch(`/automation-workflows/${unparsed.id}`, { status: 'active' })).status).toBe(422);
});

test('a credential header may be a template of the contact', async () => {
  const requests = receiver();
  const { client } = await newOrganization();
  const contact = (await client.post('/contacts', { phone: newPhone(), custom_fields: { key: 'k-1' } })).body.id;
  const headers = { Authorization: 'Bearer {{ contact.custom_fields.key }}' };
  const id = await createActiveWorkflow(client, {
    definition: chain({ id: 'call', type: 'http_request', data: { method: 'GET', url: 'https://hook.example.com/in', headers } }),
  });
  await client.post(`/automation-workflows/${id}/execute`, { contact_id: contact });
  await waitForEndedRuns(client, id);
  expect(requests[0]!.headers.get('authorization')).toBe('Bearer k-1');
});

test('a secret in the body of a request is masked wherever the request is shown', async () => {
  const { client } = await newOrganization();
  const body = { password: 'canary-bearer-of-a-node', nested: { token: apiKey }, order: '{{ data.order }}' };
  const { body: workflow } = await client.post('/automation-workflows', { name: 'Journey', definition: chain(call({ body })) });
  const tested = await client.post(`/automation-workflows/${workflow.id}/test`, { context: { order: 'A-17' } });
  expectNone(tested);
  const request = tested.body.history.find((entry: { node_id: string }) => entry.node_id === 'call').output.request;
  expect(JSON.parse(request.body)).toEqual({ password: '****', nested: { token: '****' }, order: 'A-17' });
});

test('a mask without a secret behind it is refused: at once in a trigger, on activation in a definition', async () => {
  const { client } = await newOrganization();
  const id = await createActiveWorkflow(client, {});
  const auth = { type: 'header_token', header: 'X-Token', token: '****' };
  const refused = await client.post(`/automation-workflows/${id}/triggers`, { type: 'webhook', config: { auth } });
  expect(refused.status).toBe(422);
  expect(refused.body.detail).toMatchObject([{ loc: ['body', 'config', 'auth', 'token'], msg: expect.stringContaining('mask') }]);
  const copied = await client.post('/automation-workflows', {
    name: 'Copy',
    definition: chain(call({ headers: { Authorization: '****' } })),
  });
  expect(copied.status).toBe(201);
  const active = await client.patch(`/automation-workflows/${copied.body.id}`, { status: 'active' });
  expect(active.status).toBe(422);
  expect(active.body.detail[0].loc).toEqual(['body', 'definition', 'nodes', 'call', 'data', 'headers', 'Authorization']);
  const { definition } = copied.body;
  expect((await client.post(`/automation-workflows/${copied.body.id}/validate`, { definition })).body.errors).toEqual(active.body.detail);
});

test('a trigger object that is sent without its config keeps the config, its secret included', async () => {
  const { client } = await newOrganization();
  const config = { auth: { type: 'header_token', header: 'X-Token', token: 'the-very-token' } };
  const id = await createActiveWorkflow(client, { trigger: { type: 'webhook', config } });
  const patched = await client.patch(`/automation-workflows/${id}`, { trigger: { type: 'webhook', name: 'Shop' } });
  expect(patched.body.trigger).toMatchObject({ type: 'webhook', name: 'Shop', config: { auth: { type: 'header_token', token: '****' } } });
  const [hook] = (await client.get(`/automation-workflows/${id}/triggers`)).body.triggers;
  const send = async (headers: Record<string, string>) =>
    (await client.post(`/automation-workflows/webhook/${hook.uuid}`, {}, headers)).status;
  expect([await send({}), await send({ 'X-Token': 'the-very-token' })]).toEqual([401, 202]);
});
