import type { Context } from '../../context.ts';
import { streamText } from '../../http/streams/stream-text.ts';
import { formatCsvRow } from '../../library/text/format-csv.ts';
import { toSuppressionRecord } from './records.ts';
import { SuppressionRecord, type ExportQuery } from './schemas.ts';
import { selectSuppressionsAfter, type SuppressionRow } from './store.ts';

const rowsPerPage = 1000;
const columns = Object.keys(SuppressionRecord.shape) as (keyof typeof SuppressionRecord.shape)[];

/** All suppressions, oldest first, read page by page while they are sent. */
export function exportSuppressions(context: Context, { format, include_expired }: ExportQuery): ReadableStream<Uint8Array> {
  const pages = readPages(context, include_expired ? undefined : context.clock());
  return streamText(context.log, 'an export of suppressions', format === 'csv' ? formatCsv(pages) : formatJsonLines(pages));
}

async function* readPages({ database, organization }: Context, activeAt: number | undefined): AsyncGenerator<SuppressionRow[]> {
  for (let afterId = 0; ;) {
    const rows = await database.all(selectSuppressionsAfter(database, organization.id, { afterId, activeAt, limit: rowsPerPage }));
    if (rows.length > 0) yield rows;
    if (rows.length < rowsPerPage) return;
    afterId = rows.at(-1)!.id;
  }
}

/** Begins with a byte order mark, without which Excel does not read UTF-8. */
async function* formatCsv(pages: AsyncIterable<SuppressionRow[]>): AsyncGenerator<string> {
  yield `\ufeff${formatCsvRow(columns)}`;
  for await (const page of pages)
    yield page
      .map(toSuppressionRecord)
      .map((row) => formatCsvRow(columns.map((name) => String(row[name] ?? ''))))
      .join('');
}

async function* formatJsonLines(pages: AsyncIterable<SuppressionRow[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((row) => `${JSON.stringify(toSuppressionRecord(row))}\n`).join('');
}
