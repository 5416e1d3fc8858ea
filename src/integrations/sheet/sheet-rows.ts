import type { Context } from '../../accounts/context.ts';
import type { AppConnection } from '../../providers/apps/connection.ts';
import { readSheetUrl } from '../../providers/apps/sheet-address.ts';
import { sheet } from '../../providers/apps/sheet.ts';
import { failed, withIntegration, type ActionFailure } from '../actions/acting.ts';
import type { Integration, SheetData, SheetMapping } from '../contract.ts';
import { findEvenDisconnected } from '../store.ts';
import { selectedSheet } from './selected-sheet.ts';
import { sheetColumns } from './sheet-columns.ts';

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

const mostRows = 500;
const leastRows = 20;
const cellsAtOnce = 50_000;

/**
 * Opens the sheet of an integration by its id. Null: the organization never had such an integration. One that is of another provider or that
 * was disconnected says so. A connection that is found dead makes the integration inactive.
 */
export async function openSheetRows(context: Context, integrationId: number): Promise<SheetRows | ActionFailure | null> {
  const integration = await findEvenDisconnected(context.database, context.organization.id, integrationId);
  if (integration === null) return null;
  if (integration.provider !== 'sheet')
    return failed('rejected', `Integration ${integrationId} is of ${integration.provider}, not of sheet; name one of GET /integration/`);
  if (integration.disconnectedAt !== null)
    return failed('not_connected', `integration ${integrationId} was disconnected; ${connectIt}, select the sheet and name the new one`);
  const opened = await withIntegration(context, integration, ({ connection }) => open(context, integration, connection));
  return 'failure' in opened && opened.failure === 'not_connected'
    ? { ...opened, message: `integration ${integrationId}: ${opened.message}; ${connectIt}` }
    : opened;
}

const connectIt = 'connect one with POST /integration/connect { "provider": "sheet" }';

async function open(context: Context, integration: Integration, connection: AppConnection): Promise<SheetRows | ActionFailure> {
  const selected = await selectedSheet(integration, connection);
  if ('failure' in selected) return selected.failure === 'rejected' ? withoutTab(integration, connection, selected) : selected;
  const { adapter, spreadsheetId, tab } = selected;
  const known = await adapter.tabs(spreadsheetId);
  if ('failure' in known) return known;
  const headers = selected.columns.map(({ name }) => name);
  const lastRow = known.tabs.find(({ title }) => title === tab)?.rows ?? 1;
  const rowsAtOnce = Math.max(leastRows, Math.min(mostRows, Math.floor(cellsAtOnce / headers.length)));
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
        return { headers: sheetColumns(page.headers).map(({ name }) => name), rows: page.rows, next: next > lastRow ? null : next };
      }),
  };
}

/** What is there where the provider just says that a range is none: the tab that was selected has gone. */
async function withoutTab(integration: Integration, connection: AppConnection, rejected: ActionFailure): Promise<ActionFailure> {
  const { sheet_url = '', sheet_name: tab = '' } = integration.providerData as SheetData;
  const known = await sheet(connection).tabs(readSheetUrl(sheet_url)?.spreadsheetId ?? '');
  if ('failure' in known || known.tabs.some(({ title }) => title === tab)) return rejected;
  const others = known.tabs.map(({ title }) => `"${title}"`).join(', ') || 'none';
  return failed('rejected', `sheet: "${known.title}" has no sheet "${tab}" any more; its sheets are: ${others}. Select one of them`);
}
