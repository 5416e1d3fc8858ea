import type { ExportColumn } from '../../library/table-export/format-table.ts';
import { nullableTimestamp } from '../../library/time/clock.ts';
import type { RowRecord } from '../rpc.ts';
import type { RowCall, RowWithCalls } from '../rows/row-calls.ts';
import { toRowResult, transferFieldNames, type RowResult } from '../rows/row-result.ts';

/** A row of the report. `next_attempt_at` in epoch ms. */
export type ReportRow = RowWithCalls<Omit<RowRecord, 'id'>>;

/** A line of the report: a row in sum, or one of its attempts. `call` is null in sum, and of a row without attempts. */
export interface ReportLine {
  row: ReportRow;
  result: RowResult;
  call: RowCall | null;
}

export type ReportUnit = 'row' | 'attempt';

/** The lines of a page of rows. A row that was never called has one line, too, so that no row is left out. */
export function toLines(rows: ReportRow[], unit: ReportUnit): ReportLine[] {
  if (unit === 'row') return rows.map((row) => ({ row, result: toRowResult(row.calls), call: null }));
  return rows.flatMap((row) => {
    const attempts = row.calls.length > 0 ? row.calls : [null];
    return attempts.map((call) => ({ row, result: toRowResult(call ? [call] : []), call }));
  });
}

type Column = ExportColumn<ReportLine>;

const rowColumns: Column[] = [
  { name: 'row_number', value: ({ row }) => row.row_number },
  { name: 'phone', value: ({ row }) => row.phone },
  { name: 'contact_id', value: ({ row }) => row.contact_id },
  { name: 'state', value: ({ row }) => row.state },
  { name: 'outcome', value: ({ row }) => row.outcome },
  { name: 'reason', value: ({ row }) => row.reason },
  { name: 'attempts', value: ({ row }) => row.attempts },
  { name: 'next_attempt_at', value: ({ row }) => nullableTimestamp(row.next_attempt_at) },
  { name: 'run_ids', value: ({ row }) => row.run_ids.join(' ') },
];

/** Outcome and reason of a row without attempts say why it has none. */
const attemptColumns: Column[] = [
  ...rowColumns.slice(0, 4),
  { name: 'attempt', value: ({ call }) => call?.attempt },
  { name: 'run_id', value: ({ call }) => call?.call.id },
  { name: 'outcome', value: ({ row, call }) => (call ? call.call.outcome : row.outcome) },
  { name: 'reason', value: ({ row, call }) => (call ? call.call.reason : row.reason) },
];

const resultNames = [
  'disposition',
  'summary',
  'sentiment',
  'answered_by',
  'talk_seconds',
  ...transferFieldNames,
  'started_at',
  'ended_at',
  'cost_usd',
  'run_url',
  'transcript_url',
  'recording_url',
] as const satisfies (keyof RowResult)[];

const resultColumns = resultNames.map((name): Column => ({ name, value: ({ result }) => result[name] }));

const fixedColumns: Record<ReportUnit, Column[]> = {
  row: [...rowColumns, ...resultColumns],
  attempt: [...attemptColumns, ...resultColumns],
};

/** What is known of a campaign's columns before its rows are read. */
export const listFixedColumns = (unit: ReportUnit): Column[] => fixedColumns[unit];

/**
 * All columns: those that every report has, one for each extracted variable and one for each variable of the source. A variable whose name is
 * taken gets the suffix `_extracted` or `_variable`.
 */
export function listReportColumns(unit: ReportUnit, extractionNames: string[], variableNames: string[]): Column[] {
  const columns = [...fixedColumns[unit]];
  const taken = new Set(columns.map(({ name }) => name));
  const add = (name: string, suffix: string, values: (line: ReportLine) => Record<string, unknown>) => {
    let free = name;
    while (taken.has(free)) free += suffix;
    taken.add(free);
    columns.push({ name: free, value: (line) => (Object.hasOwn(values(line), name) ? values(line)[name] : null) });
  };
  for (const name of extractionNames) add(name, '_extracted', ({ result }) => result.extracted_variables);
  for (const name of variableNames) add(name, '_variable', ({ row }) => row.variables);
  return columns;
}
