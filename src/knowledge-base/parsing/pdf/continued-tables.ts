import type { PageParagraph } from './paragraphs.ts';
import type { Column } from './table-columns.ts';

/** In points: columns whose texts do not overlap are the same up to this distance. */
const maxDistance = 12;
/** The maximum of rows that name the columns. */
export const maxHeaderRows = 3;

/**
 * Marks a table that goes on from the page before: it has the same columns in the same places, and no text stands between. The rows of
 * names that it repeats are left out.
 */
export function continueTable(before: PageParagraph | undefined, table: PageParagraph, header: string[][]): void {
  if (before?.kind !== 'table' || table.kind !== 'table' || before.page !== table.page - 1) return;
  if (!hasSameColumns(before.columns ?? [], table.columns ?? [])) return;
  table.isContinued = true;
  const repeated = header.findIndex((row, index) => !isSameRow(row, table.rows[index]));
  const count = repeated === -1 ? header.length : repeated;
  table.rows = table.rows.slice(count);
}

const isSameRow = (row: string[], other: string[] | undefined): boolean =>
  other !== undefined && row.length === other.length && row.every((cell, index) => cell === other[index]);

const hasSameColumns = (columns: Column[], others: Column[]): boolean =>
  columns.length > 1 &&
  columns.length === others.length &&
  columns.every(({ left, right }, index) => {
    const other = others[index]!;
    return Math.max(left, other.left) - Math.min(right, other.right) <= maxDistance;
  });
