import type { Context } from '../../context.ts';
import type { CampaignProgress, RowRecord, RowsPage, RowsQuery } from '../rpc.ts';

/** What `archive.kind` calls files of campaigns' rows. */
export const campaignRowKind = 'campaign_row';

/** Rows in a file: their variables may have 64 KiB each. */
export const rowsPerPart = 100;

/** What is known of a campaign whose rows are in files. */
export interface ArchivedCampaign {
  parts: number;
  progress: CampaignProgress;
}

interface CampaignWithArchive {
  id: number;
  archive: ArchivedCampaign | null;
}

/** Where R2 has a part of a campaign's rows, one JSON a line. `part` counts from 0. */
export const archivedPartKey = (organizationId: number, campaignId: number, part: number): string =>
  `archive/${organizationId}/${campaignRowKind}/${campaignId}-${part}.ndjson`;

/** All rows in order of their numbers, a file at a time. Files whose time is over are left out. */
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

/** A page of them. */
export async function readArchivedPage(
  context: Context,
  campaign: CampaignWithArchive,
  { state, limit, offset }: RowsQuery,
): Promise<RowsPage> {
  const rows: RowRecord[] = [];
  let total = 0;
  for await (const part of readArchivedPages(context, campaign)) {
    const fitting = part.filter((row) => state === undefined || row.state === state);
    rows.push(...fitting.slice(Math.max(0, offset - total), Math.max(0, offset + limit - total)));
    total += fitting.length;
  }
  return { rows, total };
}
