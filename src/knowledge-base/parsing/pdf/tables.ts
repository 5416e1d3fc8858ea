import { median } from './rows.ts';
import type { Region, Row } from './rows.ts';
import type { Rule } from './rules.ts';
import { isBesideCells, splitByColumns, countCloseRows, splitCloseCells } from './table-rows.ts';

/** Finds the tables in a band of rows. Lines in a larger font, and single cells before and after a table, are not part of it. */
export function findTables(rows: Row[], rules: Rule[]): Region[] {
  const size = median(
    rows.map((row) => row.size),
    0,
  );
  const regions: Region[] = [];
  for (const row of rows) {
    const kind = row.segments.length === 1 && row.size > size * 1.08 ? 'lines' : 'table';
    const last = regions.at(-1);
    if (last?.kind === kind) last.rows.push(row);
    else regions.push({ kind, rows: [row] });
  }
  return regions.flatMap((region): Region[] => {
    const first = region.rows.findIndex((_, index) => isBesideCells(region.rows, index));
    if (region.kind === 'lines' || first === -1) return [{ kind: 'lines', rows: region.rows }];
    const end = region.rows.findLastIndex((_, index) => isBesideCells(region.rows, index)) + 1;
    const [before, table, after] = [region.rows.slice(0, first), region.rows.slice(first, end), region.rows.slice(end)];
    // A cell of the last row may have more lines than the others.
    const close = countCloseRows(after, table, rules);
    const parts: Region[] = [
      { kind: 'lines', rows: before },
      ...splitByColumns(splitCloseCells(table.concat(after.slice(0, close))), rules).map((part): Region => ({ kind: 'table', rows: part })),
      { kind: 'lines', rows: after.slice(close) },
    ];
    return parts.filter((part) => part.rows.length > 0);
  });
}
