import { ambiguousNameHeaders, familyFirstNameHeaders, fieldHeaders, fullNameHeaders } from './contact-headers.ts';
import { toHeaderKey, toSnakeCaseKey } from './header-key.ts';

export type ContactField = keyof typeof fieldHeaders;

/** Which column gives which field, as indexes into the headers. `customKeys`, one per header, name the columns that give none. */
export interface ContactColumns {
  fields: Partial<Record<ContactField, number>>;
  fullName: number | undefined;
  isFamilyFirst: boolean;
  customKeys: string[];
}

/** For each field the first header that fits, by the order of the words; the columns of `except` are spoken for (phone numbers). */
export function mapContactColumns(headers: string[], except: number[]): ContactColumns {
  const keys = headers.map((header, index) => (except.includes(index) ? '' : toHeaderKey(header)));
  const columnOf = (words: string[]) => {
    const word = words.find((candidate) => keys.includes(candidate));
    return word === undefined ? undefined : keys.indexOf(word);
  };
  const fields: ContactColumns['fields'] = {};
  for (const [field, words] of Object.entries(fieldHeaders) as [ContactField, string[]][]) {
    const column = columnOf(words);
    if (column !== undefined) fields[field] = column;
  }

  // "Name" beside "Vorname" is the family name; "Nombre" or "Имя" beside a family name is the first name; alone each is the whole name.
  let fullName = columnOf([...fullNameHeaders, ...familyFirstNameHeaders]);
  const ambiguous = columnOf(ambiguousNameHeaders);
  if (ambiguous !== undefined) {
    if (fields.first_name !== undefined && fields.last_name === undefined) fields.last_name = ambiguous;
    else if (fields.last_name !== undefined && fields.first_name === undefined) fields.first_name = ambiguous;
    else if (fields.first_name === undefined) fullName ??= ambiguous;
  }
  if (fields.first_name !== undefined || fields.last_name !== undefined) fullName = undefined;
  const isFamilyFirst = fullName !== undefined && familyFirstNameHeaders.includes(keys[fullName] ?? '');
  return { fields, fullName, isFamilyFirst, customKeys: toCustomKeys(headers) };
}

/** One key per header, different from each other and from the fields of a contact, beside which they will stand. */
function toCustomKeys(headers: string[]): string[] {
  const taken = new Set<string>();
  return headers.map((header, index) => {
    const plain = toSnakeCaseKey(header) || `column_${index + 1}`;
    const wanted = plain === 'phone' || plain in fieldHeaders ? `${plain}_column` : plain;
    let key = wanted;
    for (let count = 2; taken.has(key); count += 1) key = `${wanted}_${count}`;
    taken.add(key);
    return key;
  });
}
