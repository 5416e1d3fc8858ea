import { beginsRow, goesOn, isValue, isWrapped, measureColumns, toCells, type Cells } from './cell-lines.ts';
import type { HyphenJoiner } from './hyphens.ts';
import { median, type Row } from './rows.ts';
import type { Rule } from './rules.ts';
import { splitSegmentAt, type Segment } from './segments.ts';
import { findColumn, findColumns, maxColumns, type Column, type FindColumn } from './table-columns.ts';

/** The ratio of the space between rows of a table to the space between lines of a cell. */
const maxLineGapRatio = 1.25;
/** In font sizes: lines of one cell are at least this far apart, and at most. */
const minLineGap = 0.95;
const maxLineGap = 1.65;
/** Up to this share of lines that certainly begin a row, the closer distances are those of lines in a cell. */
const maxShareOfRows = 0.35;
/** Up to this share of groups of close lines with two values in a column, the groups are rows. */
const maxShareOfSeveralValues = 0.1;
/** The share of groups of lines that begin with several cells in a table. */
const minShareOfSeveral = 0.6;
/** With lines drawn between the rows, a row has at most this many lines on average. */
const maxLinesOfRuledRow = 3;
/** A text of this length that fills the first column may go on in a line without a sign of it. */
const minWrappedLength = 16;
/** Cells whose texts are centred beside each other have lines between each other's lines; a single row has at most this many. */
const maxCentredLines = 16;
/** From so many lines between two drawn lines, with so many that begin rows, they are several rows. */
const minLinesOfRows = 4;
const minShareOfRows = 0.3;

/** The cells of a table, row by row. A cell may have several lines. */
export function toTableCells(rows: Row[], hyphens: HyphenJoiner, rules: Rule[]): string[][] {
  const columns = findColumns(rows);
  const find: FindColumn = (segment) => findColumn(columns, segment);
  return (groupTableRows(rows, find, rules) ?? rows.map((row) => [row])).map((group) => {
    const cells = Array.from({ length: columns.length }, () => '');
    for (const segment of group.flatMap((row) => row.segments)) {
      const column = find(segment);
      cells[column] = cells[column] ? hyphens.join(cells[column], segment.text) : segment.text;
    }
    return cells;
  });
}

/**
 * Groups the lines of each row of a table. Undefined: each line is a row, or all lines are one. Lines drawn across the table part rows. Where
 * some lines are clearly closer than others, close ones belong together; elsewhere a line goes on with the row above when its words would
 * not have fitted there. `widths`: of the columns, in points.
 */
export function groupTableRows(
  rows: Row[],
  find: FindColumn,
  rules: Rule[] = [],
  widths = measureColumns(rows, find),
): Row[][] | undefined {
  const cells = toCells(rows, find);
  const lines = rows.map((row, index) => ({ row, cells: cells[index]! }));
  const spacing = measureSpacing(lines, widths, rules);
  const groups: RowGroup[] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    if (group && continuesRow(group, line, spacing)) addLine(group, line);
    else groups.push({ rows: [line.row], cells: line.cells, values: valuesOf(line.cells) });
  }
  return groups.length > 1 && groups.length < rows.length ? groups.map((group) => group.rows) : undefined;
}

interface Line {
  row: Row;
  cells: Cells;
}

/** The lines of one row of the table. `cells`: the last line of each cell; `values`: the columns that have a value. */
interface RowGroup {
  rows: Row[];
  cells: Cells;
  values: Set<number>;
}

const valuesOf = (cells: Cells): Set<number> => new Set([...cells].flatMap(([column, cell]) => (isValue(cell) ? [column] : [])));

function addLine(group: RowGroup, { row, cells }: Line): void {
  group.rows.push(row);
  for (const [column, cell] of cells) {
    group.cells.set(column, cell);
    if (isValue(cell)) group.values.add(column);
  }
}

/** Groups rows where some are clearly closer than others. Empty: their distances are alike, or most groups begin with a single text. */
export function groupByDistance(rows: Row[]): Row[][] {
  const gaps = toGaps(rows);
  const closest = findClosestGap(gaps);
  const groups: Row[][] = [];
  for (const [index, row] of rows.entries()) {
    const group = groups.at(-1);
    if (group && (gaps[index - 1] ?? 0) <= closest * maxLineGapRatio) group.push(row);
    else groups.push([row]);
  }
  const beginInSeveral = groups.filter(([first]) => first && first.segments.length > 1).length;
  return groups.length > 1 && groups.length < rows.length && beginInSeveral >= groups.length * minShareOfSeveral ? groups : [];
}

/** Whether a line is closer to the one before than lines of a cell are. */
const isCloserThanLines = (rows: Row[], index: number): boolean => {
  const [above, row] = [rows[index - 1], rows[index]];
  return above !== undefined && row !== undefined && row.baseline - above.baseline < above.size * minLineGap;
};

/** Whether a line has several cells, or stands between the lines of cells beside it. */
export const isBesideCells = (rows: Row[], index: number): boolean =>
  rows[index]!.segments.length > 1 || isCloserThanLines(rows, index) || isCloserThanLines(rows, index + 1);

/**
 * Groups rows by the white space across all columns, where lines of some cells stand between those of others, since their texts are in the middle of their rows. Empty:
 * there are no such lines.
 */
export function groupCentredRows(rows: Row[]): Row[][] {
  const gaps = toGaps(rows);
  const areCloser = gaps.map((_, index) => isCloserThanLines(rows, index + 1));
  if (!areCloser.includes(true)) return [];
  const others = gaps.filter((_, index) => !areCloser[index]);
  const limit = findClosestGap(others) * maxLineGapRatio;
  const isUneven = others.some((gap) => gap > limit);
  const groups: Row[][] = [];
  for (const [index, row] of rows.entries()) {
    const isClose = index > 0 && (areCloser[index - 1] || (isUneven && gaps[index - 1]! <= limit));
    if (isClose) groups.at(-1)!.push(row);
    else groups.push([row]);
  }
  return groups;
}

/** How many rows have a line drawn above them. */
export const countRuledRows = (rows: Row[], rules: Rule[]): number =>
  rules.length === 0 ? 0 : rows.slice(1).filter((row, index) => isRuledBetween(rows[index]!, row, rules)).length;

export function columnsOf(rows: Row[]): FindColumn {
  const columns = findColumns(rows);
  return (segment) => findColumn(columns, segment);
}

/** What tells lines of a cell from rows. `closest`: the distance of lines in a cell, if distances tell. */
interface Spacing {
  rules: Rule[];
  closest: number | undefined;
  areRowsRuled: boolean;
  widths: Map<number, number>;
}

function measureSpacing(lines: Line[], widths: Map<number, number>, rules: Rule[]): Spacing {
  const rows = lines.map(({ row }) => row);
  const ruled = countRuledRows(rows, rules);
  return {
    rules,
    closest: findLineDistance(lines, widths),
    areRowsRuled: ruled >= 2 && rows.length <= (ruled + 1) * maxLinesOfRuledRow,
    widths,
  };
}

/** The distance of lines in a cell: undefined if the closest lines are rows themselves. */
function findLineDistance(lines: Line[], widths: Map<number, number>): number | undefined {
  const rows = lines.map(({ row }) => row);
  const gaps = toGaps(rows);
  const closest = findClosestGap(gaps.filter((_, index) => !isCloserThanLines(rows, index + 1)));
  const close = gaps.flatMap((gap, index) => (gap <= closest * maxLineGapRatio && !isCloserThanLines(rows, index + 1) ? [index] : []));
  if (close.length === 0 || gaps.every((gap) => gap <= closest * maxLineGapRatio)) return undefined;
  const certainRows = close.filter((index) => beginsRow(lines[index]!.cells, lines[index + 1]!.cells, widths));
  if (certainRows.length > close.length * maxShareOfRows) return undefined;
  const groups: Cells[][] = [];
  for (const [index, { cells }] of lines.entries()) {
    if (index === 0 || (gaps[index - 1] ?? 0) > closest * maxLineGapRatio) groups.push([]);
    groups.at(-1)!.push(cells);
  }
  const withSeveral = groups.filter((group) => new Set(group.flatMap((cells) => [...cells.keys()])).size > 1);
  const withTwoValues = groups.filter(hasSeveralValues);
  return withSeveral.length >= groups.length * minShareOfSeveral && withTwoValues.length <= groups.length * maxShareOfSeveralValues
    ? closest
    : undefined;
}

/** Whether lines have several values in one column: then they are several rows. */
function hasSeveralValues(lines: Cells[]): boolean {
  const values = lines.flatMap((cells) => Array.from(valuesOf(cells)));
  return new Set(values).size < values.length;
}

function continuesRow(group: RowGroup, { row, cells }: Line, { rules, closest, areRowsRuled, widths }: Spacing): boolean {
  const last = group.rows.at(-1)!;
  const gap = row.baseline - last.baseline;
  if (isRuledBetween(last, row, rules)) return false;
  // Cells whose texts are centred in one row: lines of one column are never as close as this.
  if (gap < Math.min(row.size, last.size) * minLineGap) return true;
  if ([...cells].some(([column, cell]) => group.values.has(column) && isValue(cell))) return false;
  if (areRowsRuled) return true;
  const pairs = [...cells].map(([column, { segment }]) => ({
    column,
    segment,
    before: group.cells.get(column),
    width: widths.get(column) ?? 0,
  }));
  const wrapped = pairs.filter(({ segment, before, width }) => before && isWrapped(before.segment, segment, width)).length;
  const readsOn = pairs.some(({ segment, before }) => before && goesOn(before, segment));
  const isWithin = pairs.every(({ before }) => before !== undefined);
  if (closest !== undefined) {
    if (gap > closest * maxLineGapRatio) return false;
    if (isWithin) return pairs.length === 1 || wrapped > 0 || readsOn;
    // A shorter text that stands in the middle of the row begins beside a later line of the longer one.
    return wrapped > 0 && [...group.cells.keys()].every((column) => cells.has(column));
  }
  if (!isWithin || gap > row.size * maxLineGap) return false;
  if (pairs.length < group.cells.size && pairs.every(({ segment, before }) => before && goesOn(before, segment))) return true;
  if (wrapped < pairs.length) return false;
  if (readsOn) return true;
  const [only, other] = pairs;
  if (!only?.before || other || group.cells.size < 2 || only.segment.font !== only.before.segment.font) return false;
  return only.column !== 0 || only.before.segment.text.length >= minWrappedLength;
}

/** Whether a line is drawn between two rows, along at least half of their width. */
function isRuledBetween(above: Row, row: Row, rules: Rule[]): boolean {
  const segments = above.segments.concat(row.segments);
  const [left, right] = [Math.min(...segments.map((one) => one.left)), Math.max(...segments.map((one) => one.right))];
  return rules.some(
    ({ at, from, to }) =>
      at > above.baseline - above.size * 0.1 &&
      at < row.baseline - row.size * 0.4 &&
      Math.min(to, right) - Math.max(from, left) >= (right - left) / 2,
  );
}

/**
 * Whether the lines between two drawn lines are rows of their own: a column has several values, or many lines begin rows. `areRowsRuled`: the
 * table has lines between many rows, so that only values count.
 */
export function hasSeveralRows(rows: Row[], find: FindColumn, widths: Map<number, number>, areRowsRuled: boolean): boolean {
  const areCentred = rows.some((_, index) => isCloserThanLines(rows, index));
  if (areCentred && rows.length <= maxCentredLines) return false;
  const lines = toCells(rows, find);
  const pairs = lines.slice(1).map((cells, index) => [lines[index]!, cells] as const);
  const begun = pairs.filter(([above, cells]) => beginsRow(above, cells, widths)).length;
  const columns = new Set(lines.flatMap((cells) => Array.from(cells.keys()))).size;
  return (
    columns > 1 && (hasSeveralValues(lines) || (!areRowsRuled && rows.length >= minLinesOfRows && begun >= pairs.length * minShareOfRows))
  );
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
export function splitByColumns(rows: Row[], rules: Rule[]): Row[][] {
  const columns = findColumns(rows);
  const find: FindColumn = (segment) => findColumn(columns, segment);
  const tables: { fits: boolean; rows: Row[] }[] = [];
  for (const group of groupTableRows(rows, find, rules) ?? rows.map((row) => [row])) {
    const isDistinct = group.every(({ segments }) => new Set(segments.map(find)).size === segments.length);
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

/** How many lines directly below `table` belong to it: further lines of its last row, and rows with a first cell alone. */
export function countCloseRows(below: Row[], table: Row[], rules: Rule[]): number {
  const columns = findColumns(table);
  const find: FindColumn = (segment) => findColumn(columns, segment);
  const groups = groupTableRows(table.concat(below), find, rules) ?? [];
  const end = table.at(-1)!;
  const last = groups.find((group) => group.includes(end));
  const added = last ? last.slice(last.indexOf(end) + 1) : [];
  const outside = added.findIndex((row) => !row.segments.every((segment) => standsInColumn(segment, columns, find)));
  const lines = outside === -1 ? added.length : outside;
  return lines + countFirstCells(below.slice(lines), below[lines - 1] ?? end, table, columns);
}

/** Whether a text begins, ends or has its middle where those of its column do, and reaches into no other column. */
function standsInColumn(segment: Segment, columns: Column[], find: FindColumn): boolean {
  const { left, right, size } = segment;
  const index = find(segment);
  const [column, next, before] = [columns[index], columns[index + 1], columns[index - 1]];
  if (!column || right > (next?.left ?? Infinity) || left < (before?.right ?? -Infinity)) return false;
  const isAt = (one: number, other: number) => Math.abs(one - other) <= size / 2;
  return isAt(left, column.left) || isAt(right, column.right) || isAt((left + right) / 2, (column.left + column.right) / 2);
}

/** A text that ends like a sentence. */
const sentence = /^\S+ \S+ .*[.!?]["'”’)\]]*$/;

/** How many lines stand in the first column, no further below each other than the rows of the table. */
function countFirstCells(below: Row[], end: Row, table: Row[], columns: Column[]): number {
  const [first, second] = columns;
  const pitch = median(toGaps(table), 0) * maxLineGapRatio;
  const hasSentences = table.some(({ segments: [segment] }) => segment && sentence.test(segment.text));
  const isOutside = ({ segments: [segment], baseline }: Row, index: number) =>
    !segment ||
    (!hasSentences && sentence.test(segment.text)) ||
    !first ||
    !second ||
    baseline - (below[index - 1] ?? end).baseline > pitch ||
    Math.abs(segment.left - first.left) > segment.size / 2 ||
    segment.right > Math.min(first.right + segment.size, second.left);
  const outside = below.findIndex(isOutside);
  return outside === -1 ? below.length : outside;
}
