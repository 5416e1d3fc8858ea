import type { SheetPage, SheetRows } from '../../integrations/sheet/sheet-rows.ts';
import { toSheetColumns } from '../../integrations/sheet/sheet-columns.ts';
import { cleanCell } from '../../library/delimited-text/clean-cell.ts';
import { findHeader } from '../../library/delimited-text/find-header.ts';
import { hasPhoneColumn } from './columns.ts';
import type { SourceOptions } from './options.ts';

/** As many rows that are not empty are looked at, as in a file. */
const sampledRows = 50;

/**
 * The row with the headers of a sheet, from 1, and the names of its columns: the first row if it has the phone column, else the row that would be the
 * header in a file, below titles. `read` reads a page of the sheet. No headers: the sheet is empty.
 */
export async function findSheetHeader(
  { headers, phoneColumn }: Pick<SheetRows, 'headers' | 'phoneColumn'>,
  options: SourceOptions,
  read: (request: Parameters<SheetRows['read']>[0]) => Promise<SheetPage>,
): Promise<{ headerRow: number; headers: string[] }> {
  if (phoneColumn !== null && headers.includes(phoneColumn)) return { headerRow: 1, headers };
  if (hasPhoneColumn(headers, options)) return { headerRow: 1, headers };
  const page = await read({ fromRow: 1, headerRow: 1, plainColumns: [] });
  const rows = page.rows
    .map((row, index) => ({ row: index + 1, cells: row.map(cleanCell) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''))
    .slice(0, sampledRows);
  const place = findHeader(
    rows.map(({ cells }) => cells),
    (cells) => hasPhoneColumn(cells, options),
  );
  const header = rows[place];
  if (header === undefined) return { headerRow: 1, headers: [] };
  return { headerRow: header.row, headers: toSheetColumns(header.cells).map(({ name }) => name) };
}
