import type { Context } from '../accounts/context.ts';
import { streamedText } from '../http/streamed-text.ts';
import { archivedPages } from './archived-rows.ts';
import { campaignObject, rowsAtOnce } from './campaign-object.ts';
import { existingCampaign } from './existing-campaign.ts';
import { formatReport, type ReportRow } from './report.ts';

/** All rows of a campaign as CSV, read page by page while it is sent. Fails before the first byte when the rows cannot be reached. */
export async function downloadReport(context: Context, id: number): Promise<ReadableStream<Uint8Array>> {
  const row = await existingCampaign(context, id);
  const pages = () => (row.state === 'draft' ? noPages() : row.archive ? archivedPages(context, row) : rowPages(context, id));
  return streamedText(context.log, 'a report', formatReport(pages(), await variableNames(pages())));
}

async function* noPages(): AsyncGenerator<ReportRow[]> {}

async function* rowPages({ bindings, organization }: Context, id: number): AsyncGenerator<ReportRow[]> {
  for (let after = 0; ;) {
    const rows = await campaignObject(bindings, organization.id, id, (object) => object.reportRows(after, rowsAtOnce));
    if (rows?.length) yield rows;
    if (!rows || rows.length < rowsAtOnce) return;
    after = rows.at(-1)!.row_number;
  }
}

/** In the order in which rows first have them. */
async function variableNames(pages: AsyncGenerator<ReportRow[]>): Promise<string[]> {
  const names = new Set<string>();
  for await (const page of pages) for (const { variables } of page) for (const name of Object.keys(variables)) names.add(name);
  return [...names];
}
