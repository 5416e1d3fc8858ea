import { invalidAt } from '../library/errors.ts';
import { type Place, type TimelineKind, timelineKinds } from './store.ts';

/** How far a timeline has been read: the last row of each kind that was shown. */
export type TimelinePlace = Partial<Record<TimelineKind, Place>>;

export const encodePlace = (place: TimelinePlace): string =>
  btoa(JSON.stringify(timelineKinds.map((kind) => (place[kind] ? [place[kind].at, place[kind].id] : 0))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The place in a cursor. Throws 422 for a cursor that the service did not issue. */
export function decodePlace(cursor: string | undefined): TimelinePlace {
  if (cursor === undefined) return {};
  try {
    const values = JSON.parse(atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))) as unknown;
    if (Array.isArray(values) && values.length === timelineKinds.length && values.every((value) => value === 0 || isPlace(value)))
      return Object.fromEntries(
        timelineKinds.flatMap((kind, index) => {
          const value = (values as (0 | [number, number])[])[index]!;
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
