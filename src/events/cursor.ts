import { decodeCursor } from '../http/pagination.ts';
import { invalidAt } from '../library/errors.ts';

/** Where a page of events goes on: lists of events are in the order of their moments, then of their ids. */
export interface EventPosition {
  /** Epoch milliseconds. */
  value: number;
  id: number;
}

/** The position of a cursor of events; 422 for another list's. */
export function parseEventCursor(cursor: string | undefined): EventPosition | undefined {
  const position = decodeCursor(cursor);
  if (position === undefined) return undefined;
  const { value, id } = position;
  if (typeof value === 'number') return { value, id };
  throw invalidAt(['query', 'cursor'], 'Not a cursor of this list; use next_cursor of the page before', 'invalid_cursor');
}
