import type { Context } from '../../accounts/context.ts';
import { findPhoneColumns } from '../../contacts/spreadsheets/phone-columns.ts';
import type { Integration } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { suggestedMapping } from '../mapping/suggested-mapping.ts';
import { succeeded } from '../succeeded.ts';
import { openSheet, type OpenSheet, type SheetChoice } from './open-sheet.ts';

const sampleRows = 5;

/** What a sheet holds, before it is chosen. */
export async function previewSheet(context: Context, id: number, choice: SheetChoice) {
  const integration = await existingIntegration(context, id, ['sheet']);
  const opened = await openSheet(context, integration, choice, ['query']);
  const sample = await sampleOf(context, integration, opened);
  return {
    sheet_name: opened.tab.title,
    sheets: opened.tabs.map(({ title }) => title),
    headers: opened.columns.map(({ name }) => name),
    sample_rows: sample,
    suggested_mapping: suggestedMapping(opened.columns, sample),
  };
}

/** The first rows below the headers, a cell for each column. */
export async function sampleOf(context: Context, integration: Integration, opened: OpenSheet): Promise<string[][]> {
  const { adapter, spreadsheetId, tab, columns } = opened;
  if (columns.length === 0) return [];
  const names = columns.map(({ name }) => name);
  const part = { spreadsheetId, tab: tab.title, fromRow: 2, rows: sampleRows, columns: columns.length };
  const { rows } = await succeeded(context, integration, await adapter.readRows({ ...part, plainColumns: findPhoneColumns(names, []) }));
  return rows.map((row) => names.map((_, index) => row[index] ?? ''));
}
