import { columnName, type TableRow } from '../../library/delimited-text/table-of-records.ts';
import { hasSeveralNumbers } from '../../library/phone/phone-numbers.ts';
import type { Context } from '../../context.ts';
import { chooseRowPhone } from '../../contacts/import/choose-phone.ts';
import { findContactsByPhone } from '../../contacts/contacts/by-phone.ts';
import { findNamedTimeZone } from '../../contacts/contacts/named-time-zone.ts';
import type { SourceColumns } from './columns.ts';
import { claimPhone, type SeenPhones } from './seen-phones.ts';
import type { CampaignSourceRow } from './campaign-source.ts';

/** A row of a table, before its contact is looked up. `row_number` 1 is the first row with data. */
export type SourceRow = Omit<CampaignSourceRow, 'contact_id' | 'variables'> & { variables: Record<string, string> };

const maxVariablesLength = 64 * 1024;

/** Every row of a table, in batches. A row without a dialable number is failed; a row with the number of an earlier one is skipped. */
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

function toSourceRow(
  { row_number, cells, problem }: TableRow,
  columns: SourceColumns,
  defaultCountry: string,
  seen: SeenPhones,
): SourceRow {
  const variables = toVariables(cells, columns);
  const filled = columns.phones.find((column) => cells[column]);
  const toFailed = (reason: string): SourceRow => ({
    row_number,
    phone: (filled === undefined ? '' : cells[filled]!).slice(0, 100),
    state: 'failed',
    reason,
    variables,
  });

  if (problem !== undefined) return toFailed(`broken_row: ${problem}`);
  const reading = chooseRowPhone(cells, columns.phones, defaultCountry);
  if (reading === null) return toFailed('empty: the row has no phone number');
  if ('reason' in reading) return toFailed(`${reading.reason}: ${reading.detail}`);
  const preferred = cells[columns.phones[0]] ?? '';
  // The cell holds a second number, or one that cannot be dialled.
  if (preferred !== '' && (reading.column !== columns.phones[0] || hasSeveralNumbers(preferred, defaultCountry)))
    variables[columns.phone_variable] = preferred;
  const length = Object.values(variables).reduce((sum, value) => sum + value.length, 0);
  if (length > maxVariablesLength)
    return {
      ...toFailed(`row_too_large: its cells hold ${length} characters; at most ${maxVariablesLength} can be variables`),
      variables: {},
    };
  return { row_number, phone: reading.phone, phone_column: reading.column, ...claimPhone(seen, reading.phone, row_number), variables };
}

/** All rows have the same variables; only an empty cell of a column without header is left out. A cell right of all columns is named by its place. */
function toVariables(cells: string[], { variables, width }: SourceColumns): Record<string, string> {
  const beyond = cells.slice(width).flatMap((cell, place) => (cell === '' ? [] : [[columnName(width + place), cell] as const]));
  const within = variables.flatMap(({ index, name, isNamed }) => {
    const cell = cells[index] ?? '';
    return isNamed || cell !== '' ? [[name, cell] as const] : [];
  });
  return Object.fromEntries([...beyond, ...within]);
}

/** Gives each row of a table the contact that has its number. */
export async function addContacts(context: Context, rows: SourceRow[]): Promise<CampaignSourceRow[]> {
  const known = await findContactsByPhone(
    context,
    rows.flatMap((row) => (row.state === 'failed' ? [] : [row.phone])),
  );
  return rows.map((row) => {
    const contact = row.state === 'failed' ? undefined : known.get(row.phone);
    return { ...row, contact_id: contact?.id ?? null, variables: { ...row.variables, ...toTimezoneVariable(contact?.timezone, row) } };
  });
}

/** The contact's time zone, unless the table has a column for it. */
function toTimezoneVariable(timezone: string | null | undefined, { variables }: SourceRow): { timezone?: string } {
  return typeof timezone !== 'string' || findNamedTimeZone(variables) !== null ? {} : { timezone };
}
