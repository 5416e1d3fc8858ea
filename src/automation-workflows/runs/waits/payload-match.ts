import { parsePath } from '../../../library/json/paths.ts';

/** A condition over the column `data` of an event that holds for at least every event whose field has the value. */
export interface PayloadMatch {
  sql: string;
  parameters: string[];
}

/**
 * What the database can compare of "the field at this path has this value", so that a look-back reads only what may fit; null where
 * it can compare nothing. A payload that is kept elsewhere always may fit.
 */
export function buildPayloadMatch(field: string, value: string): PayloadMatch | null {
  const segments = parsePath(field);
  if (!segments.every((segment) => typeof segment === 'string' && /^[^"\\\d][^"\\]*$/.test(segment))) return null;
  const names = segments as string[];
  if (['id', 'type', 'contact_id'].includes(names[0]!)) return null;
  // As in the event, `data.cart` is the payload's cart; a payload may also have a key "data" of its own.
  const paths = (names[0] === 'data' ? [names.slice(1), names] : [names]).filter((path) => path.length > 0);
  if (!paths.length) return null;
  // A number or boolean and a text that looks the same are the same.
  const holds = paths.map(() => `(data -> ?) IN (?, ?)`).join(' OR ');
  return {
    sql: `CASE WHEN substr(data, 1, 4) = '@r2:' THEN 1 ELSE (${holds}) END`,
    parameters: paths.flatMap((path) => [`$${path.map((name) => `."${name}"`).join('')}`, value, JSON.stringify(value)]),
  };
}
