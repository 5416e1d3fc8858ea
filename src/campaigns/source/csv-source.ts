import { readTable } from '../../library/delimited-text/read-table.ts';
import { requireCertainty } from '../../library/text/decode-text.ts';
import { decodeTextStream } from '../../library/text/decode-text-stream.ts';
import { UncertainEncoding, UnreadableFileError } from '../../library/text/unreadable-file.ts';
import type { Issue } from '../../library/errors.ts';
import type { Context } from '../../context.ts';
import { chooseColumns, hasPhoneColumn, type TableColumns, UnknownColumn } from './columns.ts';
import type { SourceOptions } from './options.ts';
import { readSourceRows, type SourceRow, addContacts } from './read-rows.ts';
import { CompactSeenPhones, type SeenPhones } from './seen-phones.ts';
import type { CampaignSource } from './campaign-source.ts';
import { missingUploadError, openUpload } from './upload/store.ts';

export interface CsvTable {
  columns: TableColumns;
  /** Counts the rows without reading their cells, instead of `batches`. Throws `UnreadableFileError` as `batches` does. */
  count(): Promise<number>;
  /** Reads the rows once. Throws `UnreadableFileError` where the file is damaged. */
  batches(seen?: SeenPhones, batchRows?: number): AsyncGenerator<SourceRow[], undefined, undefined>;
  /** Releases the file when not all batches are read. */
  close(): Promise<void>;
}

/**
 * Opens a CSV file as a campaign reads it, with a small part in memory at a time. `defaultCountry` is the organization's. Throws
 * `UnreadableFileError`, whose message names what was found, for an empty file, a file without a table, and a table without a phone column.
 */
export async function openCsv(bytes: AsyncIterable<Uint8Array>, options: SourceOptions, defaultCountry: string): Promise<CsvTable> {
  const text = decodeTextStream(bytes, { encoding: options.encoding ?? undefined, onDetected: ({ guess }) => requireCertainty(guess) });
  const table = await readTable(text, { isHeader: (cells) => hasPhoneColumn(cells, options) });
  const country = options.default_country ?? defaultCountry;
  try {
    const columns = chooseColumns(table, options, country);
    if (table.sample.length === 0) throw new UnreadableFileError('The file has a header row and no rows below it; add the people to call');
    return {
      columns: { ...columns, headers: table.headers, choice: options.phone_column ? 'named' : 'found' },
      count: () => countRows(table.rows),
      batches: (seen = new CompactSeenPhones(), batchRows = 500) =>
        readSourceRows(table.rows, columns, { defaultCountry: country, seen, batchRows }),
      close: table.close,
    };
  } catch (error) {
    await table.close();
    throw error;
  }
}

async function countRows(rows: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of rows) count += 1;
  return count;
}

export type Inspection = { columns: TableColumns; totalRows: number } | { problem: Issue };

/** The columns and the number of rows of a CSV file, or why it cannot be read. Reads the whole file once. */
export async function inspectCsv(bytes: AsyncIterable<Uint8Array>, options: SourceOptions, defaultCountry: string): Promise<Inspection> {
  try {
    const { columns, count } = await openCsv(bytes, options, defaultCountry);
    return { columns, totalRows: await count() };
  } catch (error) {
    return { problem: toSourceIssue(error) };
  }
}

/** The issue to correct in a source that cannot be read. Throws any error that is not an `UnreadableFileError`. */
export function toSourceIssue(error: unknown): Issue {
  if (!(error instanceof UnreadableFileError)) throw error;
  if (error instanceof UncertainEncoding)
    return { loc: ['body', 'source_options', 'encoding'], msg: error.message, type: 'uncertain_encoding' };
  const isNamedColumn = error instanceof UnknownColumn;
  return {
    loc: isNamedColumn ? ['body', 'source_options', 'phone_column'] : ['body', 'source_id'],
    msg: error.message,
    type: isNamedColumn ? 'unknown_column' : 'unreadable_source',
  };
}

/** The rows of an uploaded file, each with the contact that has its number. */
export async function openCsvSource(context: Context, sourceId: string, options: SourceOptions): Promise<CampaignSource> {
  const bytes = await openUpload(context.bindings.FILES, context.organization.id, sourceId);
  if (!bytes) throw missingUploadError();
  const source = await openCsv(bytes, options, context.organization.defaultCountry);
  return {
    columns: source.columns,
    async *batches(seen, after) {
      // The file is read from its beginning again, since duplicates are found by the rows before them.
      for await (const batch of source.batches(seen)) {
        const rows = batch.filter((row) => row.row_number > (after?.row_number ?? 0));
        if (rows.length > 0) yield await addContacts(context, rows);
      }
    },
    close: source.close,
  };
}
