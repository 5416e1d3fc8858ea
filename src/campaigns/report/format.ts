import { nullableTimestamp } from '../../library/time/clock.ts';
import { formatCsvRow } from '../../library/text/format-csv.ts';
import type { RowState } from '../rows/row-states.ts';

/** `next_attempt_at` in epoch ms. */
export interface ReportRow {
  row_number: number;
  phone: string;
  contact_id: number | null;
  state: RowState;
  outcome: string | null;
  reason: string | null;
  attempts: number;
  next_attempt_at: number | null;
  run_ids: number[];
  variables: Record<string, unknown>;
}

const reportColumns = ['row_number', 'phone', 'contact_id', 'state', 'outcome', 'reason', 'attempts', 'next_attempt_at', 'run_ids'];

/**
 * Every row of a campaign as CSV, page by page, then a column for each variable; one that is named like a column of the report gets
 * `_variable` behind its name. Begins with a byte order mark, without which Excel reads UTF-8 as something else.
 */
export async function* formatReport(pages: AsyncIterable<ReportRow[]>, variableNames: string[]): AsyncGenerator<string> {
  yield `\ufeff${formatCsvRow([...reportColumns, ...variableNames.map((name) => (reportColumns.includes(name) ? `${name}_variable` : name))])}`;
  for await (const page of pages) yield page.map((row) => formatRow(row, variableNames)).join('');
}

const formatRow = (row: ReportRow, variableNames: string[]): string =>
  formatCsvRow([
    String(row.row_number),
    row.phone,
    row.contact_id === null ? '' : String(row.contact_id),
    row.state,
    row.outcome ?? '',
    row.reason ?? '',
    String(row.attempts),
    nullableTimestamp(row.next_attempt_at) ?? '',
    row.run_ids.join(' '),
    ...variableNames.map((name) => toCell(Object.hasOwn(row.variables, name) ? row.variables[name] : null)),
  ]);

function toCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
