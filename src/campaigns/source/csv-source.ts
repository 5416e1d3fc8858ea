import { readTable } from '../../library/delimited-text/read-table.ts';
import { decodeTextStream } from '../../library/text/decode-text-stream.ts';
import { UnreadableFileError } from '../../library/text/decode-text.ts';
import type { Issue } from '../../library/errors.ts';
import type { Context } from '../../context.ts';
import { chooseColumns, type TableColumns, UnknownColumn } from './columns.ts';
import type { SourceOptions } from './options.ts';
import { readSourceRows, type SourceRow, addContacts } from './read-rows.ts';
import { CompactSeenPhones, type SeenPhones } from './seen-phones.ts';
import type { CampaignSource } from './campaign-source.ts';
import { missingUploadError, openUpload } from './upload/store.ts';

export interface CsvTable {
  columns: TableColumns;
  /** Reads all rows without looking at their cells, instead of `batches`: how many there are. Throws `UnreadableFileError` as that does. */
  count(): Promise<number>;
  /** Reads the rows, once. Throws `UnreadableFileError` where the file turns out to be damaged. */
  batches(seen?: SeenPhones, batchRows?: number): AsyncGenerator<SourceRow[], undefined, undefined>;
  /** Lets go of the file, for whoever does not read all batches. */
  close(): Promise<void>;
}

/**
 * A campaign's rows from the bytes of a CSV file, of which only a small part is held. `defaultCountry` is the organization's. Throws
 * `UnreadableFileError`, whose message names what was found, for an empty file, one that is no table, and one without phone column.
 */
export async function openCsv(bytes: AsyncIterable<Uint8Array>, options: SourceOptions, defaultCountry: string): Promise<CsvTable> {
  const table = await readTable(decodeTextStream(bytes));
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

/** What a campaign that is about to be created would read: its columns and how many rows, or why it could not. Reads the whole file once. */
export async function inspectCsv(bytes: AsyncIterable<Uint8Array>, options: SourceOptions, defaultCountry: string): Promise<Inspection> {
  try {
    const { columns, count } = await openCsv(bytes, options, defaultCountry);
    return { columns, totalRows: await count() };
  } catch (error) {
    return { problem: toSourceIssue(error) };
  }
}

/** What is to be corrected where a source could not be read. Throws what is no `UnreadableFileError`. */
export function toSourceIssue(error: unknown): Issue {
  if (!(error instanceof UnreadableFileError)) throw error;
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
      // The file is read from its beginning again: who is in it twice is known by what came before.
      for await (const batch of source.batches(seen)) {
        const rows = batch.filter((row) => row.row_number > (after?.row_number ?? 0));
        if (rows.length > 0) yield await addContacts(context, rows);
      }
    },
    close: source.close,
  };
}
