import type { Context } from '../../accounts/context.ts';
import type { AppFailure } from '../../providers/broker/broker.ts';
import { existingSheet } from '../sheet/existing-sheet.ts';
import { selectedSheet, type SelectedSheet } from '../sheet/selected-sheet.ts';
import { failed, withIntegration, type ActionFailure } from './acting.ts';
import { rowsAtEnd } from './rows-at-end.ts';

export interface WantedRow {
  /** Null: the connected sheet. */
  integrationId: number | null;
  /** By the name of a column. */
  values: Record<string, string>;
  /** An earlier try may have added it, so it is looked for first. */
  mayExist: boolean;
}

/** `row` as the spreadsheet numbers it; null: the provider did not say. `isNew` false: an earlier try has added it. */
export interface AppendedRow {
  sheet: string;
  row: number | null;
  isNew: boolean;
}

/** Adds a row below the last one of the selected sheet, as text: nothing in it is taken for a formula. */
export async function appendRow(context: Context, { integrationId, values, mayExist }: WantedRow): Promise<AppendedRow | ActionFailure> {
  const integration = await existingSheet(context, integrationId);
  if ('failure' in integration) return integration;
  return withIntegration(context, integration, async ({ connection }) => {
    const selected = await selectedSheet(integration, connection);
    if ('failure' in selected) return selected;
    const row = rowOf(selected, values);
    if ('failure' in row) return row;
    return append(selected, row.cells, mayExist);
  });
}

async function append(
  { adapter, spreadsheetId, tab, columns }: SelectedSheet,
  cells: string[],
  mayExist: boolean,
): Promise<AppendedRow | ActionFailure> {
  if (mayExist) {
    const found = await equalRows({ adapter, spreadsheetId, tab, columns }, cells);
    if ('failure' in found) return { ...found, outcomeUnknown: true };
    if (found.rows.length > 1) return many(tab, found.rows);
    if (found.rows[0] !== undefined) return { sheet: tab, row: found.rows[0], isNew: false };
  }
  const outcome = await adapter.appendRows({ spreadsheetId, tab, rows: [cells] });
  return 'failure' in outcome ? outcome : { sheet: tab, row: outcome.row, isNew: true };
}

/** Numbers of the last rows that hold the same. */
async function equalRows(selected: SelectedSheet, cells: string[]): Promise<{ rows: number[] } | AppFailure | ActionFailure> {
  const tail = await rowsAtEnd(selected);
  if ('failure' in tail) return tail;
  const wanted = JSON.stringify(trimmed(cells));
  const rows = tail.rows.flatMap((row, index) => (JSON.stringify(trimmed(row)) === wanted ? [tail.fromRow + index] : []));
  return { rows };
}

/** A row is told without the empty cells at its end. */
const trimmed = (cells: string[]): string[] => cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1);

const many = (tab: string, rows: number[]) =>
  failed(
    'unknown',
    `"${tab}" has several rows with these values (${rows.slice(0, 5).join(', ')}), so nobody can say whether an earlier try has added one; look at the sheet. Values that name the run, such as {{ run.id }}, tell them apart`,
  );

function rowOf({ tab, columns }: SelectedSheet, values: Record<string, string>): { cells: string[] } | ActionFailure {
  const cells = columns.map(() => '');
  for (const [name, value] of Object.entries(values)) {
    const index = columns.findIndex((column) => column.name === name.trim().replace(/\s+/g, ' '));
    if (index < 0) return unknownColumn(tab, name, columns);
    cells[index] = value;
  }
  return { cells };
}

const unknownColumn = (tab: string, name: string, columns: SelectedSheet['columns']) =>
  failed(
    'unknown_column',
    `values: "${tab}" has no column ${JSON.stringify(name)}; its columns are ${columns.map((column) => JSON.stringify(column.name)).join(', ') || 'none'}`,
  );
