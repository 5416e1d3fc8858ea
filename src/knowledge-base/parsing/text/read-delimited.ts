import { UnreadableFileError } from '../../../library/text/unreadable-file.ts';
import { readTable } from '../../../library/delimited-text/read-table.ts';
import type { BlockWriter } from '../block-writer.ts';
import type { FileFacts, ReadResult } from '../document-reader.ts';
import { UnparsableDocument, damaged } from '../../../library/text/unparsable-document.ts';
import { decodeTextPieces } from './decode-text-pieces.ts';

/** Reads a table of delimited text and detects its delimiter. */
export async function readDelimited(bytes: Uint8Array, writer: BlockWriter, { encoding }: FileFacts): Promise<ReadResult> {
  try {
    const table = await readTable(decodeTextPieces(bytes, { named: encoding, warnings: writer.warnings }));
    for (const cells of table.titles) writer.paragraph(cells.filter((cell) => cell !== '').join(' | '));
    writer.row(table.headerCells, true);
    for await (const { cells, problem, file_row: place } of table.rows) {
      writer.row(cells);
      if (problem !== undefined) writer.warnings.add('rows_broken', { place });
    }
    return {};
  } catch (error) {
    // The message names the row: "Row 7 is longer than 1 MiB".
    if (error instanceof UnreadableFileError && !(error instanceof UnparsableDocument))
      throw damaged(error.message.charAt(0).toLowerCase() + error.message.slice(1), error);
    throw error;
  }
}
