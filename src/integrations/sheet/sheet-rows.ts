import type { Context } from '../../context.ts';
import type { AppConnection } from '../../providers/apps/app-client.ts';
import { parseSheetUrl } from '../../providers/apps/sheet-address.ts';
import { sheet } from '../../providers/apps/sheet.ts';
import { actionFailure, withIntegration, type ActionFailure } from '../actions/run-action.ts';
import type { Integration, SheetData, SheetMapping } from '../contract.ts';
import { findIncludingDisconnected } from '../store.ts';
import { openSelectedSheet } from './selected-sheet.ts';
import { toSheetColumns } from './sheet-columns.ts';

/** Rows as the spreadsheet numbers them: 1 has the headers. */
export interface SheetPage {
  /** Names of the columns at the moment of this page. */
  headers: string[];
  /** From `fromRow` on, with empty ones between; each ends with its last cell that is not empty. */
  rows: string[][];
  /** Where the next page begins; null: this was the last. */
  next: number | null;
}

/** The sheet that an integration has selected, for whoever reads all of it. */
export interface SheetRows {
  /** Of the tab. */
  name: string;
  headers: string[];
  /** The last one that the tab has room for. */
  lastRow: number;
  /** The column that is mapped to phones, where one is. */
  phoneColumn: string | null;
  /** A page of so many columns from the left. Cells of `plainColumns` come as they are stored. */
  read(fromRow: number, columns: number, plainColumns: number[]): Promise<SheetPage | ActionFailure>;
}

const maxRowsPerPage = 500;
const minRowsPerPage = 20;
const maxCellsPerPage = 50_000;

/**
 * Opens the sheet of an integration by its id. Null: the organization never had such an integration. One that is of another provider or that
 * was disconnected says so. A connection that is found dead makes the integration inactive.
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

const connectHint = 'connect one with POST /integration/connect { "provider": "sheet" }';

async function openRows(context: Context, integration: Integration, connection: AppConnection): Promise<SheetRows | ActionFailure> {
  const selected = await openSelectedSheet(integration, connection);
  if ('failure' in selected) return selected.failure === 'rejected' ? explainMissingTab(integration, connection, selected) : selected;
  const { adapter, spreadsheetId, tab } = selected;
  const known = await adapter.tabs(spreadsheetId);
  if ('failure' in known) return known;
  const headers = selected.columns.map(({ name }) => name);
  const lastRow = known.tabs.find(({ title }) => title === tab)?.rows ?? 1;
  const rowsAtOnce = Math.max(minRowsPerPage, Math.min(maxRowsPerPage, Math.floor(maxCellsPerPage / headers.length)));
  return {
    name: tab,
    headers,
    lastRow,
    phoneColumn: (integration.fieldMapping as SheetMapping)['phone'] ?? null,
    read: (fromRow, columns, plainColumns) =>
      withIntegration<SheetPage>(context, integration, async () => {
        const part = { spreadsheetId, tab, fromRow, rows: rowsAtOnce, columns, plainColumns };
        const page = await adapter.readRows(part);
        if ('failure' in page) return page;
        const next = fromRow + rowsAtOnce;
        return { headers: toSheetColumns(page.headers).map(({ name }) => name), rows: page.rows, next: next > lastRow ? null : next };
      }),
  };
}

/** What is there where the provider just says that a range is none: the tab that was selected has gone. */
async function explainMissingTab(integration: Integration, connection: AppConnection, rejected: ActionFailure): Promise<ActionFailure> {
  const { sheet_url = '', sheet_name: tab = '' } = integration.providerData as SheetData;
  const known = await sheet(connection).tabs(parseSheetUrl(sheet_url)?.spreadsheetId ?? '');
  if ('failure' in known || known.tabs.some(({ title }) => title === tab)) return rejected;
  const others = known.tabs.map(({ title }) => `"${title}"`).join(', ') || 'none';
  return actionFailure('rejected', `sheet: "${known.title}" has no sheet "${tab}" any more; its sheets are: ${others}. Select one of them`);
}
