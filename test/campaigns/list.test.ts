import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { recordedClient, rowsRead } from '../support/recorded-database.ts';
import { newOrganization } from '../support/organization.ts';
import { linesLoggedBy } from '../http/service.ts';
import { draft, newAgent } from './campaign-service.ts';

const csv = 'phone\n+12123456001\n';

/** Inserts `count` drafts at once; returns the id of the newest. */
async function drafts(organizationId: number, count: number): Promise<number> {
  const agent = await newAgent(organizationId);
  await env.DB.prepare(
    `WITH RECURSIVE serial(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM serial WHERE n < ?3)
     INSERT INTO campaign (organization_id, name, agent_id, state, source_type, source_id, source_options, max_concurrency, retry_config,
       schedule_config, circuit_breaker, created_at)
     SELECT ?1, 'Wave ' || n, ?2, 'draft', 'csv', 'none', '{}', 5, '{}', '{}', '{}', 1764000000000 FROM serial`,
  )
    .bind(organizationId, agent, count)
    .run();
  const row = await env.DB.prepare('SELECT max(id) AS id FROM campaign WHERE organization_id = ?')
    .bind(organizationId)
    .first<{ id: number }>();
  return row!.id;
}

const idsOf = (campaigns: { id: number }[]) => campaigns.map(({ id }) => id);

describe('the list of campaigns', () => {
  test('without limit has every campaign, newest first, however many they are', async () => {
    const { client, id } = await newOrganization();
    const other = await newOrganization();
    await drafts(other.id, 3);
    const newest = await drafts(id, 1_234);
    const { status, body, headers } = await client.get('/campaign/');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    const { campaigns, ...rest } = body;
    expect(rest).toEqual({ total: 1_234, limit: 1_234, offset: 0, next_cursor: null });
    expect(idsOf(campaigns)).toEqual(Array.from({ length: 1_234 }, (_, index) => newest - index));
    expect(campaigns[0]).toEqual((await client.get(`/campaign/${newest}`)).body);
  });

  test('of exactly a page, and of one more, is whole', async () => {
    for (const count of [500, 501, 1_000, 1_001]) {
      const { client, id } = await newOrganization();
      await drafts(id, count);
      const { campaigns, ...rest } = (await client.get('/campaign')).body;
      expect([new Set(idsOf(campaigns)).size, rest]).toEqual([count, { total: count, limit: count, offset: 0, next_cursor: null }]);
    }
  });

  test('without limit goes by its filters, its offset and its cursor', async () => {
    const { client, id } = await newOrganization();
    const newest = await drafts(id, 1_100);
    const { body: named } = await client.get('/campaign/?search=wave%2010');
    expect([named.total, named.campaigns.length]).toEqual([111, 111]);
    const { body: later } = await client.get('/campaign/?offset=7');
    expect([later.campaigns[0].id, later.campaigns.length, later.total, later.offset]).toEqual([newest - 7, 1_093, 1_100, 7]);
    const { next_cursor } = (await client.get('/campaign/?limit=10')).body;
    const { body: after } = await client.get(`/campaign/?cursor=${next_cursor}`);
    expect([after.campaigns[0].id, after.campaigns.length, after.total]).toEqual([newest - 10, 1_090, 1_100]);
    expect((await client.get('/campaign/?state=running')).body).toMatchObject({ campaigns: [], total: 0 });
    expect((await client.get('/campaign/?offset=5000')).body).toMatchObject({ campaigns: [], total: 1_100, offset: 5_000 });
  });

  test('with limit is a page', async () => {
    const { client, id } = await newOrganization();
    await drafts(id, 60);
    const { campaigns, ...rest } = (await client.get('/campaign/?limit=50')).body;
    expect([campaigns.length, rest]).toEqual([50, { total: 60, limit: 50, offset: 0, next_cursor: expect.any(String) }]);
    const { body } = await client.get(`/campaign/?limit=50&cursor=${rest.next_cursor}`);
    expect([body.campaigns.length, body.next_cursor]).toEqual([10, null]);
  });

  test('reads its rows by the index, a page a call', async () => {
    const { key, id } = await newOrganization();
    await drafts(id, 2_100);
    const recorded = recordedClient(key);
    expect((await recorded.client.get('/campaign/')).body.campaigns).toHaveLength(2_100);
    expect(recorded.recording.calls).toBeLessThanOrEqual(7);
    // The total is counted once; each row is read with the name of its agent.
    expect(rowsRead(recorded.recording)).toBeLessThan(2_100 * 4);
  });

  test('breaks off rather than end early when a later page cannot be read', async () => {
    const { key, id } = await newOrganization();
    await drafts(id, 1_001);
    let pages = 0;
    const beforeCall = async (sql: string[]) => {
      if (sql.join().includes('ORDER BY id DESC') && ++pages > 1) throw new Error('no such database');
    };
    const lines = await linesLoggedBy(() => expect(recordedClient(key, { beforeCall }).client.get('/campaign/')).rejects.toThrow());
    expect(lines.join('\n')).toContain('a list of campaigns broke off');
  });

  test('is the organization’s alone', async () => {
    const { client } = await newOrganization();
    const other = await newOrganization();
    await draft(other.client, other.id, csv);
    expect((await client.get('/campaign/')).body).toEqual({ campaigns: [], total: 0, limit: 0, offset: 0, next_cursor: null });
  });
});
