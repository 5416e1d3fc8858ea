import { detectLayout } from './detect-layout.ts';
import { parseRecords, type FileRecord } from './parse-records.ts';
import { RecordSplitter, type RecordShape } from './split-records.ts';
import { readTableOfRecords, type Table, type TableOptions } from './table-of-records.ts';

export interface DelimitedTable extends Table {
  delimiter: string;
}

const chunkLength = 1 << 16;

/**
 * Reads delimited text, whole or in pieces, holding only the sample in memory. Missing cells stay absent, blank rows are skipped, lines above the
 * header are titles. A row with a broken quote has a `problem`. Throws `UnreadableFileError` for a text without header or with a header of more than
 * 2,000 columns and, also while iterating, for a line of more than 1 MiB.
 */
export async function readTable(
  text: string | AsyncIterable<string>,
  { isHeader }: Pick<TableOptions, 'isHeader'> = {},
): Promise<DelimitedTable> {
  const pieces = typeof text === 'string' ? splitIntoChunks(text) : text[Symbol.asyncIterator]();
  const { head: opening, isWhole } = await readHead(pieces);
  const marked = opening.replace(/^\ufeff/, '');
  const hint = /^"?sep=([^"\r\n])"?\r?\n/i.exec(marked);
  const head = hint ? marked.slice(hint[0].length) : marked;
  const layout = detectLayout(head, isWhole);
  const shape: RecordShape = { delimiter: hint?.[1] ?? layout.delimiter, width: layout.width };
  const table = await readTableOfRecords(readRecords(head, pieces, shape, hint ? 1 : 0), {
    isHeader,
    onHeader: (width) => (shape.width = width),
  });
  return { ...table, delimiter: shape.delimiter };
}

async function* readRecords(
  head: string,
  rest: AsyncIterator<string>,
  shape: RecordShape,
  rowsBefore: number,
): AsyncGenerator<FileRecord, undefined, undefined> {
  const splitter = new RecordSplitter(shape, rowsBefore);
  try {
    let piece = head;
    for (let isLast = false; !isLast;) {
      for (let start = 0; start < piece.length; start += chunkLength)
        for (const batch of splitter.split(piece.slice(start, start + chunkLength), false)) yield* parseRecords(batch, shape.delimiter);
      const next = await rest.next();
      isLast = next.done === true;
      piece = next.done ? '' : next.value;
    }
    for (const batch of splitter.split('', true)) yield* parseRecords(batch, shape.delimiter);
  } finally {
    await rest.return?.();
  }
}

/** Reads pieces until the text is long enough to detect the delimiter. */
async function readHead(pieces: AsyncIterator<string>): Promise<{ head: string; isWhole: boolean }> {
  const parts: string[] = [];
  for (let length = 0; length < chunkLength;) {
    const piece = await pieces.next();
    if (piece.done) return { head: parts.join(''), isWhole: true };
    parts.push(piece.value);
    length += piece.value.length;
  }
  return { head: parts.join(''), isWhole: false };
}

async function* splitIntoChunks(text: string): AsyncGenerator<string> {
  for (let start = 0; start < text.length; start += chunkLength) yield text.slice(start, start + chunkLength);
}
