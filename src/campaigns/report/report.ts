import type { Context } from '../../context.ts';
import { streamText } from '../../http/streams/stream-text.ts';
import { readArchivedPages } from '../rows/archived-rows.ts';
import { callCampaignObject, maxRowsPerCall } from '../rpc.ts';
import { existingCampaign } from '../store.ts';
import { nullableTimestamp } from '../../library/time/clock.ts';
import { formatCsvRow } from '../../library/text/format-csv.ts';
import type { RowRecord } from '../rpc.ts';

/** All rows of a campaign as CSV, read page by page while the CSV is sent. Throws 404, and throws before the first byte when the rows cannot be read. */
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

/** The names of all variables, in the order of their first rows. */
async function collectVariableNames(pages: AsyncGenerator<ReportRow[]>): Promise<string[]> {
  const names = new Set<string>();
  for await (const page of pages) for (const { variables } of page) for (const name of Object.keys(variables)) names.add(name);
  return [...names];
}

/** A row of the report. `next_attempt_at` in epoch ms. */
export type ReportRow = Omit<RowRecord, 'id'>;

const reportColumns = ['row_number', 'phone', 'contact_id', 'state', 'outcome', 'reason', 'attempts', 'next_attempt_at', 'run_ids'];

/**
 * Every row of a campaign as CSV, page by page, with a column for each variable. A variable that is named like a column of the report
 * gets the suffix `_variable`. Begins with a byte order mark, without which Excel does not read UTF-8.
 */
export async function* formatReport(pages: AsyncIterable<ReportRow[]>, variableNames: string[]): AsyncGenerator<string> {
  yield `\ufeff${formatCsvRow([...reportColumns, ...variableNames.map((name) => (reportColumns.includes(name) ? `${name}_variable` : name))])}`;
  for await (const page of pages) yield page.map((row) => formatRow(row, variableNames)).join('');
}

const formatRow = (row: ReportRow, variableNames: string[]): string =>
  formatCsvRow([
    String(row.row_number),
    row.phone,
    row.contact_id === null ? '' : String(row.contact_id),
    row.state,
    row.outcome ?? '',
    row.reason ?? '',
    String(row.attempts),
    nullableTimestamp(row.next_attempt_at) ?? '',
    row.run_ids.join(' '),
    ...variableNames.map((name) => toCell(Object.hasOwn(row.variables, name) ? row.variables[name] : null)),
  ]);

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
