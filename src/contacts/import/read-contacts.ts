import { hasSeveralNumbers, type PhoneErrorReason } from '../../library/phone/phone-numbers.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import { mapContactColumns, type ContactColumns, type ContactField } from './contact-columns.ts';
import { findEmail } from './find-email.ts';
import { choosePhoneColumns, chooseRowPhone } from './choose-phone.ts';
import { findNamedColumn, missingColumnMessage } from './missing-column.ts';
import { findPhoneColumns } from './phone-columns.ts';
import { columnName, type Table, type TableRow } from '../../library/delimited-text/table-of-records.ts';
import { splitName } from './split-name.ts';
import { isUsableId } from './usable-id.ts';

/** One contact of the body of `POST /contacts/bulk-upsert`. `phone` in E.164; empty cells are absent. */
interface ImportedContact {
  phone?: string;
  external_id?: string;
  email?: string;
  first_name?: string;
  last_name?: string;
  company?: string;
  title?: string;
  tags?: string[];
  custom_fields?: Record<string, string>;
}

export interface AcceptedRow {
  row_number: number;
  file_row: number;
  contact: ImportedContact;
  /** An id that is left out, because a placeholder or a damaged id would merge many people into one contact. */
  unusable_id?: string;
}

/** A row without a usable phone number or id, or with cells that cannot be trusted. `phone` and `external_id` as in the file, `''` when absent. */
interface RejectedRow {
  row_number: number;
  file_row: number;
  refused: { reason: PhoneErrorReason | 'no_key' | 'broken_row'; phone: string; external_id: string; detail: string };
}

export interface ContactTable {
  /** The headers of the phone columns in the order in which a row's cells are tried; none when the rows have ids only. */
  phone_columns: string[];
  /** The header of each mapped field. */
  field_columns: Record<string, string>;
  rows: AsyncIterable<AcceptedRow | RejectedRow>;
}

/** Whether these cells are headers by which people are known. */
export function isContactHeader(cells: string[]): boolean {
  const phoneColumns = findPhoneColumns(cells, []);
  return phoneColumns.length > 0 || mapContactColumns(cells, phoneColumns).fields.external_id !== undefined;
}

/**
 * Reads the contacts of a table. A row's phone comes from the best phone column with a usable number, or from `phoneColumn` alone. A row whose
 * phones are all unusable is rejected. Throws `UnreadableFileError` when no column has phones or ids, or `phoneColumn` is none.
 */
export function readContacts(table: Table, defaultCountry: string, phoneColumn?: string): ContactTable {
  const named = phoneColumn === undefined ? undefined : findNamedColumn(table.headers, phoneColumn, defaultCountry);
  const { columns: phoneColumns } = choosePhoneColumns(table, { named });
  const columns = mapContactColumns(table.headers, phoneColumns);
  if (phoneColumns.length === 0 && columns.fields.external_id === undefined) {
    throw new UnreadableFileError(missingColumnMessage('phone numbers or ids', ['phone', 'external_id'], table.headers, defaultCountry));
  }
  const headerOf = (column: number) => table.headers[column] ?? '';
  return {
    phone_columns: phoneColumns.map(headerOf),
    field_columns: Object.fromEntries([
      ...Object.entries(columns.fields).map(([field, column]) => [field, headerOf(column)]),
      ...(columns.fullName === undefined ? [] : [['name', headerOf(columns.fullName)]]),
    ]),
    rows: (async function* () {
      for await (const row of table.rows) yield readContactRow(row, phoneColumns, columns, defaultCountry);
    })(),
  };
}

function readContactRow(row: TableRow, phoneColumns: number[], columns: ContactColumns, defaultCountry: string): AcceptedRow | RejectedRow {
  const cell = (column: number | undefined) => (column === undefined ? '' : (row.cells[column] ?? ''));
  const fieldCell = (field: ContactField) => cell(columns.fields[field]);
  const place = { row_number: row.row_number, file_row: row.file_row };
  const refuse = (reason: RejectedRow['refused']['reason'], phone: string, detail: string): RejectedRow => ({
    ...place,
    refused: { reason, phone, external_id: fieldCell('external_id'), detail },
  });

  if (row.problem !== undefined) return refuse('broken_row', cell(phoneColumns.find((column) => cell(column) !== '')), row.problem);
  const phone = chooseRowPhone(row.cells, phoneColumns, defaultCountry);
  if (phone && 'reason' in phone) return refuse(phone.reason, cell(phone.column), phone.detail);

  const externalId = isUsableId(fieldCell('external_id')) ? fieldCell('external_id') : '';
  if (!phone && !externalId) return refuse('no_key', '', 'The row has neither a phone number nor an id; give it one of them');

  const email = findEmail(fieldCell('email'));
  const tags = splitTags(fieldCell('tags'));
  const names =
    columns.fullName === undefined
      ? { first_name: fieldCell('first_name'), last_name: fieldCell('last_name') }
      : splitName(cell(columns.fullName), columns.isFamilyFirst);
  // Cells that are imported completely. A cell with a second number, a damaged id or no e-mail address also stays as a custom field.
  const importedColumns = new Set([
    columns.fullName,
    columns.fields.first_name,
    columns.fields.last_name,
    columns.fields.company,
    columns.fields.title,
    columns.fields.tags,
  ]);
  if (externalId === fieldCell('external_id')) importedColumns.add(columns.fields.external_id);
  if (email === fieldCell('email')) importedColumns.add(columns.fields.email);
  if (phone && !hasSeveralNumbers(cell(phone.column), defaultCountry)) importedColumns.add(phone.column);
  const custom = row.cells.flatMap((value, column) =>
    value === '' || importedColumns.has(column) ? [] : [[columns.customKeys[column] ?? columnName(column), value]],
  );

  const contact = {
    phone: phone?.phone ?? '',
    external_id: externalId,
    email,
    ...names,
    company: fieldCell('company'),
    title: fieldCell('title'),
  };
  return {
    ...place,
    ...(externalId !== fieldCell('external_id') && { unusable_id: fieldCell('external_id') }),
    contact: {
      ...Object.fromEntries(Object.entries(contact).filter(([, value]) => value !== '')),
      ...(tags.length > 0 && { tags }),
      ...(custom.length > 0 && { custom_fields: Object.fromEntries(custom) }),
    },
  };
}

/** Google marks its default groups with an asterisk (`* myContacts`); they are no tags. */
function splitTags(cell: string): string[] {
  const tags = cell.split(/:::|[,;|\n]/).map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== '' && !tag.startsWith('* ')))];
}
