import type { Context } from '../../context.ts';
import { streamText } from '../../http/streams/stream-text.ts';
import { readArchivedPages } from '../rows/archived-rows.ts';
import { callCampaignObject, maxRowsPerCall } from '../campaign-stub.ts';
import { existingCampaign } from '../queries/existing-campaign.ts';
import { formatReport, type ReportRow } from './format.ts';

/** All rows of a campaign as CSV, read page by page while it is sent. Fails before the first byte when the rows cannot be reached. */
export async function downloadReport(context: Context, id: number): Promise<ReadableStream<Uint8Array>> {
  const row = await existingCampaign(context, id);
  const pages = () => (row.state === 'draft' ? emptyPages() : row.archive ? readArchivedPages(context, row) : readLivePages(context, id));
  return streamText(context.log, 'a report', formatReport(pages(), await collectVariableNames(pages())));
}

async function* emptyPages(): AsyncGenerator<ReportRow[]> {}

async function* readLivePages({ bindings, organization }: Context, id: number): AsyncGenerator<ReportRow[]> {
  for (let after = 0; ;) {
    const rows = await callCampaignObject(bindings, organization.id, id, (object) => object.reportRows(after, maxRowsPerCall));
    if (rows?.length) yield rows;
    if (!rows || rows.length < maxRowsPerCall) return;
    after = rows.at(-1)!.row_number;
  }
}

/** In the order in which rows first have them. */
async function collectVariableNames(pages: AsyncGenerator<ReportRow[]>): Promise<string[]> {
  const names = new Set<string>();
  for await (const page of pages) for (const { variables } of page) for (const name of Object.keys(variables)) names.add(name);
  return [...names];
}
