import type { Context } from '../../../context.ts';
import { choosePhoneColumns } from '../../../contacts/import/choose-phone.ts';
import { mapContactColumns } from '../../../contacts/import/contact-columns.ts';
import { sha256Hex } from '../../../library/security/hash.ts';
import { parseSheetUrl } from '../../../providers/apps/sheet-address.ts';
import { sheet, type Sheet, type SheetTab } from '../../../providers/apps/sheet.ts';
import type { AppFailure } from '../../../providers/broker/broker.ts';
import { appFailure } from '../../../providers/broker/app-failure.ts';
import { toAppConnection } from '../../connection/active-connection.ts';
import type { Integration, SheetData } from '../../contract.ts';
import { toCustomField } from '../../mapping/contact-fields.ts';
import { readSheetHeader, type SheetHeader } from '../../sheet/locate-header.ts';
import { findColumnIndex, toSheetColumns } from '../../sheet/sheet-columns.ts';
import { inboundFields, type MappedField } from '../mapped-fields.ts';
import { toSheetRecord, type ColumnIndexes } from './sheet-record.ts';
import type { SheetPosition, Source, SourceResult } from './source.ts';

const rowsPerPage = 500;
/** The maximum of tries to read a page while its columns are being moved. */
const maxReadAttempts = 3;

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
    if (lost.length > 0)
      return brokenMapping(
        lost,
        toSheetColumns(header.cells).map(({ name }) => name),
      );
    return { row: header.row + 1, rows: grid.rows, header: header.row, above: null };
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
      const records = rows.flatMap((cells, index) => toSheetRecord(cells, start.row + index, read.columns, fields, defaultCountry) ?? []);
      const row = start.row + rowsPerPage - overlap;
      const above = hashCells(read.rows[rowsPerPage - 1] ?? []);
      return { records, next: row > start.rows ? null : { row, rows: start.rows, header, above } };
    },
  };
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
    const { customKeys } = mapContactColumns(names, phones);
    const phoneFields = new Map(phones.slice(1).map((column) => [column, toCustomField(customKeys[column]!)]));
    return { fields: indexes, phones, phoneFields };
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
