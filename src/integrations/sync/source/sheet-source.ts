import type { Context } from '../../../context.ts';
import { cleanCell } from '../../../library/delimited-text/clean-cell.ts';
import { hasSeveralNumbers } from '../../../library/phone/phone-numbers.ts';
import { choosePhoneColumns, chooseRowPhone, type RowPhone } from '../../../contacts/import/choose-phone.ts';
import { familyFirstNameHeaders } from '../../../contacts/import/contact-headers.ts';
import { toHeaderKey } from '../../../contacts/import/header-key.ts';
import { isUsableId } from '../../../contacts/import/usable-id.ts';
import { splitName } from '../../../contacts/import/split-name.ts';
import { sha256Hex } from '../../../library/security/hash.ts';
import { parseSheetUrl } from '../../../providers/apps/sheet-address.ts';
import { sheet, type Sheet, type SheetTab } from '../../../providers/apps/sheet.ts';
import type { AppFailure } from '../../../providers/broker/broker.ts';
import { appFailure } from '../../../providers/broker/app-failure.ts';
import { toAppConnection } from '../../connection/active-connection.ts';
import type { Integration, SheetData } from '../../contract.ts';
import { readSheetHeader, type SheetHeader } from '../../sheet/locate-header.ts';
import { findColumnIndex, toSheetColumns } from '../../sheet/sheet-columns.ts';
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

/** The columns that are mapped are no longer there: a sentence for the user. */
interface BrokenMapping {
  sourceInvalid: string;
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
  const place = (headers: string[]): ColumnIndexes | BrokenMapping => {
    const found = findColumns(headers, fields);
    if (!('sourceInvalid' in found)) columns = found;
    return found;
  };

  async function readRows(fromRow: number, headerRow: number) {
    if (columns === undefined) {
      const read = await adapter.headers(spreadsheetId, tab, headerRow);
      if ('failure' in read) return read;
      const found = place(read.headers);
      if ('sourceInvalid' in found) return found;
    }
    for (let look = 1; look <= maxReadAttempts; look++) {
      const before = columns!;
      const width = Math.max(...before.fields.values(), ...before.phones) + 1;
      const part = { spreadsheetId, tab, headerRow, fromRow, rows: rowsPerPage, columns: width, plainColumns: before.phones };
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
      const start = from && 'row' in from ? from : await openFirst();
      if (!('rows' in start)) return start;
      const { header = 1 } = start;
      // The row above is read again: it differs when rows were inserted or deleted meanwhile.
      const overlap = start.above === null ? 0 : 1;
      const read = await readRows(start.row - overlap, header);
      // A header that is not where it was may have been moved with its rows; the next reading looks for it.
      if ('sourceInvalid' in read && start.above !== null && !isTolerant) return 'rows_moved';
      if (!('rows' in read)) return read;
      if (start.above !== null && !isTolerant && hashCells(read.rows[0] ?? []) !== start.above) return 'rows_moved';
      const rows = read.rows.slice(overlap);
      const records = rows.flatMap((cells, index) => toRecord(cells, start.row + index, read.columns, fields, defaultCountry) ?? []);
      const row = start.row + rowsPerPage - overlap;
      const above = hashCells(read.rows[rowsPerPage - 1] ?? []);
      return { records, next: row > start.rows ? null : { row, rows: start.rows, header, above } };
    },
  };

  /** The position of the first row, below the headers. */
  async function openFirst(): Promise<SheetPosition | AppFailure | BrokenMapping> {
    const grid = await findTab(adapter, spreadsheetId, tab);
    if (!('rows' in grid)) return grid;
    const mapped = fields.map(({ external }) => external);
    const header: SheetHeader | AppFailure = await readSheetHeader(adapter, { spreadsheetId, tab }, mapped);
    if ('failure' in header) return header;
    const found = place(header.cells);
    if ('sourceInvalid' in found) return found;
    // A column right of the headers may have left the grid. Cells beyond it read as if they were empty.
    const lost = fields.filter(({ field }) => found.fields.get(field)! >= grid.columns);
    if (lost.length > 0) return brokenMapping(lost, toSheetColumns(header.cells).map(({ name }) => name));
    return { row: header.row + 1, rows: grid.rows, header: header.row, above: null };
  }
}

/** The tab with the size of its grid, most of which may be empty. */
async function findTab(adapter: Sheet, spreadsheetId: string, tab: string): Promise<SheetTab | AppFailure | BrokenMapping> {
  const [known, opened] = await Promise.all([adapter.file(spreadsheetId), adapter.tabs(spreadsheetId)]);
  if ('failure' in opened) return opened;
  // Google still reads files in the bin. Some grants do not allow a look at the file.
  if ('file' in known && known.file.isTrashed)
    return { sourceInvalid: `sheet: "${opened.title}" is in the bin; restore it, or select another one` };
  const found = opened.tabs.find(({ title }) => title === tab);
  const others = opened.tabs.map(({ title }) => `"${title}"`).join(', ');
  if (!found)
    return { sourceInvalid: `mapping_broken: "${opened.title}" has no sheet "${tab}" any more, but ${others}; select one of them` };
  return found;
}

function findColumns(headers: string[], fields: MappedField[]): ColumnIndexes | BrokenMapping {
  const names = toSheetColumns(headers).map(({ name }) => name);
  const missing = fields.filter(({ external }) => findColumnIndex(names, external) < 0);
  if (missing.length === 0) {
    const indexes = new Map(fields.map(({ field, external }) => [field, findColumnIndex(names, external)]));
    const mapped = indexes.get('phone');
    const phones = mapped === undefined ? [] : choosePhoneColumns({ headers: names, sample: [] }, { mapped }).columns;
    return { fields: indexes, phones };
  }
  return brokenMapping(missing, names);
}

function brokenMapping(missing: MappedField[], names: string[]): BrokenMapping {
  const [lost, kept] = [missing.map(({ external }) => `"${external}"`), names.slice(0, 30).map((name) => `"${name}"`)];
  return {
    sourceInvalid: `mapping_broken: the sheet has no column ${[...new Set(lost)].join(', ')} any more; its columns are ${kept.join(', ') || 'none'}. Name the column as before, or map the field to another one`,
  };
}

const isSameColumns = (one: ColumnIndexes, other: ColumnIndexes): boolean =>
  one.phones.join() === other.phones.join() && [...one.fields].every(([field, column]) => other.fields.get(field) === column);

const hashCells = (cells: string[]): string => sha256Hex(JSON.stringify(cells)).slice(0, 16);

/** Undefined: the row has no value in the mapped columns. */
function toRecord(
  row: string[],
  number: number,
  { fields: indexes, phones }: ColumnIndexes,
  fields: MappedField[],
  defaultCountry: string,
): SourceRecord | InvalidRecord | undefined {
  const cells = row.map(cleanCell);
  const phone = chooseRowPhone(cells, phones, defaultCountry);
  const hasRest = phone !== null && (phone.column !== phones[0] || hasSeveralNumbers(cells[phone.column]!, defaultCountry));
  const filled = fields.flatMap(({ field, isRest }) => {
    const column = field === 'phone' && phone ? phone.column : indexes.get(field)!;
    const text = isRest && !hasRest ? '' : (cells[column] ?? '');
    return text === '' ? [] : [[field, text] as const];
  });
  if (filled.length === 0) return undefined;
  const values: Record<string, string> = Object.fromEntries(filled);
  const place = { row: number };
  const key = toRecordKey(values, phone);
  if (typeof key !== 'string') return { place, problem: key };
  return { place, key, values: splitFullName(withoutUnusableId(values), fields), modifiedAt: null };
}

function toRecordKey({ external_id: id }: Record<string, string>, phone: RowPhone | null): string | InvalidRecord['problem'] {
  if (phone && 'reason' in phone) return { code: 'invalid_phone', detail: phone.detail };
  if (id !== undefined && isUsableId(id)) return `id:${id}`;
  if (phone) return `phone:${phone.phone}`;
  return { code: 'no_key', detail: 'the row has neither a phone number nor an id in the mapped columns; give it one of them' };
}

/** A placeholder such as "n/a", or a damaged id, would make one contact of many people. */
function withoutUnusableId(values: Record<string, string>): Record<string, string> {
  const { external_id: id, ...others } = values;
  return id !== undefined && !isUsableId(id) ? others : values;
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
