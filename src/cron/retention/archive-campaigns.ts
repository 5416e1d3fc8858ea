import { archivedPartKey, campaignRowKind, rowsPerPart } from '../../campaigns/rows/archived-rows.ts';
import { callCampaignObject, type RowRecord } from '../../campaigns/rpc.ts';
import {
  findCampaignsToArchive,
  registerCampaignPart,
  markArchived,
  markObjectDestroyed,
  type EndedCampaign,
} from './campaign-archive-store.ts';
import { retentionCutoff, type RetentionRule, type RetentionRun } from './rule.ts';

/** How many are looked at for one that can go. */
const candidatesPerPage = 20;

/**
 * Moves the rows of ended campaigns from their objects into files of the archive, one campaign a page, and then destroys the objects. After
 * a crash the campaign is archived again, into files with the same names.
 */
export const archiveCampaigns: RetentionRule = {
  table: 'campaign',
  setting: 'CAMPAIGN_RETENTION_DAYS',
  async removePage(run) {
    const campaigns = await findCampaignsToArchive(run.database, retentionCutoff(run, 'CAMPAIGN_RETENTION_DAYS'), candidatesPerPage);
    for (const campaign of campaigns) if (await archiveCampaign(run, campaign)) return true;
    return false;
  },
};

/** False: something still follows from its end. */
async function archiveCampaign(run: RetentionRun, campaign: EndedCampaign): Promise<boolean> {
  const { bindings, database } = run;
  const { id, organization_id: organizationId } = campaign;
  if (!campaign.is_archived) {
    const progress = await callCampaignObject(bindings, organizationId, id, (object) => object.progress());
    if (progress) await markArchived(database, campaign, { parts: await writeParts(run, campaign), progress });
  }
  if ((await callCampaignObject(bindings, organizationId, id, (object) => object.deleteArchived())) === 'busy') return false;
  await markObjectDestroyed(database, campaign);
  return true;
}

/** Returns the number of files. Each file is registered in `archive` before its rows are read. */
async function writeParts(
  { bindings, database, now }: RetentionRun,
  { id, organization_id: organizationId }: EndedCampaign,
): Promise<number> {
  const rowsAfter = async (after: number): Promise<RowRecord[]> =>
    (await callCampaignObject(bindings, organizationId, id, (object) => object.reportRows(after, rowsPerPart))) ?? [];
  let after = 0;
  for (let part = 0; ; part++) {
    const rows = await rowsAfter(after);
    if (rows.length === 0) return part;
    const name = archivedPartKey(organizationId, id, part);
    const contactIds = rows.flatMap((row) => row.contact_id ?? []);
    await registerCampaignPart(database, { organizationId, kind: campaignRowKind, name, contactIds }, now);
    // Read again, so that the file holds no contact that was erased before the file was registered.
    const lines = (await rowsAfter(after)).map((row) => JSON.stringify(row));
    await bindings.FILES.put(name, lines.join('\n'), { httpMetadata: { contentType: 'application/x-ndjson' } });
    after = rows.at(-1)!.row_number;
  }
}
