import type { Context } from '../../context.ts';
import { sendTable } from '../../http/streams/send-table.ts';
import { chooseColumns } from '../../library/table-export/choose-columns.ts';
import type { ExportColumn } from '../../library/table-export/format-table.ts';
import { listExtractionNames } from '../../voice-agents/agents/list-extraction-names.ts';
import { readArchivedPages } from '../rows/archived-rows.ts';
import { withCalls } from '../rows/row-calls.ts';
import { callCampaignObject, maxRowsPerCall, type RowRecord } from '../rpc.ts';
import type { CampaignReportQuery } from '../schemas.ts';
import { existingCampaign, type CampaignRow } from '../store.ts';
import { listFixedColumns, listReportColumns, toLines, type ReportLine, type ReportUnit } from './columns.ts';

/** An invocation makes 1,000 queries to D1. */
const maxCallQueries = 800;

/**
 * All rows of a campaign as a table with what came of each, read page by page while the table is sent. Throws 404 and 422, and throws before
 * the first byte when the rows cannot be read.
 */
export async function downloadReport(context: Context, apiUrl: string, id: number, query: CampaignReportQuery): Promise<Response> {
  const row = await existingCampaign(context, id);
  const columns = await chooseReportColumns(context, row, query);
  return sendTable(context.log, {
    what: 'a report',
    fileName: `campaign-${id}`,
    format: query.format,
    table: { name: 'Rows', columns, pages: readLines(context, apiUrl, row, query.per) },
  });
}

const readPages = (context: Context, row: CampaignRow): AsyncGenerator<RowRecord[]> =>
  row.state === 'draft' ? emptyPages() : row.archive ? readArchivedPages(context, row) : readLivePages(context, row.id);

async function* emptyPages(): AsyncGenerator<RowRecord[]> {}

async function* readLivePages({ bindings, organization }: Context, id: number): AsyncGenerator<RowRecord[]> {
  for (let after = 0; ;) {
    const rows = await callCampaignObject(bindings, organization.id, id, (object) => object.reportRows(after, maxRowsPerCall));
    if (rows?.length) yield rows;
    if (!rows || rows.length < maxRowsPerCall) return;
    after = rows.at(-1)!.row_number;
  }
}

async function* readLines(context: Context, apiUrl: string, row: CampaignRow, unit: ReportUnit): AsyncGenerator<ReportLine[]> {
  for await (const rows of joinPages(readPages(context, row), Math.ceil(row.total_rows / maxCallQueries)))
    yield toLines(await withCalls(context, apiUrl, rows), unit);
}

/** Pages of at least `minRows`, so that few queries read the calls of a very large campaign. */
async function* joinPages(pages: AsyncGenerator<RowRecord[]>, minRows: number): AsyncGenerator<RowRecord[]> {
  let waiting: RowRecord[] = [];
  for await (const page of pages) {
    waiting = waiting.length === 0 ? page : [...waiting, ...page];
    if (waiting.length < minRows) continue;
    yield waiting;
    waiting = [];
  }
  if (waiting.length > 0) yield waiting;
}

/** The rows are read beforehand only where a column may be a variable of the source, whose names they alone know. */
async function chooseReportColumns(
  context: Context,
  row: CampaignRow,
  { per: unit, columns: wanted }: CampaignReportQuery,
): Promise<ExportColumn<ReportLine>[]> {
  if (wanted && isKnown(listFixedColumns(unit), wanted)) return chooseColumns(listFixedColumns(unit), wanted);
  const extractionNames = await listCampaignExtractionNames(context, row);
  const known = listReportColumns(unit, extractionNames, []);
  if (wanted && isKnown(known, wanted)) return chooseColumns(known, wanted);
  return chooseColumns(listReportColumns(unit, extractionNames, await collectVariableNames(readPages(context, row))), wanted);
}

function isKnown(columns: ExportColumn<ReportLine>[], wanted: string[]): boolean {
  const names = new Set(columns.map(({ name }) => name));
  return wanted.every((name) => names.has(name));
}

/** The variables that its agent extracted while the campaign called. */
const listCampaignExtractionNames = (context: Context, row: CampaignRow): Promise<string[]> =>
  listExtractionNames(context, row.agent_id, {
    from: row.started_at ?? context.clock(),
    to: row.completed_at ?? context.clock(),
  });

/** The names of all variables, in the order of their first rows. */
async function collectVariableNames(pages: AsyncGenerator<Pick<RowRecord, 'variables'>[]>): Promise<string[]> {
  const names = new Set<string>();
  for await (const page of pages) for (const { variables } of page) for (const name of Object.keys(variables)) names.add(name);
  return [...names];
}
