import { z } from '@hono/zod-openapi';
import { invalidAt } from '../library/errors.ts';

const integerText = z
  .string()
  .regex(/^-?\d+$/, 'Must be an integer')
  .transform(Number);
const pageSize = z.int().min(1, 'Must be 1 or more').max(500, 'Must be 500 or less');
const pageStart = z.int().min(0, 'Must be 0 or more');

/** Query parameters of every list. */
export const pageQuery = {
  limit: integerText
    .pipe(pageSize)
    .default(50)
    .openapi({ type: 'integer', minimum: 1, maximum: 500, default: 50, description: 'How many items a page has at most.' }),
  offset: integerText.pipe(pageStart).default(0).openapi({
    type: 'integer',
    minimum: 0,
    default: 0,
    description: 'How many items to leave out at the beginning. For deep paging `cursor` is faster and misses nothing.',
  }),
  cursor: z
    .string()
    .max(500)
    .optional()
    .describe('`next_cursor` of the page before; takes the place of `offset`. Items that are added meanwhile do not shift the pages.'),
};

export interface Page {
  limit: number;
  offset: number;
  cursor?: string | undefined;
}

/** The position after a page: the sort value (null when the list is in id order) and the id of the last row of the page. */
export interface CursorPosition {
  value: string | number | null;
  id: number;
}

export function encodeCursor(position: CursorPosition): string {
  const bytes = new TextEncoder().encode(JSON.stringify([position.value, position.id]));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** The position in a cursor. Throws 422 for a cursor that the service did not issue. */
export function decodeCursor(cursor: string | undefined): CursorPosition | undefined {
  if (cursor === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
    const [value, id] = JSON.parse(new TextDecoder().decode(bytes)) as unknown[];
    if (Number.isSafeInteger(id) && (value === null || typeof value === 'string' || Number.isFinite(value)))
      return { value: value as CursorPosition['value'], id: id as number };
  } catch {
    // falls through to the one answer for every wrong cursor
  }
  throw invalidAt(['query', 'cursor'], 'Not a cursor of this list; use next_cursor of the page before', 'invalid_cursor');
}

/** Beyond this many matches a filtered total stops counting. */
export const countLimit = 10_000;

export interface PageResult<Row> {
  rows: Row[];
  total: number;
  totalCapped?: boolean;
  /** The position of the last row; null when no row follows. */
  next: CursorPosition | null;
}

/** The envelope of a list: the rows under `name`, and the position of the page in the whole list. */
export function toListBody<Name extends string, Row, Shown>(name: Name, page: Page, found: PageResult<Row>, show: (row: Row) => Shown) {
  return {
    [name]: found.rows.map(show),
    total: found.total,
    ...(found.totalCapped ? { total_capped: true } : {}),
    limit: page.limit,
    offset: page.offset,
    next_cursor: found.next ? encodeCursor(found.next) : null,
  } as { [K in Name]: Shown[] } & { total: number; total_capped?: boolean; limit: number; offset: number; next_cursor: string | null };
}

/** The fields of an envelope that describe the position of its page in the whole list. */
const pageFields = {
  total: z.int().describe('How many items match in all, on this page and others.'),
  total_capped: z
    .boolean()
    .optional()
    .describe('True when counting stopped at 10,000, so that there are at least `total`; absent when `total` is exact.'),
  limit: z.int().describe('The page size that was asked for, or the default.'),
  offset: z.int().describe('The offset that was asked for, or 0.'),
  next_cursor: z.string().nullable().describe('Send it as `cursor` to get the next page; null on the last one.'),
};

/** The schema of a list's envelope. `order` describes how the items are sorted. */
export const listSchema = <Name extends string, T extends z.ZodType>(name: Name, item: T, order = 'newest first') => {
  const words = name.replaceAll('_', ' ');
  const fields = { [name]: z.array(item).describe(`The ${words} of this page, ${order}.`), ...pageFields };
  return z.object(fields as ListShape<Name, T>).describe(`One page of ${words}, and where it stands in the whole.`);
};

type ListShape<Name extends string, T extends z.ZodType> = { [K in Name]: z.ZodArray<T> } & typeof pageFields;

/** Removes the one row that was read beyond the page, and tells whether there was one. */
export function cutPage<Row>(
  rows: Row[],
  limit: number,
  position: (row: Row) => CursorPosition,
): { rows: Row[]; next: CursorPosition | null } {
  if (rows.length <= limit) return { rows, next: null };
  const page = rows.slice(0, limit);
  return { rows: page, next: position(page[limit - 1]!) };
}
