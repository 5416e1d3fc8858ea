import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import type { CampaignRpc } from '../../src/campaigns/rpc.ts';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { pauseCampaignsOfAgent, endCampaignRowsOfContact } from '../../src/campaigns/subscribers.ts';
import { findOverdueCampaigns } from '../../src/campaigns/store.ts';
import { shard } from '../../src/database/shards.ts';
import { callingOrganization } from '../support/carrier.ts';
import { newOrganization, newPhone, type Client } from '../support/organization.ts';
import { draft, farWindow, newAgent, rowsRead, stateOf } from './campaign-service.ts';

const people = (count: number): string => `phone\n${Array.from({ length: count }, () => `${newPhone()}\n`).join('')}`;

/** A campaign of `count` people that has been started and waits for its window. */
async function waiting(count = 3, more: Record<string, unknown> = {}) {
  const organization = await callingOrganization();
  const { client, agentId } = organization;
  const { id } = await draft(client, organization.id, people(count), { workflow_id: agentId, schedule_config: farWindow(), ...more });
  const started = await client.post(`/campaign/${id}/start`);
  expect(started.status, JSON.stringify(started.body)).toBe(200);
  await rowsRead(client, id);
  return { ...organization, campaign: id as number, path: `/campaign/${id}`, started: started.body };
}

const contextOf = async (organizationId: number) => (await backgroundContext(env, organizationId, () => {}))!;

test('start answers syncing, and the record, the list and the progress have the rows that it reads', async () => {
  const { client, path, started, campaign } = await waiting(3);
  expect(started).toMatchObject({
    id: campaign,
    state: expect.stringMatching(/^(syncing|running)$/),
    started_at: expect.stringMatching(/Z$/),
  });
  const record = (await client.get(path)).body;
  expect(record).toMatchObject({ state: 'running', total_rows: 3, processed_rows: 0, in_flight: 0 });
  expect(record.logs.length).toBeGreaterThan(0);
  for (const entry of record.logs)
    expect(entry).toMatchObject({ at: expect.stringMatching(/Z$/), level: expect.any(String), message: expect.any(String) });
  expect((await client.get('/campaign')).body.campaigns).toMatchObject([{ id: campaign, state: 'running', logs: [] }]);
  const progress = (await client.get(`${path}/progress`)).body;
  expect(progress).toMatchObject({
    state: 'running',
    total_rows: 3,
    attempts: 0,
    reached_share: null,
    next_window_at: expect.stringMatching(/Z$/),
  });
  const counts = Object.values<number>(progress.rows);
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(3);
});

test('a campaign whose source has no rows ends, and says why', async () => {
  const { client, agentId } = await callingOrganization();
  const list = (await client.post('/contacts/lists', { name: 'Nobody yet' })).body;
  const body = { name: 'Empty', workflow_id: agentId, source_type: 'contact_list', source_id: String(list.id) };
  const { id } = (await client.post('/campaign/create', body)).body;
  expect((await client.post(`/campaign/${id}/start`)).status).toBe(200);
  await vi.waitFor(
    async () =>
      expect((await client.get(`/campaign/${id}`)).body).toMatchObject({ state: 'completed', state_reason: 'source_empty', total_rows: 0 }),
    { timeout: 10_000 },
  );
  const { logs } = (await client.get(`/campaign/${id}`)).body;
  expect(logs[0]).toMatchObject({ level: 'warning', event: 'completed', message: expect.stringContaining('no rows') });
});

test('a campaign is started once', async () => {
  const { client, path } = await waiting();
  const answers = [await client.post(`${path}/start`), await client.post(`${path}/start`)];
  for (const { status, body } of answers) expect([status, body.detail]).toEqual([409, expect.stringMatching(/running.*draft/)]);
});

test('of several starts at once one wins, and no row is there twice', async () => {
  const { client, id, agentId } = await callingOrganization();
  const campaign = (await draft(client, id, people(5), { workflow_id: agentId, schedule_config: farWindow() })).id;
  const answers = await Promise.all(Array.from({ length: 4 }, () => client.post(`/campaign/${campaign}/start`)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  await rowsRead(client, campaign);
  expect((await client.get(`/campaign/${campaign}/runs`)).body).toMatchObject({ total: 5 });
});

test('a start whose answer was lost is found done by its repetition, and is no conflict', async () => {
  const { client, id, agentId } = await callingOrganization();
  const campaign = (await draft(client, id, people(2), { workflow_id: agentId, schedule_config: farWindow() })).id;
  const real = env.CAMPAIGN.getByName.bind(env.CAMPAIGN);
  let lost = 0;
  const breaking = vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation((name) => {
    const object = real(name) as unknown as CampaignRpc;
    return {
      start: async (...call: Parameters<CampaignRpc['start']>) => {
        const answer = await object.start(...call);
        if (lost++ === 0) throw new Error('Network connection lost.');
        return answer;
      },
    } as never;
  });
  const started = await client.post(`/campaign/${campaign}/start`);
  breaking.mockRestore();
  expect([started.status, lost]).toEqual([200, 2]);
});

test('every action in the wrong state is 409 and names the state', async () => {
  const { client, path, id, agentId } = await waiting();
  const fresh = `/campaign/${(await draft(client, id, people(1), { workflow_id: agentId })).id}`;
  const refused = async (where: string, verb: string, state: string) => {
    const answer = await client.post(`${where}/${verb}`);
    expect([verb, answer.status, answer.body.detail]).toEqual([verb, 409, expect.stringContaining(state)]);
  };
  for (const verb of ['pause', 'resume', 'cancel', 'redial']) await refused(fresh, verb, 'draft');
  for (const verb of ['start', 'resume', 'redial']) await refused(path, verb, 'running');
  expect((await client.post(`${path}/pause`)).body.state).toBe('paused');
  for (const verb of ['start', 'pause']) await refused(path, verb, 'paused');
  expect((await client.post(`${path}/resume`)).body.state).toBe('running');
  expect((await client.post(`${path}/cancel`)).body.state).toBe('cancelled');
  for (const verb of ['start', 'pause', 'resume', 'cancel']) await refused(path, verb, 'cancelled');
});

test('PATCH is 409 while a campaign runs and when it has ended, and changes it when it is paused', async () => {
  const { client, path } = await waiting();
  const refused = await client.patch(path, { name: 'x' });
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringMatching(/running.*draft.*pause/)]);
  await client.post(`${path}/pause`);
  const before = (await client.get(path)).body;
  const changed = await client.patch(path, { name: 'Later', retry_config: { max_retries: 1 }, max_concurrency: 2 });
  expect([changed.status, changed.body]).toEqual([
    200,
    expect.objectContaining({
      name: 'Later',
      retry_config: { ...before.retry_config, max_retries: 1 },
      max_concurrency: 2,
      state: 'paused',
    }),
  ]);
  expect(changed.body.schedule_config).toEqual(before.schedule_config);
  expect((await client.get(path)).body).toEqual(changed.body);
  expect((await client.get('/campaign?search=later')).body.campaigns).toMatchObject([
    { max_concurrency: 2, retry_config: { max_retries: 1 } },
  ]);
  const wrong = await client.patch(path, { schedule_config: { timezone: 'Mars/Base' } });
  expect([wrong.status, wrong.body.detail[0].loc]).toEqual([422, ['body', 'schedule_config', 'timezone']]);
  expect((await client.patch(path, { max_concurrency: 101 })).status).toBe(400);
  await client.post(`${path}/cancel`);
  expect((await client.patch(path, { name: 'x' })).status).toBe(409);
});

test('a campaign that could never dial is not started: 409 names the cause, and it stays a draft', async () => {
  const { client, id } = await newOrganization();
  const agent = await newAgent(id);
  const silent = await draft(client, id, people(1), { workflow_id: agent });
  const archived = await draft(client, id, people(1), { workflow_id: await newAgent(id, 'archived') });
  for (const [campaign, word] of [
    [silent, 'telephony_not_configured'],
    [archived, 'agent_archived'],
  ]) {
    const answer = await client.post(`/campaign/${campaign.id}/start`);
    expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining(word)]);
    expect((await client.get(`/campaign/${campaign.id}`)).body).toEqual(campaign);
  }
});

test('a campaign whose file is gone fails with that reason', async () => {
  const { client, id, agentId } = await callingOrganization();
  const { id: campaign, source_id } = await draft(client, id, people(1), { workflow_id: agentId });
  await env.FILES.delete(`campaign_sources/${id}/${source_id}`);
  await client.post(`/campaign/${campaign}/start`);
  const failed = await stateOf(client, campaign, 'failed');
  expect(failed.state_reason).toContain('no longer in storage');
  expect((await client.post(`/campaign/${campaign}/redial`)).status).toBe(409);
});

test('an archived agent’s running campaigns pause with the reason; those of other agents go on', async () => {
  const first = await waiting();
  const { client, id, agentId } = first;
  const other = await draft(client, id, people(1), { workflow_id: await newAgent(id), schedule_config: farWindow() });
  await client.post(`/campaign/${other.id}/start`);
  await rowsRead(client, other.id);
  await pauseCampaignsOfAgent(await contextOf(id), agentId);
  expect((await client.get(first.path)).body).toMatchObject({ state: 'paused', state_reason: expect.stringContaining('agent_archived') });
  expect((await client.get(`/campaign/${other.id}`)).body).toMatchObject({ state: 'running' });
});

test('a deleted contact is called by no live campaign any more', async () => {
  const { client, id, agentId } = await callingOrganization();
  const contacts = (
    await client.post('/contacts/bulk-upsert', { list_name: 'All', contacts: [{ phone: newPhone() }, { phone: newPhone() }] })
  ).body.contacts;
  const list = (await client.get('/contacts/lists')).body.lists[0];
  const { body } = await client.post('/campaign/create', {
    name: 'x',
    workflow_id: agentId,
    source_type: 'contact_list',
    source_id: String(list.id),
    schedule_config: farWindow(),
  });
  await client.post(`/campaign/${body.id}/start`);
  await rowsRead(client, body.id);
  await endCampaignRowsOfContact(await contextOf(id), contacts[0].id);
  const { runs } = (await client.get(`/campaign/${body.id}/runs`)).body;
  const row = runs.find((one: { row_number: number }) => one.row_number === 1);
  expect(row).toMatchObject({ state: 'skipped', reason: expect.stringContaining('contact_deleted') });
  expect(runs.filter((one: { state: string }) => one.state === 'skipped').length).toBe(1);
});

test('an unreachable campaign of an agent does not hold up the others, and is reported', async () => {
  const { client, id, agentId, path, campaign } = await waiting();
  const second = await draft(client, id, people(1), { workflow_id: agentId, schedule_config: farWindow() });
  await client.post(`/campaign/${second.id}/start`);
  await rowsRead(client, second.id);
  const real = env.CAMPAIGN.getByName.bind(env.CAMPAIGN);
  const down = vi.spyOn(env.CAMPAIGN, 'getByName').mockImplementation((name) => {
    if (name === `${id}/${campaign}`) throw new Error('the object is out of reach');
    return real(name);
  });
  await expect(pauseCampaignsOfAgent(await contextOf(id), agentId)).rejects.toThrow('out of reach');
  down.mockRestore();
  expect((await client.get(`/campaign/${second.id}`)).body.state).toBe('paused');
  expect((await client.get(path)).body.state).toBe('running');
  await pauseCampaignsOfAgent(await contextOf(id), agentId);
  expect((await client.get(path)).body.state).toBe('paused');
});

test('rows are listed by state and page by page', async () => {
  const { client, id, agentId } = await callingOrganization();
  const file = `phone\n${newPhone()}\nx\n${newPhone()}\ny\nz\n`;
  const { id: campaign } = await draft(client, id, file, { workflow_id: agentId, schedule_config: farWindow() });
  await client.post(`/campaign/${campaign}/start`);
  await rowsRead(client, campaign);
  const page = async (query: string) => (await client.get(`/campaign/${campaign}/runs${query}`)).body;
  const numbers = (body: { runs: { row_number: number }[] }) => body.runs.map((row) => row.row_number);
  expect([numbers(await page('')), (await page('')).total]).toEqual([[1, 2, 3, 4, 5], 5]);
  expect([numbers(await page('?state=failed')), (await page('?state=failed')).total]).toEqual([[2, 4, 5], 3]);
  expect(numbers(await page('?limit=2&offset=1'))).toEqual([2, 3]);
  const first = await page('?limit=3&state=failed');
  expect(first.next_cursor).toBeNull();
  const two = await page('?limit=2');
  const next = await page(`?limit=2&cursor=${two.next_cursor}`);
  expect(numbers(next)).toEqual([3, 4]);
  expect(numbers(await page(`?limit=2&cursor=${next.next_cursor}`))).toEqual([5]);
  for (const query of ['?state=asleep', '?limit=0', '?cursor=x'])
    expect((await client.get(`/campaign/${campaign}/runs${query}`)).status).toBe(422);
});

test('overdue campaigns are found by the moment that their object should have woken at', async () => {
  const { id, client } = await newOrganization();
  const campaign = (await draft(client, id, people(1))).id;
  await env.DB.prepare('UPDATE campaign SET wake_at = 1000 WHERE id = ?').bind(campaign).run();
  const database = shard(env, 0);
  expect(await findOverdueCampaigns(database, 1001, 500)).toContainEqual({ id: campaign, organization_id: id });
  expect(await findOverdueCampaigns(database, 1000, 500)).not.toContainEqual({ id: campaign, organization_id: id });
  await env.DB.prepare('UPDATE campaign SET wake_at = NULL WHERE id = ?').bind(campaign).run();
});

const asText = (client: Client, path: string) => client.get(path).then(({ body }) => JSON.stringify(body));

test('a record contains no secret of the organization', async () => {
  const { client, path } = await waiting();
  for (const one of ['', '/progress', '/runs', '/report'])
    expect(await asText(client, `${path}${one}`)).not.toContain('a-token-of-the-test');
});

test('a start that broke off before its object was there can be paused', async () => {
  const { client, id, agentId } = await callingOrganization();
  const { id: campaign } = await draft(client, id, people(2), { workflow_id: agentId, schedule_config: farWindow() });
  await env.DB.prepare(`UPDATE campaign SET state = 'syncing', started_at = 1, wake_at = ? WHERE id = ?`).bind(Date.now(), campaign).run();
  expect((await client.get(`/campaign/${campaign}`)).body).toMatchObject({ state: 'syncing', total_rows: 2 });
  const paused = await client.post(`/campaign/${campaign}/pause`);
  expect([paused.status, paused.body.state]).toEqual([200, 'paused']);
  expect((await client.post(`/campaign/${campaign}/resume`)).status).toBe(200);
  await rowsRead(client, campaign);
  expect((await client.get(`/campaign/${campaign}/runs`)).body.total).toBe(2);
});
