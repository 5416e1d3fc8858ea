import { findFirstPhone } from '../../library/phone/phone-numbers.ts';
import type { TableRow } from '../../library/delimited-text/read-table.ts';
import type { SourceColumns } from './columns.ts';
import type { SeenPhones } from './seen-phones.ts';

/**
 * A row as a campaign begins with it. `row_number`: 1 = first row with data. `phone` is E.164 when it is pending or a duplicate, else the
 * beginning of the cell as it stands in the file. `reason` is a word, then for people a sentence.
 */
export interface SourceRow {
  row_number: number;
  phone: string;
  state: 'pending' | 'failed' | 'skipped';
  reason: string | null;
  variables: Record<string, string>;
}

const maxVariablesLength = 64 * 1024;

/** Every row of the table in batches, none dropped: a bad phone has failed, and whoever was there before is skipped. */
export async function* readSourceRows(
  rows: AsyncIterable<TableRow>,
  columns: SourceColumns,
  { defaultCountry, seen, batchRows }: { defaultCountry: string; seen: SeenPhones; batchRows: number },
): AsyncGenerator<SourceRow[], undefined, undefined> {
  let batch: SourceRow[] = [];
  for await (const row of rows) {
    batch.push(toSourceRow(row, columns, defaultCountry, seen));
    if (batch.length < batchRows) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function toSourceRow({ row_number, cells }: TableRow, columns: SourceColumns, defaultCountry: string, seen: SeenPhones): SourceRow {
  const variables = toVariables(cells, columns);
  const filled = columns.phones.map((column) => cells[column] ?? '').filter((cell) => cell !== '');
  const refuse = (reason: string, state: 'failed' | 'skipped' = 'failed', phone = filled[0] ?? ''): SourceRow => ({
    row_number,
    phone: phone.slice(0, 100),
    state,
    reason,
    variables,
  });

  if (filled.length === 0) return refuse('empty: the row has no phone number');
  const reading = parseFirstPhone(filled, defaultCountry);
  if ('reason' in reading) return refuse(`${reading.reason}: ${reading.detail}`);
  const length = Object.values(variables).reduce((sum, value) => sum + value.length, 0);
  if (length > maxVariablesLength)
    return {
      ...refuse(`row_too_large: its cells hold ${length} characters; at most ${maxVariablesLength} can be variables`),
      variables: {},
    };
  const before = seen.claim(reading.phone, row_number);
  // A source that is read once more after an interruption finds its own rows.
  if (before !== undefined && before !== row_number)
    return refuse(`duplicate: row ${before} has the same number`, 'skipped', reading.phone);
  return { row_number, phone: reading.phone, state: 'pending', reason: null, variables };
}

function parseFirstPhone(filled: string[], defaultCountry: string) {
  const first = findFirstPhone(filled[0]!, defaultCountry);
  if ('phone' in first) return first;
  for (const cell of filled.slice(1)) {
    const reading = findFirstPhone(cell, defaultCountry);
    if ('phone' in reading) return reading;
  }
  return first;
}

/** All rows have the same variables; only an unnamed column is left out where it is empty. */
const toVariables = (cells: string[], { variables }: SourceColumns): Record<string, string> =>
  Object.fromEntries(
    variables.flatMap(({ index, name, isNamed }) => {
      const cell = cells[index] ?? '';
      return isNamed || cell !== '' ? [[name, cell]] : [];
    }),
  );
