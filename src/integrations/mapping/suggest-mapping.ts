import { mapContactColumns } from '../../contacts/import/contact-columns.ts';
import { choosePhoneColumns } from '../../contacts/import/choose-phone.ts';
import { columnName } from '../../library/delimited-text/table-of-records.ts';
import type { SheetMapping } from '../contract.ts';
import type { SheetColumn } from '../sheet/sheet-columns.ts';
import { toCustomField, isContactField } from './contact-fields.ts';

/**
 * Suggests a mapping from the headers, by words of many languages, by which the contacts are those of the same list in an imported file. Of several
 * phone columns the first in order is mapped. A column of full names is mapped to both names. A column with another header becomes a custom
 * field, and so does one without a header, also right of the headers, if a cell of the `sample` is filled.
 */
export function suggestMapping(columns: SheetColumn[], sample: string[][]): SheetMapping {
  const names = columns.map(({ name }) => name);
  const rows = sample.map((cells) => ({ cells }));
  const { columns: phoneColumns } = choosePhoneColumns({ headers: names, sample: rows });
  const { fields, fullName, customKeys } = mapContactColumns(names, phoneColumns);
  const chosen = new Map<string, number | undefined>([['phone', phoneColumns[0]], ...Object.entries(fields)]);
  if (fullName !== undefined) chosen.set('first_name', fullName).set('last_name', fullName);

  const mapping: SheetMapping = {};
  for (const [field, column] of chosen) if (column !== undefined) mapping[field] = names[column]!;
  const used = new Set(chosen.values());
  for (const [index, { name, isBlank }] of columns.entries()) {
    const field = toCustomField(customKeys[index]!);
    const isKept = !isBlank || isFilled(sample, index);
    if (isKept && !used.has(index) && isContactField(field)) mapping[field] = name;
  }
  for (const name of columnsRightOf(columns, sample)) mapping[toCustomField(name)] ??= name;
  return mapping;
}

const isFilled = (sample: string[][], column: number): boolean => sample.some((cells) => (cells[column] ?? '').trim() !== '');

/** The names of the columns right of the headers that have cells. */
function columnsRightOf({ length }: SheetColumn[], sample: string[][]): string[] {
  const width = sample.reduce((widest, cells) => Math.max(widest, cells.length), 0);
  return Array.from({ length: Math.max(0, width - length) }, (_, more) => length + more)
    .filter((column) => isFilled(sample, column))
    .map(columnName);
}
