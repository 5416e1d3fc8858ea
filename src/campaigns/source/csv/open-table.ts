import { readTable } from '../../../library/delimited-text/read-table.ts';
import { decodeTextStream } from '../../../library/text/decode-text-stream.ts';
import { UnreadableFileError } from '../../../library/text/decode-text.ts';
import { chooseColumns, type TableColumns } from '../columns.ts';
import type { SourceOptions } from '../options.ts';
import { readSourceRows, type SourceRow } from '../read-rows.ts';
import { CompactSeenPhones, type SeenPhones } from '../seen-phones.ts';

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
