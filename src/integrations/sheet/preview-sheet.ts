import type { Context } from '../../context.ts';
import { findPhoneColumns } from '../../contacts/import/phone-columns.ts';
import type { Integration } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { suggestMapping } from '../mapping/suggest-mapping.ts';
import { unwrapOutcome } from '../unwrap-outcome.ts';
import { openSheet, type OpenSheet, type SheetChoice } from './open-sheet.ts';

const sampleRowCount = 5;

/** The columns and first rows of a sheet, before it is selected. Throws 404, 400, 422, 403 and 502. */
export async function previewSheet(context: Context, id: number, choice: SheetChoice) {
  const integration = await existingIntegration(context, id, ['sheet']);
  const opened = await openSheet(context, integration, choice, ['query']);
  const sample = await readSample(context, integration, opened);
  return {
    sheet_name: opened.tab.title,
    sheets: opened.tabs.map(({ title }) => title),
    headers: opened.columns.map(({ name }) => name),
    sample_rows: sample,
    suggested_mapping: suggestMapping(opened.columns, sample),
  };
}

/** The first rows below the headers, with a cell for each column. */
export async function readSample(context: Context, integration: Integration, opened: OpenSheet): Promise<string[][]> {
  const { adapter, spreadsheetId, tab, columns } = opened;
  if (columns.length === 0) return [];
  const names = columns.map(({ name }) => name);
  const part = { spreadsheetId, tab: tab.title, fromRow: 2, rows: sampleRowCount, columns: columns.length };
  const { rows } = await unwrapOutcome(
    context,
    integration,
    await adapter.readRows({ ...part, plainColumns: findPhoneColumns(names, []) }),
  );
  return rows.map((row) => names.map((_, index) => row[index] ?? ''));
}
