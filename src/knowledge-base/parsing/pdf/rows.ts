import type { Segment } from './segments.ts';

/** Segments at one height, from the left. */
export interface Row {
  segments: Segment[];
  baseline: number;
  size: number;
}

/** A region of a page: lines below each other, or a table. */
export type Region = { kind: 'lines'; rows: Row[] } | { kind: 'table'; rows: Row[] };

export function groupIntoRows(segments: Segment[]): Row[] {
  const rows: Row[] = [];
  for (const segment of segments.toSorted((one, other) => one.baseline - other.baseline || one.left - other.left)) {
    const row = rows.at(-1);
    if (row && segment.baseline - row.baseline < Math.min(segment.size, row.size) * 0.45) {
      row.segments.push(segment);
      row.size = Math.max(row.size, segment.size);
    } else rows.push({ segments: [segment], baseline: segment.baseline, size: segment.size });
  }
  for (const row of rows) row.segments.sort((one, other) => one.left - other.left);
  return rows;
}

export function median(numbers: number[], otherwise: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? otherwise;
}

/** The usual distance between two lines. */
export function measureLinePitch(rows: { baseline: number; size: number }[]): number {
  const size = median(
    rows.map((row) => row.size),
    10,
  );
  const distances = rows.slice(1).map((row, index) => row.baseline - (rows[index]?.baseline ?? 0));
  return median(
    distances.filter((distance) => distance > size * 0.8 && distance < size * 2),
    size * 1.2,
  );
}
