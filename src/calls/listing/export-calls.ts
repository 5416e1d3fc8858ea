import type { Context } from '../../context.ts';
import { sendTable } from '../../http/streams/send-table.ts';
import { chooseColumns } from '../../library/table-export/choose-columns.ts';
import type { ExportColumn } from '../../library/table-export/format-table.ts';
import { toCallRecord } from './call-record.ts';
import { findCallsPage, type CallsPage, type CallsQuery } from './call-store.ts';
import { toCallFilter } from './list-calls.ts';
import { CallRecordSchema, type CallExportQuery, type CallRecord } from './schemas.ts';

const rowsPerPage = 1000;
/** An invocation makes 1,000 queries: so many pages that look at so many calls. */
const maxExamined = 20_000;
const maxExaminedForWords = 2000;

const columns: ExportColumn<CallRecord>[] = Object.keys(CallRecordSchema.shape).map((name) => ({
  name,
  value: (call) => call[name as keyof CallRecord],
}));

const variablePrefix = 'extracted_variables.';

/** A column for one extracted variable, by the name that a request gives it. */
const toVariableColumn = (name: string): ExportColumn<CallRecord> | null =>
  name.startsWith(variablePrefix) ? { name, value: (call) => ownValue(call.extracted_variables, name.slice(variablePrefix.length)) } : null;

const ownValue = (values: Record<string, unknown>, name: string): unknown => (Object.hasOwn(values, name) ? values[name] : null);

/** All calls of a filter as a table, read a page at a time while it is sent. Throws 422. */
export async function exportCalls(context: Context, apiUrl: string, query: CallExportQuery): Promise<Response> {
  const chosen = chooseColumns(columns, query.columns, toVariableColumn);
  const filter = toCallFilter(context, query);
  const pageQuery: CallsQuery = {
    filter,
    sort: query.sort,
    limit: rowsPerPage,
    maxExamined: filter.match === undefined ? maxExamined : maxExaminedForWords,
  };
  // Before the first byte, so that a failure is an error and no half file.
  const first = await readPage(context, pageQuery);
  const pages = readPages(context, apiUrl, pageQuery, first);
  return sendTable(context.log, {
    what: 'an export of calls',
    fileName: 'calls',
    format: query.format,
    table: { name: 'Calls', columns: chosen, pages },
  });
}

const readPage = ({ database, organization }: Context, query: CallsQuery): Promise<CallsPage> =>
  findCallsPage(database, organization.id, query);

async function* readPages(
  context: Context,
  apiUrl: string,
  query: CallsQuery,
  first: CallsPage,
): AsyncGenerator<CallRecord[], undefined, undefined> {
  for (let page = first; ; page = await readPage(context, { ...query, after: page.next ?? undefined })) {
    if (page.rows.length > 0) yield page.rows.map((row) => toCallRecord(apiUrl, row));
    if (page.next === null) return;
  }
}
