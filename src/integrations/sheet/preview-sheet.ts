import type { Context } from '../../context.ts';
import { choosePhoneColumns } from '../../contacts/import/choose-phone.ts';
import { findPhoneColumns } from '../../contacts/import/phone-columns.ts';
import type { Integration } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { suggestMapping } from '../mapping/suggest-mapping.ts';
import { unwrapOutcome } from '../unwrap-outcome.ts';
import { openSheet, type OpenSheet, type SheetChoice } from './open-sheet.ts';

const rowsShown = 5;
/** The suggested mapping is made from more rows than are shown: a column without a header may be filled further down. */
const maxSampleRows = 200;
const minSampleRows = 20;
const maxSampleCells = 50_000;

/** The columns and first rows of a sheet, before it is selected. Throws 404, 400, 422, 403 and 502. */
export async function previewSheet(context: Context, id: number, choice: SheetChoice) {
  const integration = await existingIntegration(context, id, ['sheet']);
  const opened = await openSheet(context, integration, choice, ['query']);
  const sample = await readSample(context, integration, opened);
  const headers = opened.columns.map(({ name }) => name);
  const phones = choosePhoneColumns({ headers, sample: sample.map((cells) => ({ cells })) });
  return {
    sheet_name: opened.tab.title,
    sheets: opened.tabs.map(({ title }) => title),
    header_row: opened.headerRow,
    headers,
    sample_rows: sample.slice(0, rowsShown).map((row) => headers.map((_, index) => row[index] ?? '')),
    phone_columns: phones.columns.map((column) => headers[column]!),
    suggested_mapping: suggestMapping(opened.columns, sample),
  };
}

/** The first rows below the headers, with all of their cells. */
export async function readSample(context: Context, integration: Integration, opened: OpenSheet): Promise<string[][]> {
  const { adapter, spreadsheetId, tab, headerRow, columns } = opened;
  if (columns.length === 0) return [];
  const rows = Math.max(minSampleRows, Math.min(maxSampleRows, Math.floor(maxSampleCells / tab.columns)));
  const plainColumns = findPhoneColumns(
    columns.map(({ name }) => name),
    [],
  );
  const part = { spreadsheetId, tab: tab.title, headerRow, fromRow: headerRow + 1, rows, plainColumns };
  return (await unwrapOutcome(context, integration, await adapter.readRows(part))).rows;
}
