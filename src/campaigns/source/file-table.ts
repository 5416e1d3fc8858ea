import type { Table } from '../../library/delimited-text/table-of-records.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { chooseColumns, type TableColumns } from './columns.ts';
import type { SourceOptions } from './options.ts';
import { readSourceRows, type SourceRow } from './read-rows.ts';
import { CompactSeenPhones, type SeenPhones } from './seen-phones.ts';

/** The table of an uploaded file, as a campaign reads it. */
export interface FileTable {
  columns: TableColumns;
  /** Counts the rows without reading their cells, instead of `batches`. Throws `UnreadableFileError` as `batches` does. */
  count(): Promise<number>;
  /** Reads the rows once. Throws `UnreadableFileError` where the file is damaged. */
  batches(seen?: SeenPhones, batchRows?: number): AsyncGenerator<SourceRow[], undefined, undefined>;
  /** The encoding that was guessed for a text file by the bytes read so far; null: none was. */
  guessedEncoding?: () => string | null;
  /** Releases the file when not all batches are read. */
  close(): Promise<void>;
}

/**
 * Chooses the columns of a table. `defaultCountry` is the organization's. Throws `UnreadableFileError`, whose message names what was found, for a
 * table without rows or without a phone column, and releases the file.
 */
export async function toFileTable(table: Table, options: SourceOptions, defaultCountry: string): Promise<FileTable> {
  const country = options.default_country ?? defaultCountry;
  try {
    const columns = chooseColumns(table, options, country);
    if (table.sample.length === 0) throw new UnreadableFileError('The file has a header row and no rows below it; add the people to call');
    return {
      columns: { ...columns, headers: table.headers },
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
