import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { newOrganization, type Client } from '../support/organization.ts';
import { explainQueryPlans, recordedClient } from '../support/recorded-database.ts';
import { salesAgent } from './agents.ts';

afterEach(() => vi.restoreAllMocks());

const withPrompt = (prompt: string, more: object[] = []) => ({
  ...salesAgent,
  nodes: [...salesAgent.nodes.map((node, index) => (index === 0 ? { ...node, data: { ...node.data, prompt } } : node)), ...more],
});
const hook = (secret: string) => ({
  id: 'hook',
  type: 'webhook',
  data: { url: `https://hook.example.com/?api_key=${secret}-in-url`, headers: { 'X-Api-Key': secret } },
});

/** An agent with versions, oldest first. */
async function agentWith(client: Client, ...definitions: object[]): Promise<{ id: number; versions: number[] }> {
  const [first, ...later] = definitions;
  const { body } = await client.post('/workflow/create/definition', { name: 'Sales', workflow_definition: first });
  const versions = [body.current_definition_id as number];
  for (const workflow_definition of later)
    versions.push((await client.put(`/workflow/${body.id}`, { workflow_definition })).body.current_definition_id);
  return { id: body.id, versions };
}

test('each change of the definition is a version, the newest first, and the current one is marked', async () => {
  const { client } = await newOrganization();
  const { id, versions } = await agentWith(client, withPrompt('one'), withPrompt('two'), withPrompt('two'), withPrompt('three'));
  expect(new Set(versions).size).toBe(3);
  const { body } = await client.get(`/workflow/${id}/versions`);
  expect(body).toMatchObject({ total: 3, next_cursor: null });
  expect(body.versions.map((version: any) => [version.id, version.is_current, version.restored_from])).toEqual([
    [versions[3], true, null],
    [versions[2], false, null],
    [versions[0], false, null],
  ]);
  expect(body.versions[0]).toMatchObject({ node_count: salesAgent.nodes.length, edge_count: salesAgent.edges.length });
  const first = await client.get(`/workflow/${id}/versions?limit=2`);
  const second = await client.get(`/workflow/${id}/versions?limit=2&cursor=${first.body.next_cursor}`);
  expect([...first.body.versions, ...second.body.versions]).toEqual(body.versions);
  expect((await client.get(`/workflow/${id}/versions/${versions[0]}`)).body.workflow_definition).toEqual(withPrompt('one'));
});

test('a diff names each change by its path, and goes to the current version unless told otherwise', async () => {
  const { client } = await newOrganization();
  const { id, versions } = await agentWith(client, withPrompt('one'), withPrompt('two', [hook('s-1')]), withPrompt('three'));
  const start = salesAgent.nodes[0]!.id;
  const { body } = await client.get(`/workflow/${id}/versions/${versions[0]}/diff`);
  expect(body).toEqual({
    from: versions[0],
    to: versions[2],
    total: 1,
    changes: [{ path: `/workflow_definition/nodes/${start}/data/prompt`, kind: 'changed', before: 'one', after: 'three' }],
  });
  const between = await client.get(`/workflow/${id}/versions/${versions[0]}/diff?to=${versions[1]}`);
  expect(between.body.changes.map(({ path, kind }: any) => [path, kind])).toEqual([
    [`/workflow_definition/nodes/${start}/data/prompt`, 'changed'],
    ['/workflow_definition/nodes/hook', 'added'],
  ]);
});

test('a secret that stays is no change, a new one is one, and neither is shown', async () => {
  const { client } = await newOrganization();
  const { id, versions } = await agentWith(
    client,
    withPrompt('one', [hook('canary-a')]),
    withPrompt('two', [hook('canary-a')]),
    withPrompt('two', [hook('canary-b')]),
  );
  const same = (await client.get(`/workflow/${id}/versions/${versions[0]}/diff?to=${versions[1]}`)).body;
  expect(same.changes.map(({ path }: any) => path)).toEqual([`/workflow_definition/nodes/${salesAgent.nodes[0]!.id}/data/prompt`]);
  const changed = await client.get(`/workflow/${id}/versions/${versions[1]}/diff?to=${versions[2]}`);
  expect(changed.body.changes.map(({ path }: any) => path)).toEqual([
    '/workflow_definition/nodes/hook/data/url',
    '/workflow_definition/nodes/hook/data/headers/X-Api-Key',
  ]);
  expect(changed.body.changes[1]).toMatchObject({ before: '****', after: '****' });
  const read = await client.get(`/workflow/${id}/versions/${versions[0]}`);
  for (const text of [JSON.stringify(changed.body), JSON.stringify(read.body)]) expect(text).not.toMatch(/canary|digest|sealed/);
});

test('an earlier version is restored as a new one with its secrets, and a repeat changes nothing', async () => {
  const { client } = await newOrganization();
  const { id, versions } = await agentWith(client, withPrompt('one', [hook('s-1')]), withPrompt('two'));
  const restored = await client.post(`/workflow/${id}/versions/${versions[0]}/restore`);
  expect(restored.status).toBe(200);
  expect(restored.body.current_definition_id).toBeGreaterThan(versions[1]!);
  const { body } = await client.get(`/workflow/${id}/versions`);
  expect(body.versions[0]).toMatchObject({ id: restored.body.current_definition_id, is_current: true, restored_from: versions[0] });
  expect((await client.get(`/workflow/${id}/versions/${versions[0]}/diff`)).body.changes).toEqual([]);
  await client.post(`/workflow/${id}/versions/${versions[0]}/restore`);
  await client.post(`/workflow/${id}/versions/${restored.body.current_definition_id}/restore`);
  expect((await client.get(`/workflow/${id}/versions`)).body.total).toBe(3);
});

const settings = (word: string) => ({
  template_context_variables: { company: word },
  call_disposition_codes: { [word]: 'They said so' },
  workflow_configurations: { voicemail_message: `This is ${word}`, language: 'en-US' },
});

test('a change of variables, disposition codes or configurations is a version; name, status, required tests and a repeat are none', async () => {
  const { client } = await newOrganization();
  const { id } = await agentWith(client, withPrompt('one'));
  const adversary = await agentWith(client, withPrompt('plays a customer'));
  const total = async () => (await client.get(`/workflow/${id}/versions`)).body.total;
  let known = await total();
  for (const [field, value] of Object.entries(settings('acme'))) {
    expect((await client.put(`/workflow/${id}`, { [field]: value })).status).toBe(200);
    expect(await total()).toBe((known += 1));
    await client.put(`/workflow/${id}`, { [field]: value });
    expect(await total()).toBe(known);
  }
  const required_tests = [{ adversary_workflow_id: adversary.id, config: { first_speaker: 'actor' } }];
  for (const change of [{ name: 'Other' }, { workflow_configurations: { required_tests } }, settings('acme')])
    expect((await client.put(`/workflow/${id}`, change)).status).toBe(200);
  await client.put(`/workflow/${id}/status`, { status: 'archived' });
  expect(await total()).toBe(known);
  const current = (await client.get(`/workflow/${id}/versions?limit=1`)).body.versions[0].id;
  const { body } = await client.get(`/workflow/${id}/versions/${current}`);
  const { workflow_configurations: configurations, ...plain } = settings('acme');
  expect(body).toMatchObject({ ...plain, workflow_configurations: configurations, workflow_definition: withPrompt('one') });
  expect(body.workflow_configurations).not.toHaveProperty('required_tests');
});

test('a diff and a restore are over settings, too, and a restore keeps the required tests and the name of the agent', async () => {
  const { client } = await newOrganization();
  const { id } = await agentWith(client, withPrompt('one'));
  const adversary = await agentWith(client, withPrompt('plays a customer'));
  const { current_definition_id: first } = (await client.put(`/workflow/${id}`, settings('acme'))).body;
  const required_tests = [{ adversary_workflow_id: adversary.id, config: { first_speaker: 'actor' } }];
  const changed = settings('umbrella');
  await client.put(`/workflow/${id}`, {
    ...changed,
    name: 'Renamed',
    workflow_configurations: { ...changed.workflow_configurations, language: null, tone_of_mind: 'calm', required_tests },
  });
  const { body: diff } = await client.get(`/workflow/${id}/versions/${first}/diff`);
  expect(diff.changes.map(({ path, kind }: any) => [path, kind])).toEqual([
    ['/template_context_variables/company', 'changed'],
    ['/call_disposition_codes/acme', 'removed'],
    ['/call_disposition_codes/umbrella', 'added'],
    ['/workflow_configurations/voicemail_message', 'changed'],
    ['/workflow_configurations/language', 'changed'],
    ['/workflow_configurations/tone_of_mind', 'added'],
  ]);
  const restored = await client.post(`/workflow/${id}/versions/${first}/restore`);
  expect(restored.status).toBe(200);
  expect(restored.body).toMatchObject({ name: 'Renamed', ...settings('acme'), workflow_configurations: { required_tests } });
  expect(restored.body.workflow_configurations).not.toHaveProperty('tone_of_mind');
  expect((await client.get(`/workflow/${id}/versions/${first}/diff`)).body.changes).toEqual([]);
  const { total } = (await client.get(`/workflow/${id}/versions`)).body;
  await client.post(`/workflow/${id}/versions/${first}/restore`);
  expect((await client.get(`/workflow/${id}/versions`)).body.total).toBe(total);
});

test('a version of an earlier release has the settings that the agent had until its next change', async () => {
  const { client } = await newOrganization();
  const { id, versions } = await agentWith(client, withPrompt('one'), withPrompt('two'));
  await client.put(`/workflow/${id}`, settings('acme'));
  await env.DB.prepare(
    `UPDATE voice_agent_definition SET template_context_variables = NULL, call_disposition_codes = NULL, workflow_configurations = NULL
     WHERE agent_id = ?`,
  )
    .bind(id)
    .run();
  const read = async () => (await client.get(`/workflow/${id}/versions/${versions[0]}`)).body;
  expect(await read()).toMatchObject(settings('acme'));
  await client.put(`/workflow/${id}`, { name: 'Renamed' });
  expect(await read()).toMatchObject(settings('acme'));
  await client.put(`/workflow/${id}`, settings('umbrella'));
  expect(await read()).toMatchObject(settings('acme'));
  const { body } = await client.get(`/workflow/${id}/versions/${versions[0]}/diff?to=${versions[1]}`);
  expect(body.changes.map(({ path }: any) => path)).toEqual([`/workflow_definition/nodes/${salesAgent.nodes[0]!.id}/data/prompt`]);
});

test('versions of another agent or organization are not found, and readers restore none', async () => {
  const [own, other] = [await newOrganization(), await newOrganization()];
  const agent = await agentWith(own.client, withPrompt('one'), withPrompt('two'));
  const second = await agentWith(own.client, withPrompt('three'));
  const path = `/workflow/${agent.id}/versions`;
  for (const tail of ['', `/${agent.versions[0]}`, `/${agent.versions[0]}/diff`])
    expect((await other.client.get(path + tail)).status).toBe(404);
  expect((await other.client.post(`${path}/${agent.versions[0]}/restore`)).status).toBe(404);
  expect((await own.client.get(`${path}/${second.versions[0]}`)).status).toBe(404);
  expect((await own.client.get(`${path}/${agent.versions[0]}/diff?to=${second.versions[0]}`)).status).toBe(404);
  expect((await own.client.get(`${path}/${agent.versions[0]}/diff?to=x`)).status).toBe(422);
  expect((await own.client.get(`${path}/0`)).status).toBe(422);
  for (const scope of ['read', 'operate'] as const) {
    const { client } = await newOrganization({ scopes: [scope] });
    expect((await client.post(`${path}/${agent.versions[0]}/restore`)).status).toBe(403);
  }
});

test('versions are found along an index', async () => {
  const { client, key } = await newOrganization();
  const { id, versions } = await agentWith(client, withPrompt('one'), withPrompt('two'));
  const { client: recorded, recording } = recordedClient(key);
  await recorded.get(`/workflow/${id}/versions`);
  await recorded.get(`/workflow/${id}/versions/${versions[0]}/diff`);
  for (const { plan } of await explainQueryPlans(recording))
    expect(plan.join('\n')).not.toMatch(/SCAN (d|a|voice_agent|voice_agent_definition)\b/);
});
