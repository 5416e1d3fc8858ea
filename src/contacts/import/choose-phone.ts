import { findFirstPhone, type PhoneErrorReason } from '../../library/phone/phone-numbers.ts';
import { findPhoneColumns } from './phone-columns.ts';

/** How the phone columns of a table are chosen: by a caller who names the only one, by a field mapping, or by their headers. */
export type PhoneChoice = 'named' | 'mapped' | 'found';

/** The phone columns as indexes into the headers, in the order in which a row's cells are tried; none: the table has none. */
interface PhoneColumns {
  columns: number[];
  choice: PhoneChoice;
}

/**
 * The one rule for the phone columns of a table, for imports, campaigns, syncs and previews. `named`: the only column that counts. `mapped`: the
 * column of a field mapping, which goes first. A mapping to a column that is found by its header keeps the others behind it, since the service
 * suggests such mappings itself. A mapping to any other column says that headers mislead here, so no column counts by its header.
 */
export function choosePhoneColumns(
  { headers, sample }: { headers: string[]; sample: { cells: string[] }[] },
  { named, mapped }: { named?: number | undefined; mapped?: number | undefined } = {},
): PhoneColumns {
  if (named !== undefined) return { columns: [named], choice: 'named' };
  const found = findPhoneColumns(headers, sample, mapped);
  if (mapped === undefined) return { columns: found, choice: 'found' };
  const others = found.includes(mapped) ? found.filter((column) => column !== mapped) : [];
  return { columns: [mapped, ...others], choice: 'mapped' };
}

/** The phone of a row in E.164, or why its first filled cell has none, and the column of that cell. */
export type RowPhone = { column: number } & ({ phone: string } | { reason: PhoneErrorReason; detail: string });

/** The first number of a row that can be used, in the order of its phone columns. Null: their cells are empty. */
export function chooseRowPhone(cells: string[], columns: number[], defaultCountry: string): RowPhone | null {
  let refusal: RowPhone | null = null;
  for (const column of columns) {
    const cell = cells[column]?.trim() ?? '';
    if (cell === '') continue;
    const reading = { column, ...findFirstPhone(cell, defaultCountry) };
    if ('phone' in reading) return reading;
    refusal ??= reading;
  }
  return refusal;
}
