import { groupIntoRows } from './rows.ts';
import type { Segment } from './segments.ts';

/** The share of a page, above and below, that may have headers and footers, and the maximum of such rows. */
const marginShare = 0.14;
const maxRows = 2;
/** Left and right pages have their own headers, and a chapter begins without one. */
const lookbackPages = 3;

const pageNumber =
  /^(?:(?:page|seite|página|pagina|p\.|s\.)\s*)?[-–—|]?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*[-–—|]?(?:\s*(?:\/|of|von|de|sur|di)\s*\d{1,4})?$/i;

/** Removes page numbers, and headers and footers that an earlier page has had. Pages must be passed in order. */
export class RunningLines {
  private readonly seen = new Map<string, number>();

  removeFrom(segments: Segment[], page: number, height: number): Segment[] {
    const rows = groupIntoRows(segments);
    const above = rows.filter((row) => row.baseline < height * marginShare).slice(0, maxRows);
    const below = rows.filter((row) => row.baseline > height * (1 - marginShare)).slice(-maxRows);
    const dropped = new Set<Segment>();
    for (const [place, marginal] of [['above', above] as const, ['below', below] as const]) {
      for (const row of marginal) {
        const text = row.segments.map((segment) => segment.text).join(' ');
        const key = `${place} ${text.replace(/\d+|\b[ivxlc]+\b/gi, '#')}`;
        const before = this.seen.get(key);
        this.seen.set(key, page);
        const isRepeated = before !== undefined && page - before <= lookbackPages;
        // The page number beside a header identifies it before it is repeated.
        const isNumbered = row.segments.length > 1 && row.segments.some((segment) => segment.text === String(page));
        if (isRepeated || isNumbered || pageNumber.test(text.trim())) for (const segment of row.segments) dropped.add(segment);
      }
    }
    return segments.filter((segment) => !dropped.has(segment));
  }
}
