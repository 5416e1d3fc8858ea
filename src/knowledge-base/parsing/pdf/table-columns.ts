import type { Row } from './rows.ts';
import type { Segment } from './segments.ts';

export interface Column {
  left: number;
  right: number;
}

/** The number of the column that a segment stands in. */
export type FindColumn = (segment: Segment) => number;

/** A table with more columns is not split further. */
export const maxColumns = 100;

/**
 * The columns, from the rows with the most cells that occur at least twice, if there are such rows, and from a first row of names with more. Cells of other rows
 * may span columns.
 */
export function findColumns(rows: Row[]): Column[] {
  const counts = rows.map((row) => row.segments.length).toSorted((one, other) => other - one);
  const often = counts.find((count, index) => count > 1 && counts[index + 1] === count) ?? counts[0] ?? 0;
  const named = rows[0]?.segments.length ?? 0;
  const full = rows.filter((row) => row.segments.length === often);
  const columns = joinByNumber(full, often) ?? mergeAlternatives(joinOverlapping(full), rows, often);
  if (named <= often) return columns;
  const withNames = joinOverlapping([...full, rows[0]!]);
  return withNames.length < named ? columns : mergeAlternatives(withNames, rows, named);
}

/** The columns of rows that all have as many cells: the first cells are the first column, and so on. Undefined: they do not stand apart. */
function joinByNumber(rows: Row[], count: number): Column[] | undefined {
  const columns = Array.from({ length: count }, (_, index) => ({
    left: Math.min(...rows.map((row) => row.segments[index]?.left ?? Infinity)),
    right: Math.max(...rows.map((row) => row.segments[index]?.right ?? -Infinity)),
  }));
  return columns.every(({ left }, index) => index === 0 || left > columns[index - 1]!.right - 1) ? columns : undefined;
}

export function findColumn(columns: Column[], { left, right }: Segment): number {
  const distances = columns.map((column) => Math.max(column.left - right, left - column.right));
  const first = distances.findIndex((distance) => distance < 0);
  return first === -1 ? distances.indexOf(Math.min(...distances)) : first;
}

function joinOverlapping(rows: Row[]): Column[] {
  const segments = rows.flatMap((row) => row.segments);
  const columns: Column[] = [];
  for (const { left, right } of segments.toSorted((one, other) => one.left - other.left)) {
    const last = columns.at(-1);
    if (last && left < last.right - 1) last.right = Math.max(last.right, right);
    else columns.push({ left, right });
  }
  return columns;
}

/**
 * Merges two columns that no row fills both, such as a left-aligned heading above right-aligned numbers: first the right one into the
 * heading, then the closest.
 */
function mergeAlternatives(columns: Column[], rows: Row[], maxCells: number): Column[] {
  if (columns.length <= maxCells || columns.length > maxColumns) return columns;
  const used = rows.map(({ segments }) => new Set(segments.map((segment) => findColumn(columns, segment))));
  const pairs = columns.slice(1).flatMap((column, index) => {
    const isAlternative = used.every((places) => !places.has(index) || !places.has(index + 1));
    const isNamed = used[0]?.has(index) === true && !used[0].has(index + 1);
    return isAlternative ? [{ index, isNamed, gap: column.left - (columns[index]?.right ?? 0) }] : [];
  });
  const [closest] = pairs.toSorted((one, other) => Number(other.isNamed) - Number(one.isNamed) || one.gap - other.gap);
  if (!closest) return columns;
  const merged = columns.flatMap((column, index) => {
    if (index === closest.index + 1) return [];
    return index === closest.index ? [{ left: column.left, right: columns[index + 1]?.right ?? column.right }] : [column];
  });
  return mergeAlternatives(merged, rows, maxCells);
}
