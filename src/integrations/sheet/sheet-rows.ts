import type { Context } from '../../context.ts';
import type { AppConnection } from '../../providers/apps/app-client.ts';
import { parseSheetUrl } from '../../providers/apps/sheet-address.ts';
import { sheet } from '../../providers/apps/sheet.ts';
import { actionFailure, withIntegration, type ActionFailure } from '../actions/run-action.ts';
import type { Integration, SheetData, SheetMapping } from '../contract.ts';
import { findIncludingDisconnected } from '../store.ts';
import { connectHint } from './find-sheet-integration.ts';
import { openSelectedSheet } from './selected-sheet.ts';
import { toSheetColumns } from './sheet-columns.ts';

/** Which rows are read, numbered from 1 as in the spreadsheet. Cells of `plainColumns` are returned as stored, without formatting. */
interface SheetPageRequest {
  fromRow: number;
  headerRow: number;
  plainColumns: number[];
}

export interface SheetPage {
  /** The names of the columns when this page was read. */
  headers: string[];
  /** The rows from `fromRow` on, with empty ones between; each ends with its last filled cell, which may be right of the last header. */
  rows: string[][];
  /** The first row of the next page; null: this is the last page. */
  next: number | null;
}

/** The selected sheet of an integration, for reading all of its rows. */
export interface SheetRows {
  /** The name of the tab. */
  name: string;
  /** The row with the headers, from 1, and the names of its columns. */
  headerRow: number;
  headers: string[];
  /** The last row of the grid. */
  lastRow: number;
  /** The column that is mapped to phone numbers; null: none is. */
  phoneColumn: string | null;
  read(request: SheetPageRequest): Promise<SheetPage | ActionFailure>;
}

const maxRowsPerPage = 500;
const minRowsPerPage = 20;
const maxCellsPerPage = 50_000;

/**
 * Opens the selected sheet of an integration. Null: the organization never had this integration. Another provider, and a disconnected
 * integration, are failures. A dead connection makes the integration inactive.
 */
export async function openSheetRows(context: Context, integrationId: number): Promise<SheetRows | ActionFailure | null> {
  const integration = await findIncludingDisconnected(context.database, context.organization.id, integrationId);
  if (integration === null) return null;
  if (integration.provider !== 'sheet')
    return actionFailure(
      'rejected',
      `Integration ${integrationId} is of ${integration.provider}, not of sheet; name one of GET /integration/`,
    );
  if (integration.disconnectedAt !== null)
    return actionFailure(
      'not_connected',
      `integration ${integrationId} was disconnected; ${connectHint}, select the sheet and name the new one`,
    );
  const opened = await withIntegration(context, integration, ({ connection }) => openRows(context, integration, connection));
  return 'failure' in opened && opened.failure === 'not_connected'
    ? { ...opened, message: `integration ${integrationId}: ${opened.message}; ${connectHint}` }
    : opened;
}

async function openRows(context: Context, integration: Integration, connection: AppConnection): Promise<SheetRows | ActionFailure> {
  const selected = await openSelectedSheet(integration, connection);
  if ('failure' in selected) return selected.failure === 'rejected' ? explainMissingTab(integration, connection, selected) : selected;
  const { adapter, spreadsheetId, tab } = selected;
  const known = await adapter.tabs(spreadsheetId);
  if ('failure' in known) return known;
  const headers = selected.columns.map(({ name }) => name);
  const { rows: lastRow = 1, columns: width = headers.length } = known.tabs.find(({ title }) => title === tab) ?? {};
  const rowsAtOnce = Math.max(minRowsPerPage, Math.min(maxRowsPerPage, Math.floor(maxCellsPerPage / width)));
  return {
    name: tab,
    headerRow: selected.headerRow,
    headers,
    lastRow,
    phoneColumn: (integration.fieldMapping as SheetMapping)['phone'] ?? null,
    read: (request) =>
      withIntegration<SheetPage>(context, integration, async () => {
        const page = await adapter.readRows({ ...request, spreadsheetId, tab, rows: rowsAtOnce });
        if ('failure' in page) return page;
        const next = request.fromRow + rowsAtOnce;
        return { headers: toSheetColumns(page.headers).map(({ name }) => name), rows: page.rows, next: next > lastRow ? null : next };
      }),
  };
}

/** Explains a rejected range: the selected tab may no longer exist. */
async function explainMissingTab(integration: Integration, connection: AppConnection, rejected: ActionFailure): Promise<ActionFailure> {
  const { sheet_url = '', sheet_name: tab = '' } = integration.providerData as SheetData;
  const known = await sheet(connection).tabs(parseSheetUrl(sheet_url)?.spreadsheetId ?? '');
  if ('failure' in known || known.tabs.some(({ title }) => title === tab)) return rejected;
  const others = known.tabs.map(({ title }) => `"${title}"`).join(', ') || 'none';
  return actionFailure('rejected', `sheet: "${known.title}" has no sheet "${tab}" any more; its sheets are: ${others}. Select one of them`);
}
