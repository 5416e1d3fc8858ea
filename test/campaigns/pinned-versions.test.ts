import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { loadCallSetup } from '../../src/calls/live-call/call-setup.ts';
import { callingOrganization } from '../support/carrier.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { farWindow, rowsRead, stateOf, uploaded } from './campaign-service.ts';

afterEach(() => vi.restoreAllMocks());

async function newVersion(client: Client, agentId: number, greeting: string): Promise<number> {
  const { body } = await client.get(`/workflow/${agentId}`);
  const { nodes, edges } = body.workflow_definition;
  const changed = nodes.map((node: any) => (node.type === 'startCall' ? { ...node, data: { ...node.data, greeting } } : node));
  return (await client.put(`/workflow/${agentId}`, { workflow_definition: { nodes: changed, edges } })).body.current_definition_id;
}

const createCampaign = async (client: Client, agentId: number, more: object) => {
  const source_id = await uploaded(client, `phone\n${newPhone()}\n${newPhone()}\n`);
  return client.post('/campaign/create', { name: 'Spring', workflow_id: agentId, source_type: 'csv', source_id, ...more });
};

const definitionsOfCalls = (campaignId: number, count: number): Promise<number[]> =>
  vi.waitFor(
    async () => {
      const { results } = await env.DB.prepare('SELECT definition_id FROM voice_agent_run WHERE campaign_id = ?')
        .bind(campaignId)
        .all<{ definition_id: number }>();
      expect(results).toHaveLength(count);
      return results.map(({ definition_id: id }) => id);
    },
    { timeout: 15_000, interval: 20 },
  );

test('calls of a campaign have the version that it pins, and without a pin the one that is current when they are dialled', async () => {
  const { client, agentId } = await callingOrganization();
  const pinned = (await client.get(`/workflow/${agentId}`)).body.current_definition_id;
  const [withPin, without] = [
    await createCampaign(client, agentId, { definition_id: pinned }),
    await createCampaign(client, agentId, {}),
  ].map(({ body }) => body);
  expect([withPin.definition_id, without.definition_id]).toEqual([pinned, null]);
  const current = await newVersion(client, agentId, 'Good day');
  for (const { id } of [withPin, without]) expect((await client.post(`/campaign/${id}/start`)).status).toBe(200);
  expect(await definitionsOfCalls(withPin.id, 2)).toEqual([pinned, pinned]);
  expect(await definitionsOfCalls(without.id, 2)).toEqual([current, current]);
});

test('calls of a pinned version have its variables, dispositions and configurations, whatever the agent has become', async () => {
  const { client, agentId, id: organizationId } = await callingOrganization();
  const context = (await backgroundContext(env, organizationId, () => undefined))!;
  const settings = (word: string) => ({
    template_context_variables: { company: word },
    call_disposition_codes: { [word]: 'They said so' },
    workflow_configurations: { voicemail_message: `This is ${word}`, recording_enabled: word === 'umbrella', max_call_duration: 77 },
  });
  const pinned = (await client.put(`/workflow/${agentId}`, settings('acme'))).body.current_definition_id;
  const campaigns = [await createCampaign(client, agentId, { definition_id: pinned }), await createCampaign(client, agentId, {})];
  await client.put(`/workflow/${agentId}`, settings('umbrella'));
  for (const [index, word] of ['acme', 'umbrella'].entries()) {
    const { id } = campaigns[index]!.body;
    expect((await client.post(`/campaign/${id}/start`)).status).toBe(200);
    await definitionsOfCalls(id, 2);
    const { results } = await env.DB.prepare('SELECT id FROM voice_agent_run WHERE campaign_id = ?').bind(id).all<{ id: number }>();
    const setup = (await loadCallSetup(context, results[0]!.id))!.facts;
    expect(setup.initialContext).toMatchObject({ company: word });
    expect(setup.dispositionCodes).toEqual({ [word]: 'They said so' });
    expect(setup.configurations).toMatchObject(settings(word).workflow_configurations);
  }
});

test('a pin is changed and taken away in draft and while paused, and in no other state', async () => {
  const { client, agentId } = await callingOrganization();
  const first = (await client.get(`/workflow/${agentId}`)).body.current_definition_id;
  const second = await newVersion(client, agentId, 'Good day');
  const { body } = await createCampaign(client, agentId, { schedule_config: farWindow() });
  const path = `/campaign/${body.id}`;
  expect((await client.patch(path, { definition_id: first })).body.definition_id).toBe(first);
  expect((await client.patch(path, { name: 'Summer' })).body).toMatchObject({ name: 'Summer', definition_id: first });
  await client.post(`${path}/start`);
  await rowsRead(client, body.id);
  expect((await client.patch(path, { definition_id: second })).status).toBe(409);
  await client.post(`${path}/pause`);
  expect((await client.patch(path, { definition_id: second, max_concurrency: 1 })).body).toMatchObject({
    definition_id: second,
    max_concurrency: 1,
  });
  expect((await client.get(path)).body.definition_id).toBe(second);
  expect((await client.patch(path, { definition_id: null })).body.definition_id).toBeNull();
  await client.post(`${path}/cancel`);
  await stateOf(client, body.id, 'cancelled');
  expect((await client.patch(path, { definition_id: second })).status).toBe(409);
});

test('a version of another agent or organization cannot be pinned, and an unsound one cannot be started', async () => {
  const { client, agentId } = await callingOrganization();
  const other = await newOrganization();
  const { body: foreign } = await other.client.post('/workflow/create/definition', { name: 'Other', workflow_definition: {} });
  const { body: sibling } = await client.post('/workflow/create/definition', { name: 'Sibling', workflow_definition: {} });
  for (const { current_definition_id: id } of [foreign, sibling])
    expect((await createCampaign(client, agentId, { definition_id: id })).status).toBe(404);
  expect((await createCampaign(client, agentId, { definition_id: 'x' })).status).toBe(422);
  const sound = (await client.get(`/workflow/${agentId}`)).body;
  const { body: broken } = await client.put(`/workflow/${agentId}`, { workflow_definition: { nodes: [], edges: [] } });
  await client.put(`/workflow/${agentId}`, { workflow_definition: sound.workflow_definition });
  const { body: campaign } = await createCampaign(client, agentId, { definition_id: broken.current_definition_id });
  expect((await client.post(`/campaign/${campaign.id}/start`)).status).toBe(422);
});
