import { UnreadableFileError } from '../text/unreadable-file.ts';
import { createUniqueNames } from '../text/unique-names.ts';
import { findHeader } from './find-header.ts';
import type { FileRecord } from './parse-records.ts';

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
  /** The header as it stands in the file. */
  headerCells: string[];
  /** The rows above the header. */
  titles: string[][];
  /** The first rows, for choosing columns. `rows` yields them again. */
  sample: TableRow[];
  rows: AsyncIterable<TableRow>;
  /** Releases the records when `rows` are not read to their end. */
  close(): Promise<void>;
}

export interface TableOptions {
  /** Knows headers of the reader's own, by which titles above the header are told from it. */
  isHeader?: ((cells: string[]) => boolean) | undefined;
  /** Is called with the number of cells of the header before the records behind the sample are read. */
  onHeader?: (width: number) => void;
}

const sampleRowCount = 1000;
const maxColumns = 2000;

/**
 * Makes a table of records, holding only the sample in memory: finds its header, and numbers its rows. Throws `UnreadableFileError` without a
 * record, and for a header of more than 2,000 columns.
 */
export async function readTableOfRecords(
  records: AsyncGenerator<FileRecord, undefined, undefined>,
  { isHeader, onHeader }: TableOptions = {},
): Promise<Table> {
  const first: FileRecord[] = [];
  while (first.length <= sampleRowCount) {
    const record = await records.next();
    if (record.done) break;
    first.push(record.value);
  }
  if (first.length === 0) throw new UnreadableFileError('The file is empty: it has no header row; add one with rows below it');
  const place = findHeader(
    first.slice(0, 50).map(({ cells }) => cells),
    isHeader,
  );
  const header = first[place]!.cells;
  onHeader?.(header.length);
  if (header.length > maxColumns) {
    await records.return(undefined);
    throw new UnreadableFileError(`The file has ${header.length} columns, which is more than ${maxColumns}; is its first row the header?`);
  }
  const sample = first.slice(place + 1).map((record, index) => toTableRow(record, index + 1));
  const columns = sample.reduce((widest, { cells, problem }) => (problem ? widest : Math.max(widest, widthOf(cells))), header.length);
  return {
    headers: nameHeaders(Array.from({ length: Math.min(columns, maxColumns) }, (_, index) => header[index] ?? '')),
    headerCells: header,
    titles: first.slice(0, place).map(({ cells }) => cells),
    sample,
    rows: toRows(sample, records),
    close: async () => void (await records.return(undefined)),
  };
}

/** The name of a column without a header. */
export const columnName = (index: number): string => `column_${index + 1}`;

/** A row of too many cells is a bad row. */
export function toTableRow({ file_row, cells, problem }: FileRecord, row_number: number): TableRow {
  const width = widthOf(cells);
  const why = problem ?? (width > maxColumns ? `The row has ${width} cells, which is more than ${maxColumns}` : undefined);
  return { row_number, file_row, cells, ...(why === undefined ? {} : { problem: why }) };
}

/** The place of the last cell that is not empty, from 1. */
const widthOf = (cells: string[]): number => cells.findLastIndex((cell) => cell !== '') + 1;

async function* toRows(sample: TableRow[], rest: AsyncIterable<FileRecord>): AsyncGenerator<TableRow> {
  yield* sample;
  let count = sample.length;
  for await (const record of rest) yield toTableRow(record, (count += 1));
}

/** Names of columns, unique and never blank: a repeated header gets a suffix (`Name_2`), a blank one its position (`column_3`). */
export function nameHeaders(cells: string[]): string[] {
  const toUnique = createUniqueNames((name) => name.toLowerCase());
  return cells.map((cell, index) => toUnique(cell.replace(/\s+/g, ' ') || columnName(index)));
}
