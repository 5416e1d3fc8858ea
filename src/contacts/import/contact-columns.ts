import { columnName } from '../../library/delimited-text/table-of-records.ts';
import { createUniqueNames } from '../../library/text/unique-names.ts';
import { ambiguousNameHeaders, familyFirstNameHeaders, fieldHeaders, fullNameHeaders } from './contact-headers.ts';
import { toHeaderKey, toSnakeCaseKey } from './header-key.ts';

export type ContactField = keyof typeof fieldHeaders;

/** The column of each field, as an index into the headers. `customKeys`: for each header, the custom field of its column. */
export interface ContactColumns {
  fields: Partial<Record<ContactField, number>>;
  fullName: number | undefined;
  isFamilyFirst: boolean;
  customKeys: string[];
}

/** Maps each field to the column with its most preferred header. The columns of `except` hold phone numbers and are left out. */
export function mapContactColumns(headers: string[], except: number[]): ContactColumns {
  const keys = headers.map((header, index) => (except.includes(index) ? '' : toHeaderKey(header)));
  const findColumn = (words: string[]) => {
    const word = words.find((candidate) => keys.includes(candidate));
    return word === undefined ? undefined : keys.indexOf(word);
  };
  const fields: ContactColumns['fields'] = {};
  for (const [field, words] of Object.entries(fieldHeaders) as [ContactField, string[]][]) {
    const column = findColumn(words);
    if (column !== undefined) fields[field] = column;
  }

  // "Name" beside "Vorname" is the family name; "Nombre" or "Имя" beside a family name is the first name; alone each is the whole name.
  let fullName = findColumn([...fullNameHeaders, ...familyFirstNameHeaders]);
  const ambiguous = findColumn(ambiguousNameHeaders);
  if (ambiguous !== undefined) {
    if (fields.first_name !== undefined && fields.last_name === undefined) fields.last_name = ambiguous;
    else if (fields.last_name !== undefined && fields.first_name === undefined) fields.first_name = ambiguous;
    else if (fields.first_name === undefined) fullName ??= ambiguous;
  }
  if (fields.first_name !== undefined || fields.last_name !== undefined) fullName = undefined;
  const isFamilyFirst = fullName !== undefined && familyFirstNameHeaders.includes(keys[fullName] ?? '');
  return { fields, fullName, isFamilyFirst, customKeys: toCustomKeys(headers) };
}

/** The key of a header as a custom field, different from the fields of a contact; empty: the header has no letters. */
export function toCustomKey(header: string): string {
  const plain = toSnakeCaseKey(header);
  return plain === 'phone' || plain in fieldHeaders ? `${plain}_column` : plain;
}

/** A key for each header, unique and different from the fields of a contact. */
function toCustomKeys(headers: string[]): string[] {
  const toUnique = createUniqueNames();
  return headers.map((header, index) => toUnique(toCustomKey(header) || columnName(index)));
}
