import { toHeaderKey, toSnakeCaseKey } from '../../contacts/import/header-key.ts';
import { missingColumnMessage } from '../../contacts/import/read-contacts.ts';
import { findPhoneColumns } from '../../contacts/import/phone-columns.ts';
import { columnName, type Table } from '../../library/delimited-text/table-of-records.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import type { SourceOptions } from './options.ts';

/** `source_options.phone_column` names a column that the table does not have. */
export class UnknownColumn extends UnreadableFileError {}

/** How the phone column was chosen: by `source_options`, by the mapping of the integration, or by its header. */
type PhoneChoice = 'named' | 'mapped' | 'found';

/** A table's headers and the columns that a campaign reads. */
export interface TableColumns extends SourceColumns {
  headers: string[];
  choice: PhoneChoice;
}

/** `phones`: the indexes of the phone columns, the preferred one first. `variables`: the columns that become variables. `width`: of all columns. */
export interface SourceColumns {
  phones: [number, ...number[]];
  variables: { index: number; name: string; isNamed: boolean }[];
  width: number;
}

/** `mapped_column`: the header that an integration has as phone. */
interface ColumnChoice extends Pick<SourceOptions, 'phone_column'> {
  mapped_column?: string | undefined;
}

/**
 * Chooses the phone columns of a table: the named column alone, else the mapped one and every column whose header is a word for phone numbers, the
 * person's own first. Every column except the first phone column is a variable. Throws `UnreadableFileError` without a phone column.
 */
export function chooseColumns(
  { headers, sample }: Pick<Table, 'headers' | 'sample'>,
  { phone_column: named, mapped_column: mapped }: ColumnChoice,
  defaultCountry: string,
): SourceColumns {
  const preferred = mapped === undefined ? [] : [headers.indexOf(mapped)];
  const [phone, ...others] = named
    ? [findNamedColumn(headers, named, defaultCountry)]
    : [...new Set([...preferred, ...findPhoneColumns(headers, sample)])];
  if (phone === undefined) throw new UnreadableFileError(missingColumnMessage('phone numbers', ['phone'], headers, defaultCountry));
  return { phones: [phone, ...others], variables: nameVariables(headers, phone), width: headers.length };
}

/** Whether these cells are headers among which is the phone column. */
export const hasPhoneColumn = (cells: string[], { phone_column: named }: SourceOptions): boolean =>
  named ? locateColumn(cells, named) >= 0 : findPhoneColumns(cells, []).length > 0;

function locateColumn(headers: string[], name: string): number {
  const exact = headers.indexOf(name);
  return exact >= 0 ? exact : headers.findIndex((header) => toHeaderKey(header) !== '' && toHeaderKey(header) === toHeaderKey(name));
}

function findNamedColumn(headers: string[], name: string, defaultCountry: string): number {
  const column = locateColumn(headers, name);
  if (column < 0) throw new UnknownColumn(missingColumnMessage(`"${name.slice(0, 60)}"`, [name.slice(0, 60)], headers, defaultCountry));
  return column;
}

/** The names of variables, as templates write them: `First Name` is `first_name`, a second one `first_name_2`. */
function nameVariables(headers: string[], phone: number): SourceColumns['variables'] {
  const taken = new Set<string>();
  return headers.flatMap((header, index) => {
    if (index === phone) return [];
    const position = columnName(index);
    const plain = toSnakeCaseKey(header) || position;
    let name = plain;
    for (let count = 2; taken.has(name); count += 1) name = `${plain}_${count}`;
    taken.add(name);
    return [{ index, name, isNamed: header !== position }];
  });
}
