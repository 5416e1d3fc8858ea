import { env } from 'cloudflare:workers';
import { afterEach, expect, test, vi } from 'vitest';
import type { RowRecord } from '../../src/campaigns/rpc.ts';
import { insertCall } from '../calls/listed-calls.ts';
import { newOrganization } from '../support/organization.ts';
import { readWorkbook } from '../support/read-workbook.ts';
import { recordedClient } from '../support/recorded-database.ts';
import { draft } from './campaign-service.ts';

afterEach(() => vi.restoreAllMocks());

const row = (row_number: number, run_ids: number[], change: Partial<RowRecord> = {}): RowRecord => ({
  id: row_number,
  row_number,
  phone: '+12123456001',
  contact_id: null,
  state: 'completed',
  outcome: 'completed',
  reason: null,
  attempts: run_ids.length,
  next_attempt_at: null,
  run_ids,
  variables: { city: 'Rome' },
  ...change,
});

/** A campaign whose first row was called twice, with a talk the second time, and whose second row was never called. */
async function calledCampaign() {
  const organization = await newOrganization();
  const campaign = await draft(organization.client, organization.id, 'phone\n+12123456001\n');
  const definition = {
    nodes: [
      { id: 'start', type: 'startCall', data: { extraction_enabled: true, extraction_variables: [{ name: 'day' }, { name: 'city' }] } },
      { id: 'off', type: 'endCall', data: { extraction_enabled: false, extraction_variables: [{ name: 'never' }] } },
    ],
    edges: [],
  };
  await env.DB.batch([
    env.DB.prepare('UPDATE voice_agent_definition SET definition = ? WHERE agent_id = ?').bind(
      JSON.stringify(definition),
      campaign.workflow_id,
    ),
    env.DB.prepare("UPDATE campaign SET state = 'running', started_at = ? WHERE id = ?").bind(Date.now(), campaign.id),
  ]);
  const agentId = campaign.workflow_id as number;
  const busy = await insertCall(organization.id, { agentId, campaignId: campaign.id, outcome: 'busy' });
  const talk = await insertCall(organization.id, {
    agentId,
    campaignId: campaign.id,
    disposition: 'interested',
    talkSeconds: 61,
    said: 'She wants it',
    extracted: { day: 'Monday', city: 'Oslo' },
  });
  // 0: the run of the attempt is unknown. The last call is no longer stored.
  const rows = [row(1, [busy, 0, talk, 2 ** 45]), row(2, [], { state: 'skipped', outcome: null, reason: 'suppressed: asked' })];
  const object = {
    rows: async () => ({ rows, total: rows.length }),
    reportRows: async (after: number, limit: number) => rows.filter((one) => one.row_number > after).slice(0, limit),
  };
  vi.spyOn(env.CAMPAIGN, 'getByName').mockReturnValue(object as never);
  return { ...organization, campaign: campaign.id as number, agentId, busy, talk };
}

test('each row has its calls, what came of each, and what came of them in sum', async () => {
  const { client, campaign, agentId, busy, talk } = await calledCampaign();
  const { status, body } = await client.get(`/campaign/${campaign}/runs`);
  expect(status).toBe(200);
  const address = `https://service.test/api/v1/workflow/${agentId}/runs/${talk}`;
  expect(body.runs).toMatchObject([
    {
      row_number: 1,
      result: {
        disposition: 'interested',
        answered_by: 'person',
        summary: 'She wants it',
        sentiment: 'neutral',
        extracted_variables: { day: 'Monday', city: 'Oslo' },
        talk_seconds: 61,
        cost_usd: 0.02,
        run_url: address,
        transcript_url: `${address}/transcript`,
        recording_url: null,
      },
      calls: [
        { attempt: 1, run_id: busy, outcome: 'busy', disposition: null, talk_seconds: 0, cost_usd: 0.01 },
        { attempt: 3, run_id: talk, outcome: 'completed', disposition: 'interested', talk_seconds: 61, run_url: address },
      ],
    },
    { row_number: 2, calls: [], result: { disposition: null, talk_seconds: 0, cost_usd: 0, run_url: null } },
  ]);
});

test('the report has the same, with a column for each variable that the agent extracts', async () => {
  const { client, key, campaign, talk } = await calledCampaign();
  const lines = ((await client.get(`/campaign/${campaign}/report?format=jsonl`)).body as string)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { row_number: 1, disposition: 'interested', talk_seconds: 61, day: 'Monday', city: 'Oslo', city_variable: 'Rome' },
    { row_number: 2, reason: 'suppressed: asked', disposition: null, day: null, city: null, city_variable: 'Rome' },
  ]);
  expect(Object.keys(lines[0])).not.toContain('never');
  const attempts = (
    (await client.get(`/campaign/${campaign}/report?format=jsonl&per=attempt&columns=row_number,attempt,run_id,day`)).body as string
  )
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(attempts).toMatchObject([
    { row_number: 1, attempt: 1, day: null },
    { row_number: 1, attempt: 3, run_id: talk, day: 'Monday' },
    { row_number: 2, attempt: null, run_id: null, day: null },
  ]);
  const response = await recordedResponse(key, `/campaign/${campaign}/report?format=xlsx&columns=row_number,city,talk_seconds`);
  expect(await readWorkbook(response)).toEqual([
    {
      name: 'Rows',
      rows: [
        ['row_number', 'city', 'talk_seconds'],
        ['1', 'Oslo', '61'],
        ['2', '', '0'],
      ],
    },
  ]);
});

/** The bytes of an answer. */
async function recordedResponse(key: string, path: string): Promise<Uint8Array> {
  const { exports } = await import('cloudflare:workers');
  const response = await exports.default.fetch(new Request(`https://service.test/api/v1${path}`, { headers: { 'X-API-Key': key } }));
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

test('the calls of a page of rows are read with one query, and those of another organization are left out', async () => {
  const { key, campaign, id } = await calledCampaign();
  const { client, recording } = recordedClient(key);
  const { status } = await client.get(`/campaign/${campaign}/runs`);
  expect(status).toBe(200);
  expect(recording.statements.filter(({ sql }) => sql.includes('voice_agent_run'))).toHaveLength(1);
  await env.DB.prepare('UPDATE voice_agent_run SET organization_id = organization_id + 1000000 WHERE organization_id = ?').bind(id).run();
  expect((await client.get(`/campaign/${campaign}/runs`)).body.runs[0].calls).toEqual([]);
});
