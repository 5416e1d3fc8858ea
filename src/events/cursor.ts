import { decodeCursor } from '../http/pagination.ts';
import { invalidAt } from '../library/errors.ts';

/** The position after which a page of events begins. Events are ordered by `created_at`, then by id. */
export interface EventPosition {
  /** `created_at` in epoch ms. */
  value: number;
  id: number;
}

/** Reads the cursor of a list of events. Throws 422 for the cursor of another list. */
export function parseEventCursor(cursor: string | undefined): EventPosition | undefined {
  const position = decodeCursor(cursor);
  if (position === undefined) return undefined;
  const { value, id } = position;
  if (typeof value === 'number') return { value, id };
  throw invalidAt(['query', 'cursor'], 'Not a cursor of this list; use next_cursor of the page before', 'invalid_cursor');
}
