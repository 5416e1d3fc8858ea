import { findPhoneColumns } from '../../contacts/import/phone-columns.ts';
import { cleanCell } from '../../library/delimited-text/clean-cell.ts';
import { toTableRow, type TableRow } from '../../library/delimited-text/table-of-records.ts';
import { isFailure, type ActionFailure } from '../../integrations/actions/run-action.ts';
import { toServiceError } from '../../integrations/unwrap-outcome.ts';
import { type SheetPage, type SheetRows, openSheetRows } from '../../integrations/sheet/sheet-rows.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { ServiceError } from '../../library/errors.ts';
import type { Context } from '../../context.ts';
import { chooseColumns, type SourceColumns, type TableColumns } from './columns.ts';
import { findSheetHeader } from './find-sheet-header.ts';
import type { SourceOptions } from './options.ts';
import { readSourceRows, addContacts } from './read-rows.ts';
import type { CampaignSource } from './campaign-source.ts';

/** The rows of a page that are not empty, with the current columns. `next`: the row number after the page; null: the page is the last. */
interface TablePage {
  rows: TableRow[];
  columns: SourceColumns;
  next: number | null;
}

export interface SheetTable {
  /** The columns when the sheet was opened. */
  columns: TableColumns;
  /** Counts the rows that are not empty. After ten pages, every row of the sheet's grid counts. */
  count(): Promise<number>;
  /** Reads a page from a row number on; 1 is the first row below the headers. */
  read(rowNumber: number): Promise<TablePage>;
}

/** How often a page is read whose columns are being moved. */
const maxReadAttempts = 3;
const maxColumns = 2_000;
/** How many pages are read to count rows: each is a request to the provider, while a person waits. */
const maxPagesCounted = 10;

/**
 * Opens a sheet as a campaign reads it. Throws, also while rows are read, `UnreadableFileError` for a sheet that cannot be read or has no phone
 * column, and a `ServiceError` when the provider fails for the moment.
 */
export async function openSheetTable(
  opened: SheetRows | ActionFailure,
  options: SourceOptions,
  defaultCountry: string,
): Promise<SheetTable> {
  const sheet = requireSuccess(opened);
  const { name } = sheet;
  const { row: headerRow, headers } = await findSheetHeader(sheet, options, async (request) => requireSuccess(await sheet.read(request)));
  if (headers.length === 0) throw new UnreadableFileError(`The sheet "${name}" is empty: it has no header row`);
  if (headers.length > maxColumns)
    throw new UnreadableFileError(`The sheet "${name}" has ${headers.length} columns, which is more than ${maxColumns}`);
  const country = options.default_country ?? defaultCountry;
  const mapped = headers.find((header) => header === sheet.phoneColumn);
  const readPage = async (rowNumber: number, plainColumns: number[]) =>
    requireSuccess(await sheet.read({ fromRow: rowNumber + headerRow, headerRow, plainColumns }));
  const first = await readPage(1, findPhoneColumns(headers, []));
  const chosen = chooseColumns({ headers, sample: toRows(first, 1, headerRow) }, { ...options, mapped_column: mapped }, country);
  if (first.rows.length === 0)
    throw new UnreadableFileError(`The sheet "${name}" has a header row and no rows below it; add the people to call`);
  const phones = chosen.phones.map((index) => headers[index]!);

  /** Finds the chosen columns by name among the current headers. */
  const locateColumns = (names: string[]): SourceColumns => {
    const located = chooseColumns({ headers: names, sample: [] }, { phone_column: phones[0] }, country);
    return {
      ...located,
      choice: chosen.choice,
      phones: [located.phones[0], ...phones.slice(1).flatMap((phone) => findIndexes(names, phone))],
    };
  };

  const toRowNumber = (row: number | null) => (row === null ? null : row - headerRow);
  let columns = chosen;
  const table: SheetTable = {
    columns: { ...chosen, headers },
    async count() {
      let counted = toRows(first, 1, headerRow).length;
      let next = toRowNumber(first.next);
      for (let pages = 1; next !== null && pages < maxPagesCounted; pages++) {
        const page = await table.read(next);
        counted += page.rows.length;
        next = page.next;
      }
      return next === null ? counted : counted + sheet.lastRow - headerRow - next + 1;
    },
    async read(rowNumber) {
      for (let attempt = 1; attempt <= maxReadAttempts; attempt++) {
        const plain = columns.phones;
        const page = await readPage(rowNumber, plain);
        columns = locateColumns(page.headers);
        if (columns.phones.join() === plain.join())
          return { rows: toRows(page, rowNumber, headerRow), columns, next: toRowNumber(page.next) };
      }
      throw new ServiceError('provider_failed', 'sheet: columns keep being moved while they are read');
    },
  };
  return table;
}

const findIndexes = (names: string[], name: string): number[] => {
  const index = names.indexOf(name);
  return index < 0 ? [] : [index];
};

/** The rows that are not empty, with all of their cells, as wide as they are. */
const toRows = ({ rows }: SheetPage, rowNumber: number, headerRow: number): TableRow[] =>
  rows.flatMap((row, index) => {
    const cells = row.map(cleanCell);
    if (cells.every((cell) => cell === '')) return [];
    return [toTableRow({ file_row: headerRow + rowNumber + index, cells }, rowNumber + index)];
  });

function requireSuccess<Outcome extends object>(outcome: Outcome | ActionFailure): Outcome {
  if (!isFailure(outcome)) return outcome;
  const { failure, message } = outcome;
  if (failure === 'rate_limited' || failure === 'unavailable') throw toServiceError({ ...outcome, failure });
  throw new UnreadableFileError(failure === 'rejected' ? message : `${failure}: ${message}`);
}

/**
 * The rows of an integration's selected sheet, each with the contact that has its number. A row's number is its place below the headers, so that
 * reading after an interruption skips the rows above.
 */
export async function openSheetSource(context: Context, sourceId: string, options: SourceOptions): Promise<CampaignSource> {
  const { organization } = context;
  const sheet = await openSheetRows(context, Number(sourceId));
  if (sheet === null) throw new UnreadableFileError('The integration that the sheet was read through is gone; choose another source');
  const table = await openSheetTable(sheet, options, organization.defaultCountry);
  const defaultCountry = options.default_country ?? organization.defaultCountry;
  return {
    columns: table.columns,
    async *batches(seen, after) {
      let next: number | null = (after?.row_number ?? 0) + 1;
      while (next !== null) {
        const page = await table.read(next);
        for await (const batch of readSourceRows(toAsyncIterable(page.rows), page.columns, {
          defaultCountry,
          seen,
          batchRows: page.rows.length,
        }))
          yield await addContacts(context, batch);
        next = page.next;
      }
    },
    close: async () => {},
  };
}

async function* toAsyncIterable(rows: TableRow[]): AsyncGenerator<TableRow> {
  yield* rows;
}
