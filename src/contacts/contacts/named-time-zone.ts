/** `timezone`, `time_zone`, `timeZone`, "Time Zone" and the like. */
const isTimeZoneName = (name: string): boolean => name.replaceAll(/[\s_.-]/g, '').toLowerCase() === 'timezone';

/** A part of the condition in SQL for names that may be a time zone's; `findNamedTimeZone` decides. */
export const mayNameTimeZoneSql = (column: string): string => `${column} LIKE '%time%zone%'`;

/**
 * The time zone that custom fields of a contact or variables of a row name, as it is written there, which may be none; null: they name none.
 * Of several, the field `timezone` goes before the others, and an empty one does not count.
 */
export function findNamedTimeZone(fields: Record<string, unknown>): string | null {
  const names = Object.keys(fields)
    .filter(isTimeZoneName)
    .toSorted((one, other) => Number(other === 'timezone') - Number(one === 'timezone'));
  for (const name of names) {
    const value = fields[name];
    const written = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    if (written !== '') return written;
  }
  return null;
}
