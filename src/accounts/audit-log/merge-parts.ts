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
