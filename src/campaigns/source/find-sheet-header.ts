import type { SheetPage, SheetRows } from '../../integrations/sheet/sheet-rows.ts';
import { locateSheetHeader } from '../../integrations/sheet/locate-header.ts';
import { toSheetColumns } from '../../integrations/sheet/sheet-columns.ts';
import { hasPhoneColumn } from './columns.ts';
import type { SourceOptions } from './options.ts';

/**
 * The row with the headers of a sheet, from 1, and the names of its columns: those of the integration if the phone column is among them, else the row
 * that would be the header in a file, below titles. `read` reads a page of the sheet. No headers: the sheet is empty.
 */
export async function findSheetHeader(
  { headerRow, headers, phoneColumn }: Pick<SheetRows, 'headerRow' | 'headers' | 'phoneColumn'>,
  options: SourceOptions,
  read: (request: Parameters<SheetRows['read']>[0]) => Promise<SheetPage>,
): Promise<{ row: number; headers: string[] }> {
  const isMapped = !options.phone_column && phoneColumn !== null && headers.includes(phoneColumn);
  if (isMapped || hasPhoneColumn(headers, options)) return { row: headerRow, headers };
  const { rows } = await read({ fromRow: 1, headerRow: 1, plainColumns: [] });
  const header = locateSheetHeader(rows, (cells) => hasPhoneColumn(cells, options));
  return header === null ? { row: 1, headers: [] } : { row: header.row, headers: toSheetColumns(header.cells).map(({ name }) => name) };
}
