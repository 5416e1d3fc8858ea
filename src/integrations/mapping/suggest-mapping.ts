import { mapContactColumns } from '../../contacts/import/contact-columns.ts';
import { findOnePhoneColumn, findPhoneColumns } from '../../contacts/import/phone-columns.ts';
import type { SheetMapping } from '../contract.ts';
import type { SheetColumn } from '../sheet/sheet-columns.ts';
import { toCustomField, isContactField } from './contact-fields.ts';

/**
 * Suggests a mapping from the headers, by words of many languages; `sample` decides between several columns of phone numbers. A column of
 * full names is mapped to both names. A column with another header becomes a custom field; a column without a header is omitted.
 */
export function suggestMapping(columns: SheetColumn[], sample: string[][]): SheetMapping {
  const names = columns.map(({ name }) => name);
  const rows = sample.map((cells) => ({ cells }));
  const phoneColumns = findPhoneColumns(names, rows);
  const { fields, fullName, customKeys } = mapContactColumns(names, phoneColumns);
  const chosen = new Map<string, number | undefined>([['phone', findOnePhoneColumn(names, rows)], ...Object.entries(fields)]);
  if (fullName !== undefined) chosen.set('first_name', fullName).set('last_name', fullName);

  const mapping: SheetMapping = {};
  for (const [field, column] of chosen) if (column !== undefined) mapping[field] = names[column]!;
  const used = new Set(chosen.values());
  for (const [index, { name, isBlank }] of columns.entries()) {
    const field = toCustomField(customKeys[index]!);
    if (!isBlank && !used.has(index) && isContactField(field)) mapping[field] = name;
  }
  return mapping;
}
