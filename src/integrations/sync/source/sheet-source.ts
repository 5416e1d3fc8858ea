import type { Context } from '../../../context.ts';
import { findFirstPhone } from '../../../library/phone/phone-numbers.ts';
import { familyFirstNameHeaders } from '../../../contacts/import/contact-headers.ts';
import { toHeaderKey } from '../../../contacts/import/header-key.ts';
import { findPhoneColumns } from '../../../contacts/import/phone-columns.ts';
import { splitName } from '../../../contacts/import/split-name.ts';
import { sha256Hex } from '../../../library/security/hash.ts';
import { parseSheetUrl } from '../../../providers/apps/sheet-address.ts';
import { sheet, type Sheet } from '../../../providers/apps/sheet.ts';
import type { AppFailure } from '../../../providers/broker/broker.ts';
import { appFailure } from '../../../providers/broker/app-failure.ts';
import { toAppConnection } from '../../connection/active-connection.ts';
import type { Integration, SheetData } from '../../contract.ts';
import { toSheetColumns } from '../../sheet/sheet-columns.ts';
import { inboundFields, type MappedField } from '../mapped-fields.ts';
import type { SheetPosition, Source, SourceResult, SourceRecord, InvalidRecord } from './source.ts';

const rowsPerPage = 500;
/** The maximum of tries to read a page while its columns are being moved. */
const maxReadAttempts = 3;

/** `fields`: the index of each mapped field's column. `phones`: those of the phone columns, the mapped one first; none without a mapped one. */
interface ColumnIndexes {
  fields: Map<string, number>;
  phones: number[];
}

/**
 * The rows of the selected sheet. The columns of each page are found by the headers of the same moment. `isTolerant`: rows that are moved
 * during the reading are accepted.
 */
export function sheetSource(context: Context, integration: Integration, isTolerant: boolean): Source {
  const { sheet_url = '', sheet_name: tab = '' } = integration.providerData as SheetData;
  const spreadsheetId = parseSheetUrl(sheet_url)?.spreadsheetId ?? '';
  const adapter = sheet(toAppConnection(context, integration));
  const fields = inboundFields(integration);
  const { defaultCountry } = context.organization;
  let columns: ColumnIndexes | undefined;

  /** The headers as they are now, unless one that is mapped has gone. */
  const place = (headers: string[]): ColumnIndexes | { sourceInvalid: string } => {
    const found = findColumns(headers, fields);
    if (!('sourceInvalid' in found)) columns = found;
    return found;
  };

  async function readRows(fromRow: number) {
    if (columns === undefined) {
      const read = await adapter.headers(spreadsheetId, tab);
      if ('failure' in read) return read;
      const found = place(read.headers);
      if ('sourceInvalid' in found) return found;
    }
    for (let look = 1; look <= maxReadAttempts; look++) {
      const before = columns!;
      const width = Math.max(...before.fields.values(), ...before.phones) + 1;
      const part = { spreadsheetId, tab, fromRow, rows: rowsPerPage, columns: width, plainColumns: before.phones };
      const read = await adapter.readRows(part);
      if ('failure' in read) return read;
      const found = place(read.headers);
      if ('sourceInvalid' in found) return found;
      if (isSameColumns(before, found)) return { rows: read.rows, columns: found };
    }
    return appFailure('unavailable', 'sheet: columns keep being moved while they are read');
  }

  return {
    async read(from): Promise<SourceResult> {
      const start = from && 'row' in from ? from : await firstPlace(adapter, spreadsheetId, tab);
      if (!('rows' in start)) return start;
      // The row above is read again: it differs when rows were inserted or deleted meanwhile.
      const overlap = start.above === null ? 0 : 1;
      const read = await readRows(start.row - overlap);
      if (!('rows' in read)) return read;
      if (start.above !== null && !isTolerant && hashCells(read.rows[0] ?? []) !== start.above) return 'rows_moved';
      const rows = read.rows.slice(overlap);
      const records = rows.flatMap((cells, index) => toRecord(cells, start.row + index, read.columns, fields, defaultCountry) ?? []);
      const row = start.row + rowsPerPage - overlap;
      const above = hashCells(read.rows[rowsPerPage - 1] ?? []);
      return { records, next: row > start.rows ? null : { row, rows: start.rows, above } };
    },
  };
}

async function firstPlace(
  adapter: Sheet,
  spreadsheetId: string,
  tab: string,
): Promise<SheetPosition | AppFailure | { sourceInvalid: string }> {
  const [known, opened] = await Promise.all([adapter.file(spreadsheetId), adapter.tabs(spreadsheetId)]);
  if ('failure' in opened) return opened;
  // Google still reads files in the bin. Some grants do not allow a look at the file.
  if ('file' in known && known.file.isTrashed)
    return { sourceInvalid: `sheet: "${opened.title}" is in the bin; restore it, or select another one` };
  const found = opened.tabs.find(({ title }) => title === tab);
  const others = opened.tabs.map(({ title }) => `"${title}"`).join(', ');
  if (!found)
    return { sourceInvalid: `mapping_broken: "${opened.title}" has no sheet "${tab}" any more, but ${others}; select one of them` };
  return { row: 2, rows: found.rows, above: null };
}

function findColumns(headers: string[], fields: MappedField[]): ColumnIndexes | { sourceInvalid: string } {
  const names = toSheetColumns(headers).map(({ name }) => name);
  const missing = fields.filter(({ external }) => !names.includes(external));
  if (missing.length === 0) {
    const indexes = new Map(fields.map(({ field, external }) => [field, names.indexOf(external)]));
    const phone = indexes.get('phone');
    return { fields: indexes, phones: phone === undefined ? [] : listPhones(names, phone) };
  }
  const [lost, kept] = [missing.map(({ external }) => `"${external}"`), names.slice(0, 30).map((name) => `"${name}"`)];
  return {
    sourceInvalid: `mapping_broken: the sheet has no column ${[...new Set(lost)].join(', ')} any more; its columns are ${kept.join(', ') || 'none'}. Name the column as before, or map the field to another one`,
  };
}

/** A mapped column that is not called a phone is a choice of its own, beside which no other counts. */
function listPhones(names: string[], mapped: number): number[] {
  const called = findPhoneColumns(names, []);
  return called.includes(mapped) ? [mapped, ...called.filter((column) => column !== mapped)] : [mapped];
}

const isSameColumns = (one: ColumnIndexes, other: ColumnIndexes): boolean =>
  one.phones.join() === other.phones.join() && [...one.fields].every(([field, column]) => other.fields.get(field) === column);

const hashCells = (cells: string[]): string => sha256Hex(JSON.stringify(cells)).slice(0, 16);

/** Undefined: the row has no value in the mapped columns. */
function toRecord(
  cells: string[],
  row: number,
  { fields: indexes, phones }: ColumnIndexes,
  fields: MappedField[],
  defaultCountry: string,
): SourceRecord | InvalidRecord | undefined {
  const phone = choosePhone(
    phones.map((column) => cells[column] ?? ''),
    defaultCountry,
  );
  const filled = [...indexes].flatMap(([field, column]) => {
    const text = field === 'phone' ? phone : (cells[column]?.trim() ?? '');
    return text === '' ? [] : [[field, text] as const];
  });
  if (filled.length === 0) return undefined;
  const values: Record<string, string> = Object.fromEntries(filled);
  const place = { row };
  const key = toRecordKey(values, defaultCountry);
  if (typeof key !== 'string') return { place, problem: key };
  return { place, key, values: splitFullName(values, fields), modifiedAt: null };
}

/** The first cell with a phone number, as in an imported file; without one, the first that is not empty. */
function choosePhone(cells: string[], defaultCountry: string): string {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return filled.find((cell) => 'phone' in findFirstPhone(cell, defaultCountry)) ?? filled[0] ?? '';
}

function toRecordKey({ external_id: id, phone }: Record<string, string>, defaultCountry: string): string | InvalidRecord['problem'] {
  const reading = phone === undefined ? undefined : findFirstPhone(phone, defaultCountry);
  if (reading && !('phone' in reading)) return { code: 'invalid_phone', detail: reading.detail };
  if (id !== undefined) return `id:${id}`;
  if (reading) return `phone:${reading.phone}`;
  return { code: 'no_key', detail: 'the row has neither a phone number nor an id in the mapped columns; give it one of them' };
}

/** Splits the full names of a column that is mapped to both names. */
function splitFullName(values: Record<string, string>, fields: MappedField[]): Record<string, string> {
  const columnOf = (name: string) => fields.find(({ field }) => field === name)?.external;
  const column = columnOf('first_name');
  if (column === undefined || column !== columnOf('last_name') || values['first_name'] === undefined) return values;
  const names = splitName(values['first_name'], familyFirstNameHeaders.includes(toHeaderKey(column)));
  const { first_name: _whole, last_name: _same, ...others } = values;
  return { ...others, ...Object.fromEntries(Object.entries(names).filter(([, name]) => name !== '')) };
}
