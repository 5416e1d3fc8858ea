import { invalidAt } from '../library/errors.ts';
import { stuckKinds, type Place, type StuckKind } from './kinds.ts';

/** How far the list has been read: the last row of each kind that was shown. */
export type StuckPlace = Partial<Record<StuckKind, Place>>;

export const encodePlace = (place: StuckPlace): string =>
  btoa(JSON.stringify(stuckKinds.map((kind) => (place[kind] ? [place[kind].at, place[kind].id] : 0))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The place in a cursor. Throws 422 for a cursor that the service did not issue. */
export function decodePlace(cursor: string | undefined): StuckPlace {
  if (cursor === undefined) return {};
  try {
    const values = JSON.parse(atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))) as unknown;
    if (Array.isArray(values) && values.length <= stuckKinds.length && values.every((value) => value === 0 || isPlace(value)))
      return Object.fromEntries(
        stuckKinds.flatMap((kind, index) => {
          const value = ((values as (0 | [number, number])[])[index] ?? 0) as 0 | [number, number];
          return value === 0 ? [] : [[kind, { at: value[0], id: value[1] }]];
        }),
      );
  } catch {
    // falls through to the one answer for every wrong cursor
  }
  throw invalidAt(['query', 'cursor'], 'Not a cursor of this list; use next_cursor of the page before', 'invalid_cursor');
}

const isPlace = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && value.every((part) => Number.isSafeInteger(part));
