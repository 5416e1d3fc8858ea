import { groupIntoRows, median, type Row } from './rows.ts';
import type { Segment } from './segments.ts';
import { isPageNumber, isSameButNumbered } from './page-numbers.ts';

/** The share of a page, above and below, that may have headers and footers, and the maximum of such rows. */
const marginShare = 0.14;
const maxRows = 2;
/** Left and right pages have their own headers, and a chapter begins without one. */
export const nearPages = 3;
/** In shares of a page's height: a running line stands at the same height on each page. */
const maxShift = 0.01;
/** Letters smaller than most of the page are those of headers and footers. */
const smallRatio = 0.95;

interface MarginalRow {
  page: number;
  /** In shares of the page's height. */
  height: number;
  text: string;
  segments: Segment[];
  isSmall: boolean;
}

/**
 * Removes page numbers, and headers and footers that a page nearby has had. A line that stands on no other page nearby is text, whatever it looks
 * like. Each page must be noted before those up to `nearPages` before it are read.
 */
export class RunningLines {
  private readonly pages = new Map<number, MarginalRow[]>();

  note(segments: Segment[], page: number, height: number): void {
    const usual = median(
      segments.map(({ size }) => size),
      0,
    );
    const rows = groupIntoRows(segments);
    const above = rows.filter((row) => row.baseline < height * marginShare).slice(0, maxRows);
    const below = rows.filter((row) => row.baseline > height * (1 - marginShare)).slice(-maxRows);
    const toMarginal = (row: Row): MarginalRow => ({
      page,
      height: row.baseline / height,
      text: row.segments.map((segment) => segment.text).join(' '),
      segments: row.segments,
      isSmall: row.size < usual * smallRatio,
    });
    this.pages.set(page, above.concat(below).map(toMarginal));
    this.pages.delete(page - 2 * nearPages - 1);
  }

  removeFrom(segments: Segment[], page: number): Segment[] {
    const dropped = new Set((this.pages.get(page) ?? []).flatMap((row) => this.findRunning(row)));
    return segments.filter((segment) => !dropped.has(segment));
  }

  /** The segments of a row that earlier pages have had, and its page number. */
  private findRunning(row: MarginalRow): Segment[] {
    const others = this.rowsNear(row);
    if (others.some((other) => other.page < row.page && isSameLine(row, other))) return row.segments;
    // The first of several headers stays, without its page number. A number beside other words than those of the other page is a cell.
    return row.segments.filter(
      ({ text }) =>
        isPageNumber(text) &&
        others.some(
          (other) =>
            (row.segments.length === 1 || isSameLine(row, other)) &&
            other.segments.some((one) => isSameButNumbered(text, one.text, other.page - row.page)),
        ),
    );
  }

  private rowsNear(row: MarginalRow): MarginalRow[] {
    const rows: MarginalRow[] = [];
    for (let page = row.page - nearPages; page <= row.page + nearPages; page += 1)
      if (page !== row.page) rows.push(...(this.pages.get(page) ?? []).filter((other) => Math.abs(other.height - row.height) <= maxShift));
    return rows;
  }
}

/** Whether two lines are the same, or differ by the page number alone. A number within a text is one only in small letters, or apart. */
function isSameLine(row: MarginalRow, other: MarginalRow): boolean {
  if (row.text === other.text) return true;
  if (row.isSmall || isPageNumber(row.text)) return isSameButNumbered(row.text, other.text, other.page - row.page);
  const words = (one: MarginalRow) => one.segments.flatMap(({ text }) => (isPageNumber(text) ? [] : [text])).join(' ');
  return words(row) !== '' && words(row) === words(other) && isSameButNumbered(row.text, other.text, other.page - row.page);
}
