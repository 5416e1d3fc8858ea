import type { Context } from '../../context.ts';
import { invalidAt, ServiceError } from '../../library/errors.ts';
import { parseSheetUrl } from '../../providers/apps/sheet-address.ts';
import { sheet, type Sheet, type SheetTab } from '../../providers/apps/sheet.ts';
import { toAppConnection } from '../connection/active-connection.ts';
import type { Integration } from '../contract.ts';
import { unwrapOutcome } from '../unwrap-outcome.ts';
import { readSheetHeader } from './locate-header.ts';
import { toSheetColumns, type SheetColumn } from './sheet-columns.ts';

export interface OpenSheet {
  adapter: Sheet;
  spreadsheetId: string;
  /** The title of the file. */
  title: string;
  tab: SheetTab;
  tabs: SheetTab[];
  /** The row with the headers, from 1. */
  headerRow: number;
  columns: SheetColumn[];
}

export interface SheetChoice {
  sheet_url: string;
  /** The name of the tab; undefined: the tab of the address, or else the first. */
  sheet_name?: string | undefined;
}

/**
 * Opens a tab of a spreadsheet. `place`: the location of the choice in the request, where an unknown tab is a 422; null: the tab was
 * selected earlier and no longer exists (502). `mapped`: the columns of a mapping, by which its header is known. Throws 403, 404 and 502.
 */
export async function openSheet(
  context: Context,
  integration: Integration,
  choice: SheetChoice,
  place: string[] | null,
  mapped: string[] = [],
): Promise<OpenSheet> {
  const address = parseSheetUrl(choice.sheet_url);
  if (address === null)
    throw invalidAt(
      [...(place ?? []), 'sheet_url'],
      'Is no address of a Google spreadsheet; copy it from the browser: https://docs.google.com/spreadsheets/d/.../edit',
    );
  const { spreadsheetId, tabId } = address;
  const adapter = sheet(toAppConnection(context, integration));
  const [known, opened] = await Promise.all([adapter.file(spreadsheetId), adapter.tabs(spreadsheetId)]);
  const { title, tabs } = await unwrapOutcome(context, integration, opened);
  // Google still reads files in the bin. Some grants do not allow a look at the file.
  if ('file' in known && known.file.isTrashed)
    throw new ServiceError('provider_failed', `sheet: "${title}" is in the bin; restore it, or choose another one`);
  const named = choice.sheet_name?.trim() || undefined;
  const tab = named === undefined ? (tabs.find(({ id }) => id === tabId) ?? tabs[0]) : tabs.find((one) => one.title === named);
  if (tab === undefined) throw missingTabError(title, named, tabs, place);
  const header = await unwrapOutcome(context, integration, await readSheetHeader(adapter, { spreadsheetId, tab: tab.title }, mapped));
  return { adapter, spreadsheetId, title, tab, tabs, headerRow: header.row, columns: toSheetColumns(header.cells) };
}

function missingTabError(title: string, named: string | undefined, tabs: SheetTab[], place: string[] | null): ServiceError {
  if (tabs.length === 0) return new ServiceError('provider_failed', `sheet: "${title}" has no sheet with cells; choose another file`);
  const known = tabs.map((tab) => `"${tab.title}"`).join(', ');
  const problem = `"${title}" has no sheet "${named ?? ''}"; its sheets are ${known}`;
  return place === null
    ? new ServiceError('provider_failed', `sheet: ${problem}; select one again`)
    : invalidAt([...place, 'sheet_name'], problem);
}
