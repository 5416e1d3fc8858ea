import type { CursorPosition } from '../../http/pagination.ts';
import type { AuditPart, AuditRow } from './store.ts';

const placeOf = ({ createdAt, id }: AuditRow): CursorPosition => ({ value: createdAt, id });

/** Below zero when `one` is newer. */
const compare = (one: CursorPosition, other: CursorPosition): number => Number(other.value) - Number(one.value) || other.id - one.id;

/**
 * One page of the entries of several tables, newest first. A table that was not looked at to its end ends the page there: what is older in
 * another table belongs to the next page.
 */
export function mergeParts(parts: readonly AuditPart[], limit: number): { rows: AuditRow[]; next: CursorPosition | null } {
  const ends = parts
    .filter(({ rows, lookedUntil }) => lookedUntil !== null && rows.length <= limit)
    .map(({ lookedUntil }) => lookedUntil!)
    .toSorted(compare);
  const end = ends[0] ?? null;
  const rows = parts
    .flatMap((part) => part.rows)
    .filter((row) => end === null || compare(placeOf(row), end) <= 0)
    .toSorted((one, other) => compare(placeOf(one), placeOf(other)));
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: placeOf(rows[limit - 1]!) };
  return { rows, next: end };
}

/**
 * The rows of several tables, each newest first, as pages that are newest first. A table is read on when all of its rows are given out.
 */
export async function* newestFirst(tables: readonly AsyncIterator<AuditRow[], undefined>[]): AsyncGenerator<AuditRow[], undefined> {
  const read = tables.map((): AuditRow[] => []);
  for (;;) {
    for (const [index, table] of tables.entries()) if (read[index]!.length === 0) read[index] = (await table.next()).value ?? [];
    // What is older than the last row of a table may be older than rows of it that are not read yet.
    const [end] = read
      .filter((rows) => rows.length > 0)
      .map((rows) => placeOf(rows.at(-1)!))
      .toSorted(compare);
    if (!end) return;
    const isDue = (row: AuditRow): boolean => compare(placeOf(row), end) <= 0;
    yield read.flatMap((rows) => rows.filter(isDue)).toSorted((one, other) => compare(placeOf(one), placeOf(other)));
    for (const [index, rows] of read.entries()) read[index] = rows.filter((row) => !isDue(row));
  }
}
