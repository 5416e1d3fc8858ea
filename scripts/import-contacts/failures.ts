import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatCsvRow } from '../../src/library/text/format-csv.ts';

/** A row that was not imported. `row` is its number as a spreadsheet program shows it, the header being row 1. */
export interface Failure {
  row: number;
  phone: string;
  external_id: string;
  reason: string;
}

/** Begins with a byte order mark, without which Excel reads UTF-8 as something else. */
export function writeFailures(path: string, failures: Failure[]): void {
  const rows = failures.toSorted((one, other) => one.row - other.row);
  const lines = rows.map(({ row, phone, external_id, reason }) => formatCsvRow([String(row), phone, external_id, reason]));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `\ufeff${formatCsvRow(['row', 'phone', 'external_id', 'reason'])}${lines.join('')}`);
}
