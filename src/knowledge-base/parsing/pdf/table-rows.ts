import type { HyphenJoiner } from './hyphens.ts';
import { measureLinePitch } from './rows.ts';
import type { Row } from './rows.ts';
import { splitSegmentAt } from './segments.ts';
import type { Segment } from './segments.ts';

interface Column {
  left: number;
  right: number;
}

/** The ratio of the space between rows of a table to the space between lines of a cell. */
const maxLineGapRatio = 1.25;
/** A table with more columns is not split further. */
const maxColumns = 100;

/** The cells of a table, row by row. A cell may have several lines. */
export function toTableCells(rows: Row[], hyphens: HyphenJoiner): string[][] {
  const columns = findColumns(rows);
  const table: string[][] = [];
  let lastBaseline = 0;
  const pitch = measureLinePitch(rows);
  for (const group of groupTableRows(rows) ?? rows.map((row) => [row])) {
    const cells = Array.from({ length: columns.length }, () => '');
    for (const segment of group.flatMap((row) => row.segments)) {
      const column = findColumn(columns, segment);
      cells[column] = cells[column] ? hyphens.join(cells[column], segment.text) : segment.text;
    }
    const above = table.at(-1);
    const first = group[0]?.baseline ?? 0;
    // A row without a first cell, close below another row, continues the cells above.
    const goesOn =
      above &&
      cells[0] === '' &&
      first - lastBaseline < pitch * maxLineGapRatio &&
      cells.every((cell, index) => cell === '' || above[index] !== '');
    if (goesOn)
      for (const [index, cell] of cells.entries())
        above[index] = cell === '' ? (above[index] ?? '') : hyphens.join(above[index] ?? '', cell);
    else table.push(cells);
    lastBaseline = group.at(-1)?.baseline ?? 0;
  }
  return table;
}

/**
 * Groups the lines of each row of a table, where some lines are closer than others: close lines belong to the same cells. Undefined: all
 * distances are alike, or most groups begin with a single cell.
 */
export function groupTableRows(rows: Row[]): Row[][] | undefined {
  const gaps = toGaps(rows);
  const closest = findClosestGap(gaps);
  const groups: Row[][] = [];
  for (const [index, row] of rows.entries()) {
    const group = groups.at(-1);
    if (group && (gaps[index - 1] ?? 0) <= closest * maxLineGapRatio) group.push(row);
    else groups.push([row]);
  }
  const beginInSeveral = groups.filter(([first]) => first && first.segments.length > 1).length;
  return groups.length > 1 && groups.length < rows.length && beginInSeveral >= groups.length * 0.6 ? groups : undefined;
}

/** Splits segments that hold two close cells. */
export function splitCloseCells(rows: Row[]): Row[] {
  const begins = findColumns(rows).map((column) => column.left);
  if (begins.length > maxColumns) return rows;
  return rows.map((row) => ({
    ...row,
    segments: begins.reduce((segments, x) => segments.flatMap((segment) => splitSegmentAt(segment, x)), row.segments),
  }));
}

/**
 * Splits rows into tables below each other. A row with two cells in one column belongs to another table; so do first rows with few of the
 * columns, such as the addresses above the items of an invoice.
 */
export function splitByColumns(rows: Row[]): Row[][] {
  const columns = findColumns(rows);
  const tables: { fits: boolean; rows: Row[] }[] = [];
  for (const group of groupTableRows(rows) ?? rows.map((row) => [row])) {
    const isDistinct = group.every(
      ({ segments }) => new Set(segments.map((segment) => findColumn(columns, segment))).size === segments.length,
    );
    const maxCells = Math.max(...group.map(({ segments }) => segments.length));
    const isBefore = tables.every((table) => !table.fits) && columns.length >= 4 && maxCells <= columns.length / 2;
    const fits = isDistinct && !isBefore;
    const last = tables.at(-1);
    if (last?.fits === fits) last.rows.push(...group);
    else tables.push({ fits, rows: [...group] });
  }
  return tables.map((table) => table.rows);
}

const toGaps = (rows: Row[]) => rows.slice(1).map((row, index) => row.baseline - (rows[index]?.baseline ?? 0));
const findClosestGap = (gaps: number[]) => gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 10)] ?? 0;

/** How many rows directly below `table` follow as closely as the lines of a cell. */
export function countCloseRows(rows: Row[], table: Row[]): number {
  const closest = findClosestGap(toGaps(table.concat(rows)));
  const far = toGaps(table.slice(-1).concat(rows)).findIndex((gap) => gap > closest * maxLineGapRatio);
  return far === -1 ? rows.length : far;
}

/** The columns, from the rows with the most cells that occur at least twice. Cells of other rows may span columns. */
function findColumns(rows: Row[]): Column[] {
  const counts = rows.map((row) => row.segments.length).toSorted((one, other) => other - one);
  const maxCells = counts.find((count, index) => counts[index + 1] === count) ?? counts[0] ?? 0;
  const full = rows.filter((row) => row.segments.length === maxCells).flatMap((row) => row.segments);
  const columns: Column[] = [];
  for (const { left, right } of full.toSorted((one, other) => one.left - other.left)) {
    const last = columns.at(-1);
    if (last && left < last.right - 1) last.right = Math.max(last.right, right);
    else columns.push({ left, right });
  }
  return mergeAlternatives(columns, rows, maxCells);
}

/** Merges two columns that no row fills both, such as a left-aligned heading above right-aligned numbers. */
function mergeAlternatives(columns: Column[], rows: Row[], maxCells: number): Column[] {
  if (columns.length <= maxCells || columns.length > maxColumns) return columns;
  const used = rows.map(({ segments }) => new Set(segments.map((segment) => findColumn(columns, segment))));
  const pairs = columns.slice(1).flatMap((column, index) => {
    const isAlternative = used.every((places) => !places.has(index) || !places.has(index + 1));
    return isAlternative ? [{ index, gap: column.left - (columns[index]?.right ?? 0) }] : [];
  });
  const [closest] = pairs.toSorted((one, other) => one.gap - other.gap);
  if (!closest) return columns;
  const merged = columns.flatMap((column, index) => {
    if (index === closest.index + 1) return [];
    return index === closest.index ? [{ left: column.left, right: columns[index + 1]?.right ?? column.right }] : [column];
  });
  return mergeAlternatives(merged, rows, maxCells);
}

function findColumn(columns: Column[], { left, right }: Segment): number {
  const distances = columns.map((column) => Math.max(column.left - right, left - column.right));
  const first = distances.findIndex((distance) => distance < 0);
  return first === -1 ? distances.indexOf(Math.min(...distances)) : first;
}
