import { readTable } from '../../library/delimited-text/read-table.ts';
import { requireCertainty } from '../../library/text/decode-text.ts';
import { decodeTextStream } from '../../library/text/decode-text-stream.ts';
import { hasPhoneColumn } from './columns.ts';
import { toFileTable, type FileTable } from './file-table.ts';
import type { SourceOptions } from './options.ts';

/**
 * Opens delimited text as a campaign reads it, with a small part in memory at a time. `defaultCountry` is the organization's. Throws
 * `UnreadableFileError`, whose message names what was found, for an empty file, a file without a table, and a table without a phone column.
 */
export async function openCsv(bytes: AsyncIterable<Uint8Array>, options: SourceOptions, defaultCountry: string): Promise<FileTable> {
  const text = decodeTextStream(bytes, { encoding: options.encoding ?? undefined, onDetected: ({ guess }) => requireCertainty(guess) });
  const table = await readTable(text, { isHeader: (cells) => hasPhoneColumn(cells, options) });
  return toFileTable(table, options, defaultCountry);
}
