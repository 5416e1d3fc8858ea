import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { decodeCursor, type PageResult } from '../../http/pagination.ts';
import { readArchivedPage } from '../rows/archived-rows.ts';
import { withCalls, type RowWithCalls } from '../rows/row-calls.ts';
import { callCampaignObject, maxRowsPerCall, type RowRecord, type RowsPage, type RowsQuery } from '../rpc.ts';
import { existingCampaign } from '../store.ts';
import { campaignRecord, progressBeforeStart, progressRecord } from './records.ts';
import type { CampaignProgress, CampaignRecord, CampaignRowQuery } from '../schemas.ts';

// A started campaign's object is the truth. A draft has no object, and neither has a campaign whose start broke off, until the tick wakes it.

/** A campaign as it is now. Throws 404. */
export async function readCampaign(context: Context, id: number): Promise<z.infer<typeof CampaignRecord>> {
  const row = await existingCampaign(context, id);
  if (row.state === 'draft' || row.archive) return campaignRecord(row);
  return campaignRecord(row, await callCampaignObject(context.bindings, context.organization.id, id, (object) => object.snapshot()));
}

/** The progress of a campaign as it is now. Throws 404. */
export async function readProgress(context: Context, id: number): Promise<z.infer<typeof CampaignProgress>> {
  const row = await existingCampaign(context, id);
  if (row.state === 'draft') return progressBeforeStart(row);
  if (row.archive) return progressRecord(row.archive.progress);
  const live = await callCampaignObject(context.bindings, context.organization.id, id, (object) => object.progress());
  return live ? progressRecord(live) : progressBeforeStart(row);
}

/** A page of a campaign's rows with their calls, in the order of their numbers. `apiUrl` as in `withCalls`. Throws 404. */
export async function readRows(
  context: Context,
  apiUrl: string,
  id: number,
  { state, limit, offset, cursor }: CampaignRowQuery,
): Promise<PageResult<RowWithCalls>> {
  const row = await existingCampaign(context, id);
  const from = (decodeCursor(cursor)?.id ?? 0) + offset;
  const query = { state, limit, offset: from };
  const { rows, total } =
    row.state === 'draft' ? emptyRowsPage : await (row.archive ? readArchivedPage(context, row, query) : readLiveRows(context, id, query));
  const end = from + rows.length;
  const next = rows.length > 0 && end < total ? { value: null, id: end } : null;
  return { rows: await withCalls(context, apiUrl, rows), total, next };
}

const emptyRowsPage: RowsPage = { rows: [], total: 0 };

async function readLiveRows({ bindings, organization }: Context, id: number, { state, limit, offset }: RowsQuery): Promise<RowsPage> {
  const all = { rows: [] as RowRecord[], total: 0 };
  for (let left = limit; left > 0; left -= maxRowsPerCall) {
    const query = { state, limit: Math.min(left, maxRowsPerCall), offset: offset + all.rows.length };
    const page = (await callCampaignObject(bindings, organization.id, id, (object) => object.rows(query))) ?? emptyRowsPage;
    all.rows.push(...page.rows);
    all.total = page.total;
    if (page.rows.length < query.limit) break;
  }
  return all;
}
