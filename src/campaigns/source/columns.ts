import { choosePhoneColumns, type PhoneChoice } from '../../contacts/import/choose-phone.ts';
import { toSnakeCaseKey } from '../../contacts/import/header-key.ts';
import { findNamedColumn, locateColumn, missingColumnMessage } from '../../contacts/import/missing-column.ts';
import { findPhoneColumns } from '../../contacts/import/phone-columns.ts';
import { columnName, type Table } from '../../library/delimited-text/table-of-records.ts';
import { createUniqueNames } from '../../library/text/unique-names.ts';
import { UnreadableFileError } from '../../library/text/unreadable-file.ts';
import type { SourceOptions } from './options.ts';

/** A table's headers and the columns that a campaign reads. */
export interface TableColumns extends SourceColumns {
  headers: string[];
}

/**
 * `phones`: the indexes of the phone columns, the preferred one first; `choice`: how they were chosen. `variables`: the columns that become
 * variables. `phone_variable`: the variable of the preferred one in a row where its cell holds more than the number that is dialled. `width`: of all columns.
 */
export interface SourceColumns {
  phones: [number, ...number[]];
  choice: PhoneChoice;
  variables: { index: number; name: string; isNamed: boolean }[];
  phone_variable: string;
  width: number;
}

/** `mapped_column`: the one of the headers that an integration has as phone. */
interface ColumnChoice extends Pick<SourceOptions, 'phone_column'> {
  mapped_column?: string | undefined;
}

/**
 * Chooses the columns of a table: the phone columns, and as variables every column except the first of these. Throws `UnreadableFileError`
 * without a phone column.
 */
export function chooseColumns(
  { headers, sample }: Pick<Table, 'headers' | 'sample'>,
  { phone_column: named, mapped_column: mapped }: ColumnChoice,
  defaultCountry: string,
): SourceColumns {
  const { columns, choice } = choosePhoneColumns(
    { headers, sample },
    {
      named: named ? findNamedColumn(headers, named, defaultCountry) : undefined,
      mapped: mapped === undefined ? undefined : headers.indexOf(mapped),
    },
  );
  const [phone, ...others] = columns;
  if (phone === undefined) throw new UnreadableFileError(missingColumnMessage('phone numbers', ['phone'], headers, defaultCountry));
  return { phones: [phone, ...others], choice, ...nameVariables(headers, phone), width: headers.length };
}

/** Whether these cells are headers among which is the phone column. A table without the named one has its header where others are words for phones. */
export const hasPhoneColumn = (cells: string[], { phone_column: named }: SourceOptions): boolean =>
  (named ? locateColumn(cells, named) >= 0 : false) || findPhoneColumns(cells, []).length > 0;

/** The names of variables, as templates write them: `First Name` is `first_name`, a second one `first_name_2`. */
function nameVariables(headers: string[], phone: number): Pick<SourceColumns, 'variables' | 'phone_variable'> {
  const toUnique = createUniqueNames();
  const variables = headers.flatMap((header, index) => {
    if (index === phone) return [];
    const position = columnName(index);
    const name = toUnique(toSnakeCaseKey(header) || position);
    return [{ index, name, isNamed: header !== position }];
  });
  return { variables, phone_variable: toUnique(toSnakeCaseKey(headers[phone]!) || columnName(phone)) };
}
