import { isNotInTransitSql } from '../../database/transit.ts';
import { and, eq } from 'drizzle-orm';
import type { ArchivedCampaign } from '../../campaigns/rows/archived-rows.ts';
import type { Database } from '../../database/client.ts';
import { roundRobinQuery } from '../../database/round-robin-query.ts';
import { campaign } from '../../database/schema/campaigns.ts';
import type { OldRow } from './old-rows-store.ts';

export interface EndedCampaign extends OldRow {
  /** Its rows are in files already. */
  is_archived: number;
}

/** Campaigns that ended before `before` and whose objects may still exist, with organizations in turns. */
export const findCampaignsToArchive = (database: Database, before: number, limit: number): Promise<EndedCampaign[]> =>
  database.all(
    database.prepare<EndedCampaign>(
      roundRobinQuery(
        'id, organization_id, is_archived',
        `(SELECT id, organization_id, completed_at, archive IS NOT NULL AS is_archived FROM campaign
          WHERE completed_at < ? AND is_kept = 1 AND ${isNotInTransitSql('organization_id')})`,
        'completed_at',
      ),
      before,
      limit,
    ),
  );

/** Registers a file that is about to be written, with the contacts that it names. */
export async function registerCampaignPart(
  database: Database,
  part: { organizationId: number; kind: string; name: string; contactIds: number[] },
  now: number,
): Promise<void> {
  await database.batch(
    [
      database.prepare(
        `INSERT INTO archive (organization_id, kind, name, created_at) VALUES (?, ?, ?, ?)
         ON CONFLICT (organization_id, name) DO UPDATE SET created_at = excluded.created_at`,
        part.organizationId,
        part.kind,
        part.name,
        now,
      ),
      database.prepare(
        `INSERT OR IGNORE INTO archive_contact (contact_id, archive_id)
         SELECT j.value, a.id FROM json_each(?1) j CROSS JOIN archive a WHERE a.organization_id = ?2 AND a.name = ?3`,
        JSON.stringify(part.contactIds),
        part.organizationId,
        part.name,
      ),
    ],
    'archive.name',
  );
}

const isCampaign = ({ id, organization_id }: OldRow) => and(eq(campaign.id, id), eq(campaign.organizationId, organization_id));

export async function markArchived(database: Database, row: OldRow, archive: ArchivedCampaign): Promise<void> {
  const query = database.orm
    .update(campaign)
    .set({ archive: { ...archive } })
    .where(isCampaign(row));
  await database.write(() => query, 'idempotent');
}

/** Its object has gone. */
export async function markObjectDestroyed(database: Database, row: OldRow): Promise<void> {
  await database.write(() => database.orm.update(campaign).set({ isKept: false }).where(isCampaign(row)), 'idempotent');
}
