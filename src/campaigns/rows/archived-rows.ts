import type { Context } from '../../context.ts';
import type { CampaignProgress, RowRecord, RowsPage, RowsQuery } from '../rpc.ts';

/** The value of `archive.kind` for files of campaign rows. */
export const campaignRowKind = 'campaign_row';

/** Rows a file: the variables of a row may have 64 KiB. */
export const rowsPerPart = 100;

/** What a campaign's row keeps once its rows are in files. */
export interface ArchivedCampaign {
  parts: number;
  progress: CampaignProgress;
}

interface CampaignWithArchive {
  id: number;
  archive: ArchivedCampaign | null;
}

/** The key in R2 of a part of a campaign's rows, one JSON object a line. `part` counts from 0. */
export const archivedPartKey = (organizationId: number, campaignId: number, part: number): string =>
  `archive/${organizationId}/${campaignRowKind}/${campaignId}-${part}.ndjson`;

/** All rows in the order of their numbers, a file at a time. Deleted files are left out. */
export async function* readArchivedPages(
  { bindings, organization }: Context,
  { id, archive }: CampaignWithArchive,
): AsyncGenerator<RowRecord[]> {
  for (let part = 0; part < (archive?.parts ?? 0); part++) {
    const file = await bindings.FILES.get(archivedPartKey(organization.id, id, part));
    const text = (await file?.text()) ?? '';
    if (text) yield text.split('\n').map((line) => JSON.parse(line) as RowRecord);
  }
}

/** A page of the archived rows. */
export async function readArchivedPage(
  context: Context,
  campaign: CampaignWithArchive,
  { state, limit, offset }: RowsQuery,
): Promise<RowsPage> {
  const rows: RowRecord[] = [];
  let total = 0;
  for await (const part of readArchivedPages(context, campaign)) {
    const matching = part.filter((row) => state === undefined || row.state === state);
    rows.push(...matching.slice(Math.max(0, offset - total), Math.max(0, offset + limit - total)));
    total += matching.length;
  }
  return { rows, total };
}
