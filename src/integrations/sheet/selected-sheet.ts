import { appFailure } from '../../providers/broker/app-failure.ts';
import { parseSheetUrl } from '../../providers/apps/sheet-address.ts';
import { sheet, type Sheet } from '../../providers/apps/sheet.ts';
import type { AppConnection } from '../../providers/apps/app-client.ts';
import { actionFailure, type ActionFailure } from '../actions/run-action.ts';
import type { Integration, SheetData, SheetMapping } from '../contract.ts';
import { readSheetHeader } from './locate-header.ts';
import { toSheetColumns, type SheetColumn } from './sheet-columns.ts';

/** The selected sheet of an integration, with its current columns. */
export interface SelectedSheet {
  adapter: Sheet;
  spreadsheetId: string;
  /** The name of the tab. */
  tab: string;
  /** The row with the headers, from 1. */
  headerRow: number;
  columns: SheetColumn[];
}

/** Opens the selected sheet, and returns failures instead of throwing. A sheet in the bin is `rejected`. */
export async function openSelectedSheet(integration: Integration, connection: AppConnection): Promise<SelectedSheet | ActionFailure> {
  const { sheet_url, sheet_name: tab } = integration.providerData as SheetData;
  const address = sheet_url === undefined ? null : parseSheetUrl(sheet_url);
  if (address === null || tab === undefined)
    return actionFailure('no_sheet', `No sheet is selected; select one with POST /integration/${integration.id}/sheet/select`);
  const { spreadsheetId } = address;
  const adapter = sheet(connection);
  const mapped = Object.values(integration.fieldMapping as SheetMapping);
  const [known, header] = await Promise.all([adapter.file(spreadsheetId), readSheetHeader(adapter, { spreadsheetId, tab }, mapped)]);
  if ('failure' in header) return header;
  // Google still reads and writes files in the bin. Some grants do not allow a look at the file.
  if ('file' in known && known.file.isTrashed)
    return appFailure('rejected', `sheet: "${known.file.name}" is in the bin; restore it, or select another one`);
  return { adapter, spreadsheetId, tab, headerRow: header.row, columns: toSheetColumns(header.cells) };
}
