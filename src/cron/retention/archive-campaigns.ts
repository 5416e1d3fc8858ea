import { archivedPartKey, campaignRowKind, rowsInPart } from '../../campaigns/archived-rows.ts';
import { campaignObject } from '../../campaigns/campaign-object.ts';
import type { RowRecord } from '../../campaigns/rows/live-campaign.ts';
import { campaignsToArchive, listCampaignPart, markArchived, markGone, type EndedCampaign } from './campaign-archive-store.ts';
import { keptSince, type RetentionRule, type Sweeping } from './rule.ts';

/** How many are looked at for one that can go. */
const lookedAt = 20;

/**
 * Moves the rows of ended campaigns from their objects into files of the archive, one campaign a page, then lets the objects go. A crash
 * repeats the campaign, whose files have the same names.
 */
export const archiveCampaigns: RetentionRule = {
  table: 'campaign',
  setting: 'CAMPAIGN_RETENTION_DAYS',
  async removePage(sweeping) {
    const campaigns = await campaignsToArchive(sweeping.database, keptSince(sweeping, 'CAMPAIGN_RETENTION_DAYS'), lookedAt);
    for (const campaign of campaigns) if (await archiveCampaign(sweeping, campaign)) return true;
    return false;
  },
};

/** False: something still follows from its end. */
async function archiveCampaign(sweeping: Sweeping, campaign: EndedCampaign): Promise<boolean> {
  const { bindings, database } = sweeping;
  const { id, organization_id: organizationId } = campaign;
  if (!campaign.is_archived) {
    const progress = await campaignObject(bindings, organizationId, id, (object) => object.progress());
    if (progress) await markArchived(database, campaign, { parts: await writeParts(sweeping, campaign), progress });
  }
  if ((await campaignObject(bindings, organizationId, id, (object) => object.forget())) === 'busy') return false;
  await markGone(database, campaign);
  return true;
}

/** Answers how many files there are. Each is written down before its rows are read for it. */
async function writeParts({ bindings, database, now }: Sweeping, { id, organization_id: organizationId }: EndedCampaign): Promise<number> {
  const rowsAfter = async (after: number): Promise<RowRecord[]> =>
    (await campaignObject(bindings, organizationId, id, (object) => object.reportRows(after, rowsInPart))) ?? [];
  let after = 0;
  for (let part = 0; ; part++) {
    const rows = await rowsAfter(after);
    if (rows.length === 0) return part;
    const name = archivedPartKey(organizationId, id, part);
    const contactIds = rows.flatMap((row) => row.contact_id ?? []);
    await listCampaignPart(database, { organizationId, kind: campaignRowKind, name, contactIds }, now);
    // Read again: a contact that was erased before the file was written down is not in it.
    const lines = (await rowsAfter(after)).map((row) => JSON.stringify(row));
    await bindings.FILES.put(name, lines.join('\n'), { httpMetadata: { contentType: 'application/x-ndjson' } });
    after = rows.at(-1)!.row_number;
  }
}
