import { isContactHeader } from '../../contacts/import/read-contacts.ts';
import { cleanCell } from '../../library/delimited-text/clean-cell.ts';
import { findHeader } from '../../library/delimited-text/find-header.ts';
import type { Sheet } from '../../providers/apps/sheet.ts';
import type { AppFailure } from '../../providers/broker/broker.ts';
import { isNamedByPlace, toSheetColumns } from './sheet-columns.ts';

/** A row of a sheet with headers, numbered from 1 as in the spreadsheet, and its cells. */
export interface SheetHeader {
  row: number;
  cells: string[];
}

/** As many rows that are not empty are looked at, as in a file. */
const maxRowsLookedAt = 50;
/** As many rows are read for them. */
const rowsRead = 100;

/**
 * The row that would be the header in a file with these first rows of a sheet: empty rows do not count, and lines above it are titles. Null: all
 * rows are empty. `isHeader` knows headers of the reader's own.
 */
export function locateSheetHeader(rows: string[][], isHeader: (cells: string[]) => boolean): SheetHeader | null {
  const filled = rows
    .map((row, index) => ({ row: index + 1, cells: row.map(cleanCell) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
    .slice(0, maxRowsLookedAt);
  const place = findHeader(
    filled.map(({ cells }) => cells),
    isHeader,
  );
  return filled[place] ?? null;
}

/**
 * Reads the header of a sheet. `mapped`: the columns that it has if it is the header of before; where none has them, and where nothing is mapped, the
 * header is found as in an imported file. An empty sheet has the empty header in row 1.
 */
export async function readSheetHeader(
  adapter: Sheet,
  { spreadsheetId, tab }: { spreadsheetId: string; tab: string },
  mapped: string[],
): Promise<SheetHeader | AppFailure> {
  // Any row has columns that are named by their place.
  const names = mapped.filter((name) => !isNamedByPlace(name));
  const isMapped = (cells: string[]) => hasColumns(cells, names);
  const isHeader = names.length > 0 ? isMapped : isContactHeader;
  const first = await adapter.headers(spreadsheetId, tab);
  if ('failure' in first) return first;
  const isOneCell = first.headers.filter((cell) => cell.trim() !== '').length < 2;
  if (!isOneCell && isHeader(first.headers)) return { row: 1, cells: first.headers };

  const top = await adapter.readRows({ spreadsheetId, tab, fromRow: 1, rows: rowsRead });
  if ('failure' in top) return top;
  const known = names.length > 0 ? locateSheetHeader(top.rows, isMapped) : null;
  if (known !== null && isMapped(known.cells)) return known;
  return locateSheetHeader(top.rows, isContactHeader) ?? { row: 1, cells: [] };
}

function hasColumns(cells: string[], names: string[]): boolean {
  const columns = new Set(toSheetColumns(cells).map(({ name }) => name));
  return names.every((name) => columns.has(name));
}
