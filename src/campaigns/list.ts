import type { Context } from '../accounts/context.ts';
import { decodeCursor, envelope, type Found, type Position } from '../http/pagination.ts';
import { streamedText } from '../http/streamed-text.ts';
import { campaignRecord } from './records.ts';
import type { CampaignList, CampaignQuery } from './schemas.ts';
import { findCampaigns, findMoreCampaigns, type CampaignRow } from './store.ts';

const pageSize = 500;

/** Newest first: a page where `limit` is given, else all, as JSON that is written while it is sent when they are more than a page. */
export async function listCampaigns(context: Context, query: CampaignQuery): Promise<CampaignList | ReadableStream<Uint8Array>> {
  const { database, organization, log } = context;
  const after = decodeCursor(query.cursor);
  const found = await findCampaigns(database, organization.id, query, { ...query, limit: query.limit ?? pageSize, after });
  if (query.limit === undefined && found.next) return streamedText(log, 'a list of campaigns', everything(context, query, found));
  return envelope('campaigns', { ...query, limit: query.limit ?? found.rows.length }, found, (row) => campaignRecord(row));
}

/** The envelope in pieces of a page. */
async function* everything(context: Context, query: CampaignQuery, first: Found<CampaignRow>): AsyncGenerator<string> {
  let count = 0;
  for await (const rows of pages(context, query, first)) {
    yield `${count === 0 ? '{"campaigns":[' : ','}${rows.map((row) => JSON.stringify(campaignRecord(row))).join(',')}`;
    count += rows.length;
  }
  const {
    campaigns: _,
    total,
    total_capped,
    ...rest
  } = envelope('campaigns', { ...query, limit: count }, { ...first, next: null }, () => null);
  const counted = query.cursor === undefined ? { total: query.offset + count } : { total, total_capped };
  yield `],${JSON.stringify({ ...counted, ...rest }).slice(1)}`;
}

async function* pages(
  { database, organization }: Context,
  filter: CampaignQuery,
  first: Found<CampaignRow>,
): AsyncGenerator<CampaignRow[]> {
  yield first.rows;
  for (let after: Position | null = first.next; after;) {
    const page = await findMoreCampaigns(database, organization.id, filter, { limit: pageSize, offset: 0, after });
    yield page.rows;
    after = page.next;
  }
}
