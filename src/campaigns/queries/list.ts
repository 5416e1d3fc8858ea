import type { Context } from '../../context.ts';
import { decodeCursor, toListBody, type PageResult, type CursorPosition } from '../../http/pagination.ts';
import { streamText } from '../../http/streams/stream-text.ts';
import { campaignRecord } from './records.ts';
import type { CampaignList, CampaignQuery } from '../schemas.ts';
import { findCampaigns, findCampaignsUncounted, type CampaignRow } from '../store.ts';

const pageSize = 500;

/** The campaigns, newest first: one page with `limit`, else all. More than 500 campaigns are streamed as JSON. */
export async function listCampaigns(context: Context, query: CampaignQuery): Promise<CampaignList | ReadableStream<Uint8Array>> {
  const { database, organization, log } = context;
  const after = decodeCursor(query.cursor);
  const firstPage = await findCampaigns(database, organization.id, query, { ...query, limit: query.limit ?? pageSize, after });
  if (query.limit === undefined && firstPage.next) return streamText(log, 'a list of campaigns', streamEnvelope(context, query, firstPage));
  return toListBody('campaigns', { ...query, limit: query.limit ?? firstPage.rows.length }, firstPage, (row) => campaignRecord(row));
}

/** The JSON envelope of all campaigns, a page at a time. */
async function* streamEnvelope(context: Context, query: CampaignQuery, first: PageResult<CampaignRow>): AsyncGenerator<string> {
  let count = 0;
  for await (const rows of readPages(context, query, first)) {
    yield `${count === 0 ? '{"campaigns":[' : ','}${rows.map((row) => JSON.stringify(campaignRecord(row))).join(',')}`;
    count += rows.length;
  }
  const {
    campaigns: _,
    total,
    total_capped,
    ...rest
  } = toListBody('campaigns', { ...query, limit: count }, { ...first, next: null }, () => null);
  const counted = query.cursor === undefined ? { total: query.offset + count } : { total, total_capped };
  yield `],${JSON.stringify({ ...counted, ...rest }).slice(1)}`;
}

async function* readPages(
  { database, organization }: Context,
  filter: CampaignQuery,
  first: PageResult<CampaignRow>,
): AsyncGenerator<CampaignRow[]> {
  yield first.rows;
  for (let after: CursorPosition | null = first.next; after;) {
    const page = await findCampaignsUncounted(database, organization.id, filter, { limit: pageSize, offset: 0, after });
    yield page.rows;
    after = page.next;
  }
}
