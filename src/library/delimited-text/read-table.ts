import { UnreadableFileError } from '../text/unreadable-file.ts';
import { detectLayout } from './detect-layout.ts';
import { findHeader } from './find-header.ts';
import { parseRecords, type FileRecord } from './parse-records.ts';
import { RecordSplitter, type RecordShape } from './split-records.ts';

/**
 * `row_number`: 1 = the first row with data. `file_row`: the number in a spreadsheet program. `cells`: fewer than the headers where the last
 * ones are missing; more where the row is wider than the rows of the sample. `problem`: why the cells cannot be trusted, in a sentence.
 */
export interface TableRow {
  row_number: number;
  file_row: number;
  cells: string[];
  problem?: string;
}

export interface Table {
  /** The headers in the form of `nameHeaders`, as many as the widest row of the sample has cells. */
  headers: string[];
  /** The rows above the header. */
  titles: string[][];
  delimiter: string;
  /** The first rows, for choosing columns. `rows` yields them again. */
  sample: TableRow[];
  rows: AsyncIterable<TableRow>;
  /** Releases the text when `rows` are not read to their end. */
  close(): Promise<void>;
}

export interface TableOptions {
  /** Knows headers of the reader's own, by which titles above the header are told from it. */
  isHeader?: (cells: string[]) => boolean;
}

const sampleRowCount = 1000;
const chunkLength = 1 << 16;
const maxColumns = 2000;

/**
 * Reads delimited text, whole or in pieces, holding only the sample in memory. Missing cells stay absent, blank rows are skipped, lines above the
 * header are titles. A row with a broken quote has a `problem`. Throws `UnreadableFileError` for a text without header or with a header of more than
 * 2,000 columns and, also while iterating, for a line of more than 1 MiB.
 */
export async function readTable(text: string | AsyncIterable<string>, { isHeader }: TableOptions = {}): Promise<Table> {
  const pieces = typeof text === 'string' ? splitIntoChunks(text) : text[Symbol.asyncIterator]();
  const { head: opening, isWhole } = await readHead(pieces);
  const marked = opening.replace(/^\ufeff/, '');
  const hint = /^"?sep=([^"\r\n])"?\r?\n/i.exec(marked);
  const head = hint ? marked.slice(hint[0].length) : marked;
  const layout = detectLayout(head, isWhole);
  const shape: RecordShape = { delimiter: hint?.[1] ?? layout.delimiter, width: layout.width };

  const records = readRecords(head, pieces, shape, hint ? 1 : 0);
  const first: FileRecord[] = [];
  while (first.length <= sampleRowCount) {
    const record = await records.next();
    if (record.done) break;
    first.push(record.value);
  }
  if (first.length === 0) throw new UnreadableFileError('The file is empty: it has no header row');
  const place = findHeader(
    first.slice(0, 50).map(({ cells }) => cells),
    isHeader,
  );
  const header = first[place]!.cells;
  shape.width = header.length;
  const sample = first.slice(place + 1).map(toRow);
  const columns = sample.reduce((widest, { cells, problem }) => (problem ? widest : Math.max(widest, widthOf(cells))), header.length);
  if (header.length > maxColumns) {
    await records.return(undefined);
    throw new UnreadableFileError(`The file has ${header.length} columns, which is more than ${maxColumns}; is its first row the header?`);
  }
  const headers = nameHeaders(Array.from({ length: Math.min(columns, maxColumns) }, (_, index) => header[index] ?? ''));
  const titles = first.slice(0, place).map(({ cells }) => cells);
  return {
    headers,
    titles,
    delimiter: shape.delimiter,
    sample,
    rows: toRows(sample, records),
    close: async () => void (await records.return(undefined)),
  };
}

/** The name of a column without a header. */
export const columnName = (index: number): string => `column_${index + 1}`;

async function* readRecords(head: string, rest: AsyncIterator<string>, shape: RecordShape, rowsBefore: number): AsyncGenerator<FileRecord> {
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

function toRow({ file_row, cells, problem }: FileRecord, index: number): TableRow {
  const width = widthOf(cells);
  const why = problem ?? (width > maxColumns ? `The row has ${width} cells, which is more than ${maxColumns}` : undefined);
  return { row_number: index + 1, file_row, cells, ...(why === undefined ? {} : { problem: why }) };
}

/** The place of the last cell that is not empty, from 1. */
const widthOf = (cells: string[]): number => cells.findLastIndex((cell) => cell !== '') + 1;

async function* toRows(sample: TableRow[], rest: AsyncIterable<FileRecord>): AsyncGenerator<TableRow> {
  yield* sample;
  let count = sample.length;
  for await (const record of rest) yield toRow(record, count++);
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

/** Names of columns, unique and never blank: a repeated header gets a suffix (`Name_2`), a blank one its position (`column_3`). */
export function nameHeaders(cells: string[]): string[] {
  const taken = new Set<string>();
  return cells.map((cell, index) => {
    const name = cell.replace(/\s+/g, ' ') || columnName(index);
    let unique = name;
    for (let count = 2; taken.has(unique.toLowerCase()); count += 1) unique = `${name}_${count}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}
