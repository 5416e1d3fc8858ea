import type { Row } from './rows.ts';
import type { Segment } from './segments.ts';
import type { Column, FindColumn } from './table-columns.ts';

/** A number, an amount, a date, a mark: a cell has one of them, so the next one below it is another row's. */
const value = /^(?:[-+(~]?[\p{Sc}\s]*\d[\d\s.,:/%'’–-]*\)?\s*(?:\p{Sc}|%|[A-Z]{3})?|[-–—✓✔✗✘×]|n\/a|yes|no)$/iu;
/** The beginning of a line that goes on with the one above. Scripts without capital letters do not tell. */
const goingOn = /^[\p{Ll}\p{Lo}(&+/]/u;
const unfinished = /[-\u2010,&/+(]$/;
const blankWidth = 0.25;
/** Shorter texts in scripts without capital letters and blanks are cells of their own. */
const minCaselessLength = 8;

/** The last text of a cell. `lead`: the text with which the cell begins. */
export interface Cell {
  segment: Segment;
  lead: Segment;
}

/** By column. */
export type Cells = Map<number, Cell>;

/** The cells of each line. A line that goes on with the one above has its lead. */
export function toCells(rows: Row[], find: FindColumn): Cells[] {
  const lines: Cells[] = [];
  for (const { segments } of rows) {
    const above = lines.at(-1);
    const cells: Cells = new Map();
    for (const segment of segments) {
      const before = above?.get(find(segment));
      cells.set(find(segment), { segment, lead: before && goesOn(before, segment) ? before.lead : segment });
    }
    lines.push(cells);
  }
  return lines;
}

export const isValue = ({ segment }: Cell): boolean => value.test(segment.text);

/** Whether a column has a value in both: then they are cells of two rows. */
function hasTwoValues(above: Cells, row: Cells): boolean {
  for (const [column, cell] of row) {
    const before = above.get(column);
    if (before && isValue(before) && isValue(cell)) return true;
  }
  return false;
}

/**
 * Whether a line certainly begins a row: it has a cell where the line above has none and the other way round, or several cells that do not
 * read on from those above. `widths`: of the columns.
 */
export function beginsRow(above: Cells, row: Cells, widths: Map<number, number>): boolean {
  if (hasTwoValues(above, row)) return true;
  const shared = [...row].flatMap(([column, { segment }]) => {
    const before = above.get(column);
    return before ? [{ before, segment, width: widths.get(column) ?? 0 }] : [];
  });
  if (shared.length < row.size && shared.length < above.size) return true;
  if (Math.max(row.size, above.size) < 2 || (row.size < 2 && above.size > 1)) return false;
  if (shared.some(({ before, segment }) => goesOn(before, segment))) return false;
  const wrapped = shared.filter(({ before, segment, width }) => isWrapped(before.segment, segment, width)).length;
  return row.size === above.size ? wrapped < shared.length : wrapped === 0;
}

/** Small letters tell that a line goes on, unless the cell begins with them, too. */
export function goesOn(before: Cell, segment: Segment): boolean {
  if (unfinished.test(before.segment.text)) return true;
  if (/^\p{Lo}/u.test(segment.text)) return before.segment.text.length >= minCaselessLength;
  return goingOn.test(segment.text) && !/^\p{Ll}/u.test(before.lead.text);
}

/** Whether the first word of the line would not have fitted at the end of the line above, so that it had to begin a new one. */
export function isWrapped(before: Segment, segment: Segment, width: number): boolean {
  if (!/\s/.test(before.text) && before.text.length < minCaselessLength) return false;
  const [word = ''] = /^(?:[\u2e80-\ud7ff\uf900-\uffef]|\S+)/u.exec(segment.text) ?? [];
  const wordWidth = ((segment.right - segment.left) * word.length) / Math.max(1, segment.text.length);
  return before.right - before.left + segment.size * blankWidth + wordWidth > width;
}

/** How wide the texts of each column are at most. */
export function measureColumns(rows: Row[], find: FindColumn): Map<number, number> {
  const columns = new Map<number, Column>();
  for (const segment of rows.flatMap((row) => row.segments)) {
    const known = columns.get(find(segment));
    if (!known) columns.set(find(segment), { left: segment.left, right: segment.right });
    else {
      known.left = Math.min(known.left, segment.left);
      known.right = Math.max(known.right, segment.right);
    }
  }
  const widths = new Map<number, number>();
  for (const [column, { left, right }] of columns) {
    // A cell over several columns is as wide as its own column at most.
    const next = columns.get(column + 1);
    widths.set(column, Math.min(right, next?.left ?? right) - left);
  }
  return widths;
}
