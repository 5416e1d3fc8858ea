import type { HyphenJoiner } from './hyphens.ts';
import type { TextRun } from './page-runs.ts';
import { groupIntoRows, median, type Row } from './rows.ts';
import { findRuledGrids, type RuledGrid } from './ruled-grids.ts';
import type { Rule } from './rules.ts';
import { toSegments } from './segments.ts';
import type { Column } from './table-columns.ts';
import { groupTableRows, hasSeveralRows } from './table-rows.ts';

/** A table in drawn lines. Its box and the texts in it, in reading position. */
export interface RuledTable {
  left: number;
  right: number;
  top: number;
  bottom: number;
  cells: string[][];
  columns: Column[];
  runs: TextRun[];
}

/** A text of several runs counts as one cell's when its middle lies in the cell; lines are drawn a little beside where they should be. */
const middleOf = ({ left, right, baseline, size }: TextRun) => ({ x: (left + right) / 2, y: baseline - size * 0.3 });
/** A grid with text in fewer of its cells is a drawing. With long texts in them, or in one column alone, it frames parts of the page. */
const minFilledShare = 0.15;
const minColumns = 2;
const maxUsualLines = 8;
/** With so many lines across it, a table has one for each row. */
const minHeightsOfRows = 5;

/** The tables of a page whose cells are drawn with lines, and which text is in which cell. */
export function findRuledTables(runs: TextRun[], rules: Rule[], hyphens: HyphenJoiner): RuledTable[] {
  let others = runs;
  return findRuledGrids(rules).flatMap((grid) => {
    const [left = 0, right = 0] = [grid.widths[0], grid.widths.at(-1)];
    const [top = 0, bottom = 0] = [grid.heights[0], grid.heights.at(-1)];
    const isInside = (run: TextRun) => {
      const { x, y } = middleOf(run);
      return x > left && x < right && y > top && y < bottom;
    };
    const inside = others.filter(isInside);
    const placed = placeRuns(inside, grid);
    if (!isTable(placed, grid)) return [];
    others = others.filter((run) => !isInside(run));
    return [{ left, right, top, bottom, runs: inside, ...toCells(placed, grid, hyphens) }];
  });
}

function isTable(placed: PlacedRun[], grid: RuledGrid): boolean {
  const filled = Map.groupBy(placed, ({ cell }) => cell);
  const firstColumns = new Map(grid.cells.flatMap((row) => row.map((cell, column) => [cell, column] as const)).toReversed());
  const columns = new Set([...filled.keys()].map((cell) => firstColumns.get(cell)));
  const lines = [...filled.values()].map((runs) => new Set(runs.map(({ run }) => Math.round(run.baseline))).size);
  return columns.size >= minColumns && filled.size >= new Set(grid.cells.flat()).size * minFilledShare && median(lines, 0) <= maxUsualLines;
}

interface PlacedRun {
  run: TextRun;
  row: number;
  column: number;
  cell: number;
}

function placeRuns(runs: TextRun[], { widths, heights, cells }: RuledGrid): PlacedRun[] {
  return runs.flatMap((run) => {
    const row = findStep(heights, middleOf(run).y);
    const borders = widths.slice(1, -1).filter((_, index) => cells[row]?.[index] !== cells[row]?.[index + 1]);
    return splitAtBorders(run, borders).map((piece) => {
      const column = findStep(widths, middleOf(piece).x);
      return { run: piece, row, column, cell: cells[row]?.[column] ?? -1 };
    });
  });
}

const findStep = (places: number[], value: number): number =>
  Math.max(
    0,
    Math.min(
      places.length - 2,
      places.findLastIndex((place) => place <= value),
    ),
  );

/** Splits a text that runs over the border of a cell, at the blank next to it. */
function splitAtBorders(run: TextRun, borders: number[]): TextRun[] {
  const border = borders.find((x) => run.left < x - run.size / 2 && run.right > x + run.size / 2);
  if (border === undefined) return [run];
  const expected = ((border - run.left) / (run.right - run.left)) * run.text.length;
  const blanks = [...run.text.matchAll(/\s+/g)].map(({ index }) => index);
  const [blank] = blanks.toSorted((one, other) => Math.abs(one - expected) - Math.abs(other - expected));
  if (blank === undefined) return [run];
  const before = { ...run, text: run.text.slice(0, blank), right: Math.min(border, run.right) };
  const after = { ...run, text: run.text.slice(blank).trimStart(), left: border };
  return [
    before,
    ...splitAtBorders(
      after,
      borders.filter((x) => x > border),
    ),
  ];
}

/**
 * The texts of the cells, row by row, without columns that are empty throughout. A merged cell has its text where it begins; one at the left
 * of several rows repeats it for each.
 */
function toCells(placed: PlacedRun[], grid: RuledGrid, hyphens: HyphenJoiner): { cells: string[][]; columns: Column[] } {
  const lines = new Map<number, Row[]>();
  for (const [cell, of] of Map.groupBy(placed, (each) => each.cell)) lines.set(cell, groupIntoRows(toSegments(of.map(({ run }) => run))));
  const rows = grid.cells.flatMap((_, row) =>
    splitBand(linesOfRow(row, grid, lines), grid).map((band) => band.map((cell) => joinLines(cell, hyphens))),
  );
  const columns = grid.widths.slice(1).flatMap((right, column) => {
    const isUsed = rows.some((row) => row[column] !== '');
    return isUsed ? [{ column, left: grid.widths[column] ?? 0, right }] : [];
  });
  const cells = rows.map((row) => columns.map(({ column }) => row[column] ?? '')).filter((row) => row.some((cell) => cell !== ''));
  return { cells, columns: columns.map(({ left, right }) => ({ left, right })) };
}

/** The lines of text in each field of a row of the grid. */
function linesOfRow(row: number, { cells, heights }: RuledGrid, lines: Map<number, Row[]>): Row[][] {
  const own = cells[row] ?? [];
  return own.map((cell, column) => {
    if (own.indexOf(cell) !== column) return [];
    const all = lines.get(cell) ?? [];
    const from = cells.findIndex((other) => other[column] === cell);
    const to = cells.findLastIndex((other) => other[column] === cell);
    if (from === to) return all;
    const isOnePerRow = all.length === to - from + 1 && all.every((line, index) => findStep(heights, middleOfRow(line)) === from + index);
    const findOthers = () => [...lines].flatMap(([number, rows]) => (number === cell ? [] : rows));
    if (isOnePerRow && isBesideOthers(all, findOthers())) return [all[row - from]!];
    const isRepeated = column === 0 && own[1] !== cell;
    return row === from || isRepeated ? all : [];
  });
}

const middleOfRow = ({ baseline, size }: Row): number => baseline - size * 0.3;

/** Whether each line stands at the height of a line in another cell: then a line between them is only not drawn. */
const isBesideOthers = (lines: Row[], others: Row[]): boolean =>
  lines.every((line) => others.some((other) => Math.abs(other.baseline - line.baseline) < line.size * 0.15));

const joinLines = (lines: Row[], hyphens: HyphenJoiner): string =>
  lines
    .map(({ segments }) => segments.map(({ text }) => text).join(' '))
    .reduce((before, after) => (before === '' ? after : hyphens.join(before, after)), '');

/** How wide the texts of a column may be: the space that is free on one side is free on the other, too. */
function measureRoom(lines: Row[], left: number, right: number): number {
  const free = lines.flatMap(({ segments }) => [(segments[0]?.left ?? left) - left, right - (segments.at(-1)?.right ?? right)]);
  return right - left - 2 * Math.max(0, Math.min(...free));
}

/** Splits the cells between two lines across the table into several rows, if no lines part its rows. */
function splitBand(cells: Row[][], { widths, heights }: RuledGrid): Row[][][] {
  const rows = groupIntoRows(cells.flatMap((lines) => lines.flatMap(({ segments }) => segments)));
  const columnOf = new Map(
    cells.flatMap((lines, column) => lines.flatMap(({ segments }) => segments.map((segment) => [segment, column] as const))),
  );
  const find = (segment: Row['segments'][number]) => columnOf.get(segment) ?? 0;
  const room = new Map(cells.map((lines, column) => [column, measureRoom(lines, widths[column] ?? 0, widths[column + 1] ?? 0)]));
  if (!hasSeveralRows(rows, find, room, heights.length > minHeightsOfRows)) return [cells];
  return (groupTableRows(rows, find, [], room) ?? rows.map((row) => [row])).map((group) =>
    cells.map((_, column) =>
      group.flatMap((row) => {
        const segments = row.segments.filter((segment) => find(segment) === column);
        return segments.length === 0 ? [] : [{ ...row, segments }];
      }),
    ),
  );
}
