import type { z } from '@hono/zod-openapi';
import type { Context } from '../accounts/context.ts';
import { decodeCursor, type Found } from '../http/pagination.ts';
import { archivedPage } from './archived-rows.ts';
import { campaignObject, rowsAtOnce } from './campaign-object.ts';
import { existingCampaign } from './existing-campaign.ts';
import { campaignRecord, noProgress, progressRecord } from './records.ts';
import type { RowRecord, RowsPage, RowsQuery } from './rows/live-campaign.ts';
import type { CampaignProgress, CampaignRecord, CampaignRowQuery } from './schemas.ts';

// From its start on a campaign is what its object says. A draft has none, and nor has one whose start broke off, until it is poked.

export async function readCampaign(context: Context, id: number): Promise<z.infer<typeof CampaignRecord>> {
  const row = await existingCampaign(context, id);
  if (row.state === 'draft' || row.archive) return campaignRecord(row);
  return campaignRecord(row, await campaignObject(context.bindings, context.organization.id, id, (object) => object.snapshot()));
}

export async function readProgress(context: Context, id: number): Promise<z.infer<typeof CampaignProgress>> {
  const row = await existingCampaign(context, id);
  if (row.state === 'draft') return noProgress(row);
  if (row.archive) return progressRecord(row.archive.progress);
  const live = await campaignObject(context.bindings, context.organization.id, id, (object) => object.progress());
  return live ? progressRecord(live) : noProgress(row);
}

/** Rows in the order of their numbers. */
export async function readRows(
  context: Context,
  id: number,
  { state, limit, offset, cursor }: CampaignRowQuery,
): Promise<Found<RowRecord>> {
  const row = await existingCampaign(context, id);
  const from = (decodeCursor(cursor)?.id ?? 0) + offset;
  const query = { state, limit, offset: from };
  const { rows, total } =
    row.state === 'draft' ? noRows : await (row.archive ? archivedPage(context, row, query) : rowsOf(context, id, query));
  const seen = from + rows.length;
  return { rows, total, next: rows.length > 0 && seen < total ? { value: null, id: seen } : null };
}

const noRows: RowsPage = { rows: [], total: 0 };

async function rowsOf({ bindings, organization }: Context, id: number, { state, limit, offset }: RowsQuery): Promise<RowsPage> {
  const all = { rows: [] as RowRecord[], total: 0 };
  for (let wanted = limit; wanted > 0; wanted -= rowsAtOnce) {
    const query = { state, limit: Math.min(wanted, rowsAtOnce), offset: offset + all.rows.length };
    const page = (await campaignObject(bindings, organization.id, id, (object) => object.rows(query))) ?? noRows;
    all.rows.push(...page.rows);
    all.total = page.total;
    if (page.rows.length < query.limit) break;
  }
  return all;
}
