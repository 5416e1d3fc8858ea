import { UnreadableFileError } from '../../../library/text/decode-text.ts';
import { readTable } from '../../../library/delimited-text/read-table.ts';
import type { BlockWriter } from '../block-writer.ts';
import type { ReadResult } from '../document-reader.ts';
import { damaged } from '../unparsable-document.ts';
import { decodeTextPieces } from './decode-text-pieces.ts';

/** Reads a table of delimited text and detects its delimiter. */
export async function readDelimited(bytes: Uint8Array, writer: BlockWriter): Promise<ReadResult> {
  try {
    const table = await readTable(decodeTextPieces(bytes));
    for (const cells of table.titles) writer.paragraph(cells.filter((cell) => cell !== '').join(' | '));
    writer.row(table.headers, true);
    for await (const { cells } of table.rows) writer.row(cells);
    return {};
  } catch (error) {
    // The message names the row: "Row 7 is longer than 1 MiB".
    if (error instanceof UnreadableFileError) throw damaged(error.message.charAt(0).toLowerCase() + error.message.slice(1), error);
    throw error;
  }
}
