import { formatCsvRow } from '../text/format-csv.ts';
import { writeWorkbook, type SheetValue } from './write-workbook.ts';

export const exportFormats = ['csv', 'xlsx', 'jsonl'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** The content type of each format. Its name is the extension of its files. */
export const exportContentTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/x-ndjson',
};

/** A column of a table. A value is JSON; undefined is null. */
export interface ExportColumn<Row> {
  name: string;
  value: (row: Row) => unknown;
}

export interface ExportTable<Row> {
  /** The name of the sheet in a workbook. */
  name: string;
  columns: ExportColumn<Row>[];
  /** The rows, a page at a time. */
  pages: AsyncIterable<Row[]>;
}

/**
 * Writes a table, a page at a time as its reader takes it:
 * - `csv` begins with a byte order mark, without which Excel does not read UTF-8. A cell that a spreadsheet would run as a formula gets an apostrophe.
 * - `xlsx`: numbers are numbers, and everything else is text, which no program runs as a formula.
 * - `jsonl`: an object a line, with the columns as keys and values of any type.
 *
 * In CSV and XLSX null is an empty cell, and lists and objects are JSON.
 */
export function formatTable<Row>(format: ExportFormat, table: ExportTable<Row>): AsyncGenerator<string | Uint8Array, undefined, undefined> {
  switch (format) {
    case 'csv':
      return formatCsv(table);
    case 'xlsx':
      return writeWorkbook(
        table.name,
        table.columns.map(({ name }) => name),
        toSheetPages(table),
      );
    case 'jsonl':
      return formatJsonLines(table);
  }
}

async function* formatCsv<Row>({ columns, pages }: ExportTable<Row>): AsyncGenerator<string, undefined, undefined> {
  yield `\ufeff${formatCsvRow(columns.map(({ name }) => name))}`;
  for await (const page of pages) yield page.map((row) => formatCsvRow(columns.map(({ value }) => toText(value(row))))).join('');
}

async function* toSheetPages<Row>({ columns, pages }: ExportTable<Row>): AsyncGenerator<SheetValue[][], undefined, undefined> {
  for await (const page of pages) yield page.map((row) => columns.map(({ value }) => toSheetValue(value(row))));
}

const toSheetValue = (value: unknown): SheetValue => (typeof value === 'number' ? value : toText(value));

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function* formatJsonLines<Row>({ columns, pages }: ExportTable<Row>): AsyncGenerator<string, undefined, undefined> {
  for await (const page of pages) yield page.map((row) => `${JSON.stringify(toObject(columns, row))}\n`).join('');
}

const toObject = <Row>(columns: ExportColumn<Row>[], row: Row): Record<string, unknown> =>
  Object.fromEntries(columns.map(({ name, value }) => [name, value(row) ?? null]));
