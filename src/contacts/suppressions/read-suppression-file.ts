import { findPhones } from '../../library/phone/phone-numbers.ts';
import { readTable } from '../../library/delimited-text/read-table.ts';
import type { TableRow } from '../../library/delimited-text/table-of-records.ts';
import { parseIsoInstant } from '../../library/time/instants.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { cleanLine } from '../../library/text/clean-text.ts';
import { missingColumnMessage } from '../import/missing-column.ts';
import { isContactHeader } from '../import/read-contacts.ts';
import { findPhoneColumns } from '../import/phone-columns.ts';
import { toHeaderKey } from '../import/header-key.ts';

/** One number of a file. `reason` and `until` (epoch ms) as its row has them. */
export interface FileNumber {
  phone: string;
  reason: string | undefined;
  until: number | undefined;
}

interface FileProblem {
  row: number;
  value: string;
  detail: string;
}

interface SuppressionFile {
  rows: number;
  phoneColumns: string[];
  numbers: FileNumber[];
  problems: FileProblem[];
}

const maxReasonLength = 200;

/**
 * The numbers of a list in CSV, all of each cell: whoever asked not to be called is not to be called at any number. What cannot be read is a
 * problem, also beside numbers that can. A list without headers is read as well. `now` in epoch ms: an end in the past is a problem of its row. Throws `UnreadableFileError` when no column has numbers, and beyond `maxRows`.
 */
export async function readSuppressionFile(
  csv: string,
  { defaultCountry, maxRows, now }: { defaultCountry: string; maxRows: number; now: number },
): Promise<SuppressionFile> {
  const table = await readTable(csv, { isHeader: isContactHeader });
  const isPhone = (cell = '') => findPhones(cell, defaultCountry).some((reading) => 'phone' in reading);
  const named = findPhoneColumns(table.headers, table.sample);
  const isHeaderless = named.length === 0 && table.headerCells.some(isPhone);
  const hasPhone = (column: number) => isPhone(table.headerCells[column]) || table.sample.some(({ cells }) => isPhone(cells[column]));
  const phoneColumns = isHeaderless ? [...table.headers.keys()].filter(hasPhone) : named;
  if (phoneColumns.length === 0)
    throw new UnreadableFileError(missingColumnMessage('phone numbers', ['phone'], table.headers, defaultCountry));
  const keys = isHeaderless ? [] : table.headers.map(toHeaderKey);
  const columns = { phones: phoneColumns, reason: keys.indexOf('reason'), until: keys.indexOf('until') };
  const file: SuppressionFile = {
    rows: 0,
    phoneColumns: isHeaderless ? [] : phoneColumns.map((index) => table.headers[index]!),
    numbers: [],
    problems: [],
  };
  const first: TableRow[] = isHeaderless ? [{ row_number: 0, file_row: table.titles.length + 1, cells: table.headerCells }] : [];
  for (const row of first) addRow(file, row, columns, defaultCountry, now);
  for await (const row of table.rows) {
    if (file.rows === maxRows) {
      await table.close();
      throw new UnreadableFileError(`It has more than ${maxRows.toLocaleString('en')} rows; split it into several requests`);
    }
    addRow(file, row, columns, defaultCountry, now);
  }
  return file;
}

interface Columns {
  phones: number[];
  /** -1: there is none. */
  reason: number;
  until: number;
}

function addRow(file: SuppressionFile, row: TableRow, { phones, reason, until }: Columns, defaultCountry: string, now: number): void {
  file.rows += 1;
  const cells = phones.map((index) => row.cells[index] ?? '').filter((cell) => cell !== '');
  const fail = (value: string, detail: string) => void file.problems.push({ row: row.file_row, value: value.slice(0, 100), detail });
  if (row.problem !== undefined) return fail(cells[0] ?? '', row.problem);
  const end = readEnd(row.cells[until] ?? '', now);
  if (typeof end === 'string') return fail(row.cells[until]!, end);
  if (cells.length === 0) return fail('', 'The row has no phone number');
  const readings = cells.flatMap((cell) => findPhones(cell, defaultCountry).map((reading) => ({ cell, reading })));
  const found = readings.flatMap(({ reading }) => ('phone' in reading ? [reading.phone] : []));
  for (const { cell, reading } of readings) if ('detail' in reading) fail(cell, reading.detail);
  const why = cleanLine(row.cells[reason] ?? '').slice(0, maxReasonLength) || undefined;
  for (const phone of new Set(found)) file.numbers.push({ phone, reason: why, until: end });
}

/** Epoch ms; undefined: none is named; a text: what is wrong with it. */
function readEnd(cell: string, now: number): number | undefined | string {
  if (cell.trim() === '') return undefined;
  const end = parseIsoInstant(cell.trim());
  if (end === null) return 'Its "until" is no ISO 8601 date or time, such as 2027-01-31 or 2027-01-31T00:00:00Z';
  return Number(end) > now ? Number(end) : 'Its "until" is in the past';
}
