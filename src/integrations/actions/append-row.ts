import type { Context } from '../../context.ts';
import type { AppFailure } from '../../providers/broker/broker.ts';
import { findSheetIntegration } from '../sheet/find-sheet-integration.ts';
import { openSelectedSheet, type SelectedSheet } from '../sheet/selected-sheet.ts';
import { actionFailure, withIntegration, type ActionFailure } from './run-action.ts';
import { readLastRows } from './read-last-rows.ts';

export interface RowToAppend {
  /** Null: the connected sheet. */
  integrationId: number | null;
  /** By column name. */
  values: Record<string, string>;
  /** An earlier try may have added the row, so the sheet is searched first. */
  mayExist: boolean;
}

/** `row` is the number in the spreadsheet; null: the provider did not return it. `isNew` false: an earlier try has added the row. */
export interface AppendedRow {
  sheet: string;
  row: number | null;
  isNew: boolean;
}

/** Appends a row below the last one of the selected sheet, as text: no value becomes a formula. */
export async function appendRow(context: Context, { integrationId, values, mayExist }: RowToAppend): Promise<AppendedRow | ActionFailure> {
  const integration = await findSheetIntegration(context, integrationId);
  if ('failure' in integration) return integration;
  return withIntegration(context, integration, async ({ connection }) => {
    const selected = await openSelectedSheet(integration, connection);
    if ('failure' in selected) return selected;
    const row = toCells(selected, values);
    if ('failure' in row) return row;
    return appendOnce(selected, row.cells, mayExist);
  });
}

async function appendOnce(selected: SelectedSheet, cells: string[], mayExist: boolean): Promise<AppendedRow | ActionFailure> {
  const { adapter, spreadsheetId, tab, headerRow } = selected;
  if (mayExist) {
    const found = await findEqualRows(selected, cells);
    if ('failure' in found) return { ...found, outcomeUnknown: true };
    if (found.rows.length > 1) return ambiguousRowsFailure(tab, found.rows);
    if (found.rows[0] !== undefined) return { sheet: tab, row: found.rows[0], isNew: false };
  }
  const outcome = await adapter.appendRows({ spreadsheetId, tab, headerRow, rows: [cells] });
  return 'failure' in outcome ? outcome : { sheet: tab, row: outcome.row, isNew: true };
}

/** The numbers of the last rows with equal cells. */
async function findEqualRows(selected: SelectedSheet, cells: string[]): Promise<{ rows: number[] } | AppFailure | ActionFailure> {
  const tail = await readLastRows(selected);
  if ('failure' in tail) return tail;
  const wanted = JSON.stringify(trimTrailingEmpty(cells));
  const rows = tail.rows.flatMap((row, index) => (JSON.stringify(trimTrailingEmpty(row)) === wanted ? [tail.fromRow + index] : []));
  return { rows };
}

/** The provider returns rows without the empty cells at their end. */
const trimTrailingEmpty = (cells: string[]): string[] => cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);

const ambiguousRowsFailure = (tab: string, rows: number[]) =>
  actionFailure(
    'unknown',
    `"${tab}" has several rows with these values (${rows.slice(0, 5).join(', ')}), so nobody can say whether an earlier try has added one; look at the sheet. Values that name the run, such as {{ run.id }}, tell them apart`,
  );

function toCells({ tab, columns }: SelectedSheet, values: Record<string, string>): { cells: string[] } | ActionFailure {
  const cells = columns.map(() => '');
  for (const [name, value] of Object.entries(values)) {
    const index = columns.findIndex((column) => column.name === name.trim().replace(/\s+/g, ' '));
    if (index < 0) return unknownColumnFailure(tab, name, columns);
    cells[index] = value;
  }
  return { cells };
}

const unknownColumnFailure = (tab: string, name: string, columns: SelectedSheet['columns']) =>
  actionFailure(
    'unknown_column',
    `values: "${tab}" has no column ${JSON.stringify(name)}; its columns are ${columns.map((column) => JSON.stringify(column.name)).join(', ') || 'none'}`,
  );
