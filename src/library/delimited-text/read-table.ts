import { Readable } from 'node:stream';
import { parse, type CsvError, type Parser } from 'csv-parse';
import { UnreadableFileError } from '../text/decode-text.ts';
import { detectDelimiter } from './detect-delimiter.ts';

/**
 * `row_number`: 1 = the first row with data. `file_row`: the number in a spreadsheet program. `cells` may be shorter than the headers: the
 * missing cells are empty.
 */
export interface TableRow {
  row_number: number;
  file_row: number;
  cells: string[];
}

export interface Table {
  /** The headers in the form of `nameHeaders`. */
  headers: string[];
  delimiter: string;
  /** The first rows, for choosing columns. `rows` yields them again. */
  sample: TableRow[];
  rows: AsyncIterable<TableRow>;
  /** Releases the text when `rows` are not read to their end. */
  close(): Promise<void>;
}

const sampleRowCount = 1000;
const chunkLength = 1 << 16;
const maxColumns = 2000;
const maxRowBytes = 1 << 20;

/**
 * Reads delimited text, whole or in pieces, holding only the sample in memory. Missing cells stay absent, cells beyond the header are dropped,
 * blank rows are skipped. Throws `UnreadableFileError` for a text without header or with more than 2,000 columns and, also while iterating,
 * for a quote that is never closed and for a row of more than 1 MiB.
 */
export async function readTable(text: string | AsyncIterable<string>): Promise<Table> {
  const pieces = typeof text === 'string' ? splitIntoChunks(text) : text[Symbol.asyncIterator]();
  const opening = (await readHead(pieces)).replace(/^\ufeff/, '');
  const hint = /^"?sep=(.)"?\r?\n/i.exec(opening);
  const head = hint ? opening.slice(hint[0].length) : opening;
  const delimiter = hint?.[1] ?? detectDelimiter(head);

  const records = readRecords(head, pieces, delimiter, hint ? 1 : 0);
  const header = await records.next();
  if (header.done) throw new UnreadableFileError('The file is empty: it has no header row');
  const columns = header.value.cells.length;
  if (columns > maxColumns) {
    await records.return(undefined);
    throw new UnreadableFileError(`The file has ${columns} columns, which is more than ${maxColumns}; is its first row the header?`);
  }
  const headers = nameHeaders(header.value.cells);
  const rows = toRows(records, headers.length);

  const sample: TableRow[] = [];
  while (sample.length < sampleRowCount) {
    const row = await rows.next();
    if (row.done) break;
    sample.push(row.value);
  }
  const close = async () => void (await rows.return(undefined));
  return { headers, delimiter, sample, rows: concatRows(sample, rows), close };
}

interface FileRecord {
  file_row: number;
  cells: string[];
}

/** `place`: the number of the row in the text, from 1, including blank rows. */
interface ParsedRecord {
  record: string[];
  place: number;
}

async function* readRecords(head: string, rest: AsyncIterator<string>, delimiter: string, rowsBefore: number): AsyncGenerator<FileRecord> {
  let fileRow = rowsBefore;
  try {
    for await (const parsed of createParser(head, rest, delimiter)) {
      const { record, place } = parsed as ParsedRecord;
      fileRow = rowsBefore + place;
      const cells = record.map(cleanCell);
      if (cells.some((cell) => cell !== '')) yield { file_row: fileRow, cells };
    }
  } catch (error) {
    const { code, records, empty_lines: emptyLines = 0 } = error as CsvError & { records?: number; empty_lines?: number };
    const row = rowsBefore + (records === undefined ? fileRow - rowsBefore : records + emptyLines) + 1;
    if (code === 'CSV_QUOTE_NOT_CLOSED')
      throw new UnreadableFileError(`A cell in row ${row} begins with a quote that is never closed; close it or remove it`);
    if (code === 'CSV_MAX_RECORD_SIZE')
      throw new UnreadableFileError(`Row ${row} is longer than 1 MiB; a quote in it may never be closed, or the file is no table`);
    throw error;
  } finally {
    await rest.return?.();
  }
}

function createParser(head: string, rest: AsyncIterator<string>, delimiter: string): Parser {
  const source = Readable.from(
    (async function* () {
      yield head;
      yield* { [Symbol.asyncIterator]: () => rest };
    })(),
  );
  const parser = parse({
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRowBytes,
    trim: true,
    // Millions of blank lines would take seconds when each is a record of its own.
    skip_empty_lines: true,
    // The library's types do not know that `on_record` may return another type.
    on_record: (record, { records, empty_lines: emptyLines }) =>
      ({ record, place: records + emptyLines }) satisfies ParsedRecord as unknown as string[],
  });
  source.on('error', (error) => parser.destroy(error));
  parser.on('close', () => source.destroy());
  return source.pipe(parser);
}

/** Undoes the marks by which spreadsheets keep a number as text (`'00123`, `="00123"`). */
function cleanCell(cell: string): string {
  const text = cell.trim().replace(/\r\n?/g, '\n');
  return text.replace(/^="([^"]*)"$/, '$1').replace(/^'(?=[=+\-@\d(＋０-９])/, '');
}

async function* toRows(records: AsyncIterable<FileRecord>, width: number): AsyncGenerator<TableRow, undefined, undefined> {
  let rowNumber = 0;
  for await (const { file_row, cells } of records) {
    rowNumber += 1;
    yield { row_number: rowNumber, file_row, cells: cells.length > width ? cells.slice(0, width) : cells };
  }
}

async function* concatRows(sample: TableRow[], rest: AsyncIterable<TableRow>): AsyncGenerator<TableRow> {
  yield* sample;
  yield* rest;
}

/** Reads pieces until the text is long enough to detect the delimiter. */
async function readHead(pieces: AsyncIterator<string>): Promise<string> {
  let text = '';
  while (text.length < chunkLength) {
    const piece = await pieces.next();
    if (piece.done) break;
    text += piece.value;
  }
  return text;
}

async function* splitIntoChunks(text: string): AsyncGenerator<string> {
  for (let start = 0; start < text.length; start += chunkLength) yield text.slice(start, start + chunkLength);
}

/** Names of columns, unique and never blank: a repeated header gets a suffix (`Name_2`), a blank one its position (`column_3`). */
export function nameHeaders(cells: string[]): string[] {
  const taken = new Set<string>();
  return cells.map((cell, index) => {
    const name = cell.replace(/\s+/g, ' ') || `column_${index + 1}`;
    let unique = name;
    for (let count = 2; taken.has(unique.toLowerCase()); count += 1) unique = `${name}_${count}`;
    taken.add(unique.toLowerCase());
    return unique;
  });
}
