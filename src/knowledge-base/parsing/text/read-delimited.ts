import { UnreadableFile } from '../../../library/decode-text.ts';
import { readTable } from '../../../contacts/spreadsheets/read-table.ts';
import type { BlockWriter } from '../block-writer.ts';
import type { Reading } from '../parse.ts';
import { damaged } from '../unparsable-document.ts';
import { textPieces } from './text-pieces.ts';

/** A table as programs export it, its delimiter found out. */
export async function readDelimited(bytes: Uint8Array, writer: BlockWriter): Promise<Reading> {
  try {
    const table = await readTable(textPieces(bytes));
    writer.row(table.headers, true);
    for await (const { cells } of table.rows) writer.row(cells);
    return {};
  } catch (error) {
    // The library's rows are told by its own sentence: "A cell in row 7 begins with a quote that is never closed; close it or remove it".
    if (error instanceof UnreadableFile) throw damaged(error.message.charAt(0).toLowerCase() + error.message.slice(1), error);
    throw error;
  }
}
