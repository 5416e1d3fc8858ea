import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { findLiveCampaignIds, findOverdueCampaigns } from '../../src/campaigns/store.ts';
import { Database } from '../../src/database/client.ts';
import { newOrganization } from '../support/organization.ts';
import { explainQueryPlans, recordedClient, recordedDatabase, rowsRead, type Recording } from '../support/recorded-database.ts';
import { draft } from './campaign-service.ts';

const file = 'phone\n+12123456001\n';

/** Copies of a campaign in another organization's name. */
const multiply = (campaign: number, organizationId: number, count: number, state: string) =>
  env.DB.prepare(
    `INSERT INTO campaign (organization_id, name, agent_id, state, source_type, source_id, source_options, max_concurrency, retry_config,
       schedule_config, circuit_breaker, created_at)
     SELECT ?, name, agent_id, ?, source_type, source_id, source_options, max_concurrency, retry_config, schedule_config, circuit_breaker,
       created_at FROM campaign CROSS JOIN (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n)
     WHERE id = ?`,
  )
    .bind(organizationId, state, count, campaign)
    .run();

test('no call reads more because other organizations have campaigns, and none goes without an index', async () => {
  const { client, id, key } = await newOrganization();
  const { id: campaign, workflow_id } = await draft(client, id, file);
  const look = async () => {
    const { client: own, recording } = recordedClient(key);
    await own.get('/campaign?search=spring&state=draft');
    await own.get(`/campaign/${campaign}`);
    await own.patch(`/campaign/${campaign}`, { max_concurrency: 3 });
    const database = new Database(recordedDatabase(env.DB, recording), true);
    await findLiveCampaignIds(database, id, workflow_id, 0, 500);
    await findLiveCampaignIds(database, id, null, 0, 500);
    await findOverdueCampaigns(database, 1000, 500);
    return recording;
  };
  const before: Recording = await look();
  const other = await newOrganization();
  await multiply(campaign, other.id, 5000, 'running');
  const after = await look();
  // A stretch of an index may end at another organization's entry, which is looked at.
  expect(rowsRead(after)).toBeLessThanOrEqual(rowsRead(before) + 5);
  for (const { sql, plan } of await explainQueryPlans(after)) {
    expect([sql, plan.filter((step) => /^SCAN (campaign|voice_agent)\b/.test(step))]).toEqual([sql, []]);
    if (/\bcampaign\b/.test(sql) && !sql.includes('wake_at <')) expect(sql).toContain('organization_id = ?');
  }
});
