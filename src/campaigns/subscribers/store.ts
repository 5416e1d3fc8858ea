import type { Database } from '../../database/client.ts';

/** Ids after the id `after` of campaigns that were started and whose objects may still be there. */
export async function findStartedCampaignIds(database: Database, organizationId: number, after: number, limit: number): Promise<number[]> {
  const rows = await database.all<{ id: number }>(
    database.prepare(
      `SELECT id FROM campaign INDEXED BY campaign_kept WHERE organization_id = ? AND state <> 'draft' AND is_kept = 1 AND id > ? ORDER BY id LIMIT ?`,
      organizationId,
      after,
      limit,
    ),
  );
  return rows.map(({ id }) => id);
}
