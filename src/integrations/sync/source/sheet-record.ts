import { chooseRowPhone, type RowPhone } from '../../../contacts/import/choose-phone.ts';
import { familyFirstNameHeaders } from '../../../contacts/import/contact-headers.ts';
import { findEmail } from '../../../contacts/import/find-email.ts';
import { toHeaderKey } from '../../../contacts/import/header-key.ts';
import { splitName } from '../../../contacts/import/split-name.ts';
import { isUsableId } from '../../../contacts/import/usable-id.ts';
import { cleanCell } from '../../../library/delimited-text/clean-cell.ts';
import { hasSeveralNumbers } from '../../../library/phone/phone-numbers.ts';
import type { MappedField } from '../mapped-fields.ts';
import type { InvalidRecord, SourceRecord } from './source.ts';

/**
 * `fields`: the index of each mapped field's column. `phones`: those of the phone columns, the mapped one first; none without a mapped one.
 * `phoneFields`: of each phone column behind the first, the custom field of its name.
 */
export interface ColumnIndexes {
  fields: Map<string, number>;
  phones: number[];
  phoneFields: Map<number, string>;
}

/** The record of a row of a sheet; undefined: the row has no value in the mapped columns. `number`: of the row, as the sheet numbers it. */
export function toSheetRecord(
  row: string[],
  number: number,
  { fields: indexes, phones, phoneFields }: ColumnIndexes,
  fields: MappedField[],
  defaultCountry: string,
): SourceRecord | InvalidRecord | undefined {
  const cells = row.map(cleanCell);
  const phone = chooseRowPhone(cells, phones, defaultCountry);
  const cellOf = (field: string) => cells[indexes.get(field) ?? -1] ?? '';
  // A cell that is wholly the contact's phone, id or address is not its own custom field as well, as in an imported file.
  const taken = phone !== null && !hasSeveralNumbers(cells[phone.column]!, defaultCountry) ? phone.column : undefined;
  const isTaken = ({ field, restOf }: MappedField): boolean => {
    if (restOf === 'external_id') return isUsableId(cellOf(field));
    if (restOf === 'email') return findEmail(cellOf(field)) === cellOf(field);
    if (restOf === 'phone') return taken === phones[0];
    return taken !== undefined && phoneFields.get(taken) === field;
  };
  const valueOf = (field: string): string => {
    if (field === 'phone' && phone) return cells[phone.column]!;
    return field === 'email' ? findEmail(cellOf(field)) : cellOf(field);
  };
  const filled = fields.flatMap((mapped) => {
    const { field } = mapped;
    const text = isTaken(mapped) ? '' : valueOf(field);
    return text === '' ? [] : [[field, text] as const];
  });
  if (filled.length === 0) return undefined;
  const values: Record<string, string> = Object.fromEntries(filled);
  const place = { row: number };
  const key = toRecordKey(values, phone);
  if (typeof key !== 'string') return { place, problem: key };
  return { place, key, values: splitFullName(withoutUnusableId(values), fields), modifiedAt: null };
}

function toRecordKey({ external_id: id }: Record<string, string>, phone: RowPhone | null): string | InvalidRecord['problem'] {
  if (phone && 'reason' in phone) return { code: 'invalid_phone', detail: phone.detail };
  if (id !== undefined && isUsableId(id)) return `id:${id}`;
  if (phone) return `phone:${phone.phone}`;
  return { code: 'no_key', detail: 'the row has neither a phone number nor an id in the mapped columns; give it one of them' };
}

/** A placeholder such as "n/a", or a damaged id, would make one contact of many people. */
function withoutUnusableId(values: Record<string, string>): Record<string, string> {
  const { external_id: id, ...others } = values;
  return id !== undefined && !isUsableId(id) ? others : values;
}

/** Splits the full names of a column that is mapped to both names. */
function splitFullName(values: Record<string, string>, fields: MappedField[]): Record<string, string> {
  const columnOf = (name: string) => fields.find(({ field }) => field === name)?.external;
  const column = columnOf('first_name');
  if (column === undefined || column !== columnOf('last_name') || values['first_name'] === undefined) return values;
  const names = splitName(values['first_name'], familyFirstNameHeaders.includes(toHeaderKey(column)));
  const { first_name: _whole, last_name: _same, ...others } = values;
  return { ...others, ...Object.fromEntries(Object.entries(names).filter(([, name]) => name !== '')) };
}
