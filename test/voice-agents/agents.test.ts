import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { open } from '../../src/library/security/encryption.ts';
import { newOrganization, type Client } from '../support/organization.ts';
import { explainQueryPlans, recordedClient } from '../support/recorded-database.ts';
import { salesAgent } from './agents.ts';

afterEach(() => vi.restoreAllMocks());

const create = async (client: Client, body: Record<string, unknown> = {}) => {
  const answer = await client.post('/workflow/create/definition', { name: 'Sales', workflow_definition: salesAgent, ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};
const locs = (answer: { body: { detail: { loc: string[] }[] } }) => answer.body.detail.map(({ loc }) => loc.join('.'));
const issuesOf = (answer: { body: { issues: { loc: string[] }[] } }) => answer.body.issues.map(({ loc }) => loc.join('.'));

const definitionRows = async (agentId: number) =>
  (await env.DB.prepare('SELECT id, definition FROM voice_agent_definition WHERE agent_id = ? ORDER BY id').bind(agentId).all())
    .results as {
    id: number;
    definition: string;
  }[];

/** The sales agent with a tool and a webhook, each with a secret. */
const withSecrets = (tools: object[] = [tool('prices', 'canary-prices')], webhook: object = hook('canary-hook')) => ({
  ...salesAgent,
  nodes: [...salesAgent.nodes.map((node) => (node.id === 'book' ? { ...node, data: { ...node.data, tools } } : node)), webhook],
});
const tool = (name: string, secret: string) => ({
  name,
  description: 'Finds prices',
  parameters: { type: 'object', properties: { token: { type: 'string', description: 'of the product' } } },
  http: { method: 'GET', url: `https://${name}.example.com/`, headers: { Authorization: `Bearer ${secret}`, 'X-Plain': 'plain' } },
});
const signing = `whsec_${btoa('canary-signing-secret-of-a-hook!')}`;
const hook = (secret: string) => ({
  id: 'hook',
  type: 'webhook',
  data: { url: 'https://hook.example.com/', headers: { 'X-Api-Key': secret }, secret: signing },
});

test('a new agent is active, with every default, and is read as it was answered', async () => {
  const { client } = await newOrganization();
  const agent = await create(client, { colour: 'ignored' });
  expect(agent).toMatchObject({
    name: 'Sales',
    status: 'active',
    workflow_definition: salesAgent,
    template_context_variables: {},
    call_disposition_codes: {},
    total_runs: 0,
    workflow_configurations: { max_call_duration: 300, model: null, phrases: { goodbye: 'Goodbye.' } },
  });
  expect(agent).not.toHaveProperty('colour');
  const [definition] = await definitionRows(agent.id);
  expect(agent.current_definition_id).toBe(definition!.id);
  expect(agent.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect((await client.get(`/workflow/${agent.id}`)).body).toEqual(agent);
  expect((await client.get(`/workflow/${agent.id}/`)).body).toEqual(agent);
});

test('everything an agent may be created with is kept', async () => {
  const { client } = await newOrganization();
  const { id: adversary_workflow_id } = await create(client, { name: 'Customer' });
  const given = {
    template_context_variables: { company: 'Acme', tiers: [1, 2] },
    call_disposition_codes: { sold: 'They ordered', lost: '' },
    workflow_configurations: { language: 'en-GB', required_tests: [{ adversary_workflow_id, config: { max_turns: 3 } }] },
  };
  const agent = await create(client, given);
  expect((await client.get(`/workflow/${agent.id}`)).body).toMatchObject(given);
});

test('every problem of a definition is one item, named by node or edge', async () => {
  const { client } = await newOrganization();
  const broken = {
    nodes: [
      { id: 'a', type: 'agentNode', data: { prompt: 'x', allow_interrupt: 'y' } },
      { id: 'b', type: 'dance', data: {} },
    ],
    edges: [{ id: 'e', source: 'a', target: 'ghost', data: { label: 'go', condition: 'always' } }],
  };
  const stored = await client.post('/workflow/create/definition', { name: 'Broken', workflow_definition: broken });
  expect(stored.status).toBe(200);
  expect(stored.body.workflow_definition).toEqual(broken);
  const places = stored.body.issues.map(({ loc }: { loc: string[] }) => loc.join('.'));
  expect(places).toEqual(
    expect.arrayContaining(['body.workflow_definition.nodes.a.data.allow_interrupt', 'body.workflow_definition.nodes.b.type']),
  );
  expect(places.some((loc: string) => loc.startsWith('body.workflow_definition.edges.e'))).toBe(true);
  for (const { loc } of stored.body.issues) for (const part of loc) expect(typeof part).toBe('string');
  expect((await client.get(`/workflow/${stored.body.id}`)).body).toEqual(stored.body);
  expect((await client.post(`/workflow/${stored.body.id}/validate`, {})).body).toMatchObject({ valid: false, errors: stored.body.issues });
  const mended = await client.put(`/workflow/${stored.body.id}`, { workflow_definition: salesAgent });
  expect(mended.body).toMatchObject({ issues: [], workflow_definition: salesAgent });
  const [listed] = (await client.get('/workflow')).body.workflows;
  expect(listed).not.toHaveProperty('issues');
});

test('every wrong field is a 422 that names it', async () => {
  const { client } = await newOrganization();
  const refused = async (body: Record<string, unknown>, ...expected: string[]) => {
    const answer = await client.post('/workflow/create/definition', { name: 'x', workflow_definition: salesAgent, ...body });
    expect([answer.status, locs(answer)]).toEqual([422, expected]);
  };
  await refused({ name: ' ' }, 'body.name');
  await refused({ name: 'x'.repeat(201) }, 'body.name');
  await refused({ workflow_definition: undefined }, 'body.workflow_definition');
  await refused({ workflow_definition: [] }, 'body.workflow_definition');
  await refused({ workflow_definition: { nodes: 'x'.repeat(600_000) } }, 'body.workflow_definition');
  await refused({ workflow_configurations: { voice: 1 } }, 'body.workflow_configurations.voice');
  await refused({ call_disposition_codes: { sold: 3 } }, 'body.call_disposition_codes.sold');
  await refused({ template_context_variables: { long: 'x'.repeat(70_000) } }, 'body.template_context_variables');
  expect((await client.post('/workflow/create/definition', '{"name":')).status).toBe(422);
});

test('a changed definition is a new row, an equal one is none, and the old row stays as it was', async () => {
  const { client } = await newOrganization();
  const agent = await create(client);
  const path = `/workflow/${agent.id}`;
  const reordered = {
    edges: salesAgent.edges,
    nodes: salesAgent.nodes.map(({ data, position, type, id }) => ({ type, data, position, id })),
  };
  const same = await client.put(path, { name: 'Renamed', workflow_definition: reordered });
  expect(same.body).toMatchObject({ name: 'Renamed', current_definition_id: agent.current_definition_id });
  const [before] = await definitionRows(agent.id);
  const changed = { ...salesAgent, nodes: salesAgent.nodes.with(2, { ...salesAgent.nodes[2]!, data: { name: 'Bye', prompt: 'Wave.' } }) };
  const answer = await client.put(path, { workflow_definition: changed });
  expect(answer.body.workflow_definition).toEqual(changed);
  const rows = await definitionRows(agent.id);
  expect(rows.map(({ id }) => id)).toEqual([agent.current_definition_id, answer.body.current_definition_id]);
  expect(rows[0]).toEqual(before);
  expect((await client.get(path)).body).toEqual(answer.body);
});

test('PUT keeps what is absent and clears what is null', async () => {
  const { client } = await newOrganization();
  const agent = await create(client, {
    template_context_variables: { a: 1 },
    call_disposition_codes: { sold: 'x' },
    workflow_configurations: { language: 'fr', max_call_duration: 60 },
  });
  const path = `/workflow/${agent.id}`;
  expect((await client.put(path, {})).body).toEqual(agent);
  const changed = await client.put(path, { template_context_variables: null, workflow_configurations: { language: null } });
  expect(changed.body).toMatchObject({
    template_context_variables: {},
    call_disposition_codes: { sold: 'x' },
    workflow_configurations: { language: null, max_call_duration: 60 },
  });
  expect((await client.put(path, { workflow_configurations: null, call_disposition_codes: null })).body).toMatchObject({
    call_disposition_codes: {},
    workflow_configurations: { max_call_duration: 300 },
  });
  const refused = await client.put(path, { name: null, workflow_definition: { nodes: [], edges: [] } });
  expect(refused.status).toBe(422);
});

test('changes that come at the same moment are all made, and every definition that was answered is there', async () => {
  const { client } = await newOrganization();
  const agent = await create(client);
  const definitions = Array.from({ length: 4 }, (_, index) => ({
    ...salesAgent,
    nodes: salesAgent.nodes.with(2, { ...salesAgent.nodes[2]!, data: { name: 'Bye', prompt: `Goodbye ${index}.` } }),
  }));
  const answers = await Promise.all([
    ...definitions.map((workflow_definition) => client.put(`/workflow/${agent.id}`, { workflow_definition })),
    client.put(`/workflow/${agent.id}`, { name: 'Renamed' }),
    client.put(`/workflow/${agent.id}`, { call_disposition_codes: { sold: 'x' } }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const rows = await definitionRows(agent.id);
  expect(rows).toHaveLength(6);
  const last = await client.get(`/workflow/${agent.id}`);
  expect(last.body).toMatchObject({ name: 'Renamed', call_disposition_codes: { sold: 'x' }, current_definition_id: rows.at(-1)!.id });
  expect(JSON.parse(rows.at(-1)!.definition)).toEqual(last.body.workflow_definition);
});

test('secrets are sealed in the database and masked wherever they are shown', async () => {
  const { client } = await newOrganization();
  const agent = await create(client, { workflow_definition: withSecrets() });
  const path = `/workflow/${agent.id}`;
  const shown = [agent, await client.get(path), await client.get('/workflow'), await client.put(path, { name: 'New' })];
  for (const answer of [...shown, ...(await definitionRows(agent.id))]) {
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(JSON.stringify(answer)).not.toContain(signing);
  }
  const [{ http, parameters }] = agent.workflow_definition.nodes[1].data.tools;
  expect(http.headers).toEqual({ Authorization: '****', 'X-Plain': '****' });
  expect(parameters.properties.token).toEqual({ type: 'string', description: 'of the product' });
  expect(agent.workflow_definition.nodes.at(-1).data).toMatchObject({ secret: '****', headers: { 'X-Api-Key': '****' } });
  expect((await definitionRows(agent.id))[0]!.definition.match(/sealed:v1:/g)).toHaveLength(4);
});

test('a definition sent back as it was shown changes nothing, and validates', async () => {
  const { client } = await newOrganization();
  const agent = await create(client, { workflow_definition: withSecrets() });
  const { workflow_definition } = agent;
  const sent = await client.put(`/workflow/${agent.id}`, { workflow_definition });
  expect(sent.body).toMatchObject({ current_definition_id: agent.current_definition_id });
  const validated = await client.post(`/workflow/${agent.id}/validate`, { workflow_definition });
  expect(validated.body).toEqual({ valid: true, errors: [], warnings: [] });
});

test('a mask stands for the secret of the tool with its name, wherever that tool has moved', async () => {
  const { client, id: organizationId } = await newOrganization();
  const two = withSecrets([tool('prices', 'canary-prices'), tool('stock', 'canary-stock')]);
  const agent = await create(client, { workflow_definition: two });
  const shown = agent.workflow_definition;
  const withTools = (tools: unknown[]) => ({
    ...shown,
    nodes: shown.nodes.map((node: { id: string; data: object }) =>
      node.id === 'book' ? { ...node, data: { ...node.data, tools } } : node,
    ),
  });
  const [prices, stock] = shown.nodes[1].data.tools;
  const sealed = async () => {
    const { definition } = (await definitionRows(agent.id)).at(-1)!;
    return JSON.parse(definition).nodes[1].data.tools as { name: string; http: { headers: { Authorization: string } } }[];
  };
  const opened = async () =>
    Promise.all(
      (await sealed()).map(async ({ name, http }) => [name, await open(env.ENCRYPTION_KEY, organizationId, http.headers.Authorization)]),
    );
  await client.put(`/workflow/${agent.id}`, { workflow_definition: withTools([stock, prices]) });
  expect(await opened()).toEqual([
    ['stock', 'Bearer canary-stock'],
    ['prices', 'Bearer canary-prices'],
  ]);
  await client.put(`/workflow/${agent.id}`, { workflow_definition: withTools([stock]) });
  expect(await opened()).toEqual([['stock', 'Bearer canary-stock']]);
  const renamed = await client.put(`/workflow/${agent.id}`, { workflow_definition: withTools([{ ...stock, name: 'other' }]) });
  expect(issuesOf(renamed)).toEqual(
    ['Authorization', 'X-Plain'].map((name) => `body.workflow_definition.nodes.book.data.tools.0.http.headers.${name}`),
  );
});

test('a mask in a new agent, and a secret that is sealed elsewhere, stand for nothing', async () => {
  const { client } = await newOrganization();
  const masked = { ...hook('x'), data: { url: 'https://hook.example.com/', headers: {}, secret: '****' } };
  const refused = await client.post('/workflow/create/definition', { name: 'Copy', workflow_definition: withSecrets([], masked) });
  expect(issuesOf(refused)).toEqual(['body.workflow_definition.nodes.hook.data.secret']);
  const agent = await create(client, { workflow_definition: withSecrets() });
  const stolen = JSON.parse((await definitionRows(agent.id))[0]!.definition).nodes.at(-1).data.headers['X-Api-Key'] as string;
  const thief = await create(client, { workflow_definition: withSecrets([], hook(stolen)) });
  const { definition } = (await definitionRows(thief.id))[0]!;
  expect(definition).not.toContain(stolen);
});

test('validate tells what is wrong with a proposal, and with nothing given looks at the stored definition', async () => {
  const { client } = await newOrganization();
  const agent = await create(client, { workflow_definition: withSecrets() });
  const validate = async (body?: unknown) => (await client.post(`/workflow/${agent.id}/validate`, body)).body;
  expect(await validate()).toEqual({ valid: true, errors: [], warnings: [] });
  expect(await validate({})).toEqual({ valid: true, errors: [], warnings: [] });
  const wrong = await validate({ workflow_definition: { nodes: [], edges: [] } });
  expect(wrong.valid).toBe(false);
  expect(wrong.errors.length).toBeGreaterThan(0);
  expect(wrong.errors[0]).toEqual({
    loc: expect.arrayContaining(['body', 'workflow_definition']),
    msg: expect.any(String),
    type: expect.any(String),
  });
  const oddNodes = [null, 5, { id: 'book' }, { id: 'book', data: null }, { id: 'book', data: { tools: [null, 'x', { name: 'prices' }] } }];
  for (const nodes of [null, oddNodes, { book: {} }])
    expect(await validate({ workflow_definition: { nodes, edges: [null] } })).toMatchObject({ valid: false });
  expect((await client.get(`/workflow/${agent.id}`)).body).toEqual(agent);
});

test('the list shows active agents, newest first, by name and page; archived ones only when asked for', async () => {
  const { client } = await newOrganization();
  const agents = [];
  for (const name of ['Sales north', 'Support', 'Sales south']) agents.push(await create(client, { name }));
  const names = async (query = '') => {
    const { body } = await client.get(`/workflow/${query}`);
    return [body.workflows.map((one: { name: string }) => one.name), body.total];
  };
  expect(await names()).toEqual([['Sales south', 'Support', 'Sales north'], 3]);
  expect(await names('?search=sales')).toEqual([['Sales south', 'Sales north'], 2]);
  await client.put(`/workflow/${agents[2].id}/status`, { status: 'archived' });
  expect(await names()).toEqual([['Support', 'Sales north'], 2]);
  expect(await names('?status=archived')).toEqual([['Sales south'], 1]);
  const page = await client.get('/workflow?limit=1');
  expect(page.body).toMatchObject({ workflows: [{ id: agents[1].id }], total: 2, limit: 1, offset: 0 });
  const next = await client.get(`/workflow?limit=1&cursor=${page.body.next_cursor}`);
  expect(next.body).toMatchObject({ workflows: [{ id: agents[0].id }], next_cursor: null });
  expect((await client.get('/workflow?status=sleeping')).status).toBe(422);
  expect((await client.get('/workflow?limit=501')).status).toBe(422);
});

test('archiving and restoring may be repeated, and another status is refused', async () => {
  const { client } = await newOrganization();
  const agent = await create(client);
  const put = (status: unknown) => client.put(`/workflow/${agent.id}/status`, { status });
  for (const status of ['archived', 'archived', 'active', 'active'])
    expect(await put(status)).toMatchObject({ status: 200, body: { status } });
  expect((await put('sleeping')).status).toBe(422);
  expect((await client.put(`/workflow/${agent.id}/status`, {})).status).toBe(422);
  const restored = (await client.get(`/workflow/${agent.id}`)).body;
  expect(restored).toEqual({ ...agent, updated_at: restored.updated_at });
});

test('archiving tells the live campaigns of that agent alone; one that cannot be reached does not undo it', async () => {
  const { client, id: organizationId } = await newOrganization();
  const agent = await create(client);
  const other = await create(client, { name: 'Other' });
  const campaign = async (agentId: number, state: string) =>
    (await env.DB.prepare(
      `INSERT INTO campaign (organization_id, name, agent_id, state, source_type, source_id, source_options, max_concurrency, retry_config,
         schedule_config, circuit_breaker, created_at) VALUES (?, 'C', ?, ?, 'csv', 'x', '{}', 1, '{}', '{}', '{}', 1) RETURNING id`,
    )
      .bind(organizationId, agentId, state)
      .first<{ id: number }>())!.id;
  const live = await campaign(agent.id, 'running');
  await campaign(agent.id, 'completed');
  await campaign(other.id, 'running');
  const paused: string[] = [];
  vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation(
    (name: string) =>
      ({ pauseForArchivedAgent: async () => void paused.push(name) }) as unknown as ReturnType<typeof env.CAMPAIGN.getByName>,
  );
  await client.put(`/workflow/${agent.id}/status`, { status: 'archived' });
  expect(paused).toEqual([`${organizationId}/${live}`]);
  vi.mocked(env.CAMPAIGN.getByName).mockImplementation(() => {
    throw new Error('unreachable');
  });
  vi.spyOn(console, 'log').mockImplementation(() => {});
  expect((await client.put(`/workflow/${agent.id}/status`, { status: 'archived' })).body.status).toBe('archived');
});

test('another organization finds no agent, by any door', async () => {
  const { client } = await newOrganization();
  const agent = await create(client);
  const stranger = (await newOrganization()).client;
  const path = `/workflow/${agent.id}`;
  const answers = [
    await stranger.get(path),
    await stranger.put(path, { name: 'Mine' }),
    await stranger.put(`${path}/status`, { status: 'archived' }),
    await stranger.post(`${path}/validate`, {}),
    await stranger.get(`${path}/runs`),
  ];
  for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { detail: 'Voice agent not found' } });
  expect((await stranger.get('/workflow')).body.total).toBe(0);
  expect((await client.get(path)).body).toEqual(agent);
  expect((await client.get('/workflow/999999999')).status).toBe(404);
  expect((await client.get('/workflow/nought')).status).toBe(422);
});

test('a key that may only read sees agents and changes none', async () => {
  const { client } = await newOrganization();
  const agent = await create(client);
  const { api_key: key } = (await client.post('/user/api-keys', { name: 'r', scopes: ['read'] })).body;
  const { client: reader } = recordedClient(key);
  expect((await reader.get(`/workflow/${agent.id}`)).body).toEqual(agent);
  expect((await reader.get('/workflow')).body.total).toBe(1);
  const refused = [
    await reader.post('/workflow/create/definition', { name: 'x', workflow_definition: salesAgent }),
    await reader.put(`/workflow/${agent.id}`, { name: 'x' }),
    await reader.put(`/workflow/${agent.id}/status`, { status: 'archived' }),
    await reader.post(`/workflow/${agent.id}/validate`, {}),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
});

test('an agent is read in one call to D1 beside that for the key, and no table is scanned', async () => {
  const { client, key } = await newOrganization();
  const agent = await create(client);
  const { client: watched, recording } = recordedClient(key);
  await watched.get(`/workflow/${agent.id}`);
  expect(recording.calls).toBeLessThanOrEqual(2);
  await watched.get('/workflow?search=a');
  await watched.put(`/workflow/${agent.id}`, { name: 'New' });
  const plans = await explainQueryPlans(recording);
  expect(plans.length).toBeGreaterThan(3);
  for (const { sql, plan } of plans) expect([sql, plan.filter((step) => /^SCAN (a|d|voice_agent\w*)\b/.test(step))]).toEqual([sql, []]);
});

test('a mask of a tool or webhook whose address leads elsewhere is refused, and names the secret to send again', async () => {
  const { client } = await newOrganization();
  const agent = await create(client, { workflow_definition: withSecrets([tool('prices', 'canary-prices')]) });
  const moved = JSON.parse(
    JSON.stringify(agent.workflow_definition).replaceAll(/https:\/\/[a-z.]+example\.com/g, 'https://thief.example.org'),
  );
  const refused = await client.put(`/workflow/${agent.id}`, { workflow_definition: moved });
  expect(refused.status).toBe(422);
  const places = refused.body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'));
  expect(places).toContain('body.workflow_definition.nodes.book.data.tools.0.http.headers.Authorization');
  expect(places).toContain('body.workflow_definition.nodes.hook.data.secret');
  expect(refused.body.detail[0].msg).toContain('give the secret itself once more');
  expect((await client.get(`/workflow/${agent.id}`)).body.current_definition_id).toBe(agent.current_definition_id);
});
