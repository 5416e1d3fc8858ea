import { median, measureLinePitch, groupIntoRows } from './rows.ts';
import type { Region, Row } from './rows.ts';
import type { Rule } from './rules.ts';
import type { Segment } from './segments.ts';
import { columnsOf, countRuledRows, groupByDistance, groupCentredRows, groupTableRows } from './table-rows.ts';
import { findTables } from './tables.ts';

const maxDepth = 8;
/** The white space across two columns that ends both, in line distances: the text below begins again on the left. */
const columnBreakLines = 3;
const gutterStep = 2;
/** The maximum of steps: text may stand millions of points apart. */
const maxSteps = 1000;
/** The maximum of lines in a cell. Longer texts beside each other are columns. */
const maxCellLines = 8;
/** Texts beside each other with so many lines drawn between them are cells. */
const minRuledRows = 2;
const minCentredRows = 3;

/**
 * Splits a page into regions in reading order. A gutter separates columns or the cells of a table. Rows across the gutter, and wide white
 * space, split the page into bands. In each band the left side comes before the right one, unless the band is a table.
 */
export function splitIntoRegions(segments: Segment[], rules: Rule[], depth = 0): Region[] {
  const rows = groupIntoRows(segments);
  const gutter = depth < maxDepth ? findGutter(rows) : undefined;
  if (gutter === undefined) return rows.length === 0 ? [] : [{ kind: 'lines', rows }];
  return splitIntoBands(rows, gutter).flatMap((band): Region[] => {
    const [left, right] = splitSides(band.rows, gutter);
    if (!band.isOpen || left.length === 0 || right.length === 0) return splitIntoRegions(left.concat(right), rules, depth + 1);
    if (isTable(band.rows, left, right, gutter, rules)) return findTables(band.rows, rules);
    return splitIntoRegions(left, rules, depth + 1).concat(splitIntoRegions(right, rules, depth + 1));
  });
}

/** The x coordinate at which most consecutive rows have text on both sides. Undefined: no place separates the rows. */
function findGutter(rows: Row[]): number | undefined {
  const split = rows.filter((row) => row.segments.length > 1);
  if (split.length < 2) return undefined;
  const left = Math.min(...split.map((row) => row.segments[0]?.right ?? 0));
  const right = Math.max(...split.map((row) => row.segments.at(-1)?.left ?? 0));
  let best: { from: number; to: number; count: number } | undefined;
  const stride = Math.max(gutterStep, (right - left) / maxSteps);
  for (let x = left; x <= right; x += stride) {
    const count = countLongestRun(rows, x);
    if (count < 2) continue;
    if (!best || count > best.count) best = { from: x, to: x, count };
    // The best place is in the widest gap.
    else if (count === best.count && x - best.to <= stride) best.to = x;
  }
  // Texts begin at the left of their column: other lines may reach further into the gap from the left than from the right.
  return best && best.from + (best.to - best.from) * 0.9;
}

function countLongestRun(rows: Row[], x: number): number {
  let longest = 0;
  let current = 0;
  for (const row of rows) {
    if (crosses(row, x)) current = 0;
    else if (isSplitAt(row, x)) current += 1;
    longest = Math.max(longest, current);
  }
  return longest;
}

const crosses = (row: Row, x: number) => row.segments.some((segment) => segment.left < x && segment.right > x);
const isSplitAt = (row: Row, x: number) => !crosses(row, x) && (row.segments[0]?.right ?? 0) <= x && (row.segments.at(-1)?.left ?? 0) >= x;

/** Cells of a row share a baseline; lines of two columns do so by chance. */
function isAlignedAt(row: Row, x: number): boolean {
  const baselines = row.segments.map((segment) => segment.baseline);
  return isSplitAt(row, x) && Math.max(...baselines) - Math.min(...baselines) < row.size * 0.15;
}

interface Band {
  isOpen: boolean;
  rows: Row[];
}

function splitIntoBands(rows: Row[], gutter: number): Band[] {
  const pitch = measureLinePitch(rows);
  const bands: Band[] = [];
  for (const [index, row] of rows.entries()) {
    const isOpen = !crosses(row, gutter);
    const band = bands.at(-1);
    const above = rows[index - 1] ?? row;
    const isApart =
      isOpen && row.baseline - above.baseline > Math.max(pitch * columnBreakLines, (row.size + above.size) * (columnBreakLines / 2));
    // A short line on the left, close below a row across the gutter, ends that row's paragraph.
    const isClose = row.baseline - above.baseline < pitch * 1.35;
    const isNewOpen = isOpen && (!isClose || isSplitAt(row, gutter) || (row.segments[0]?.left ?? 0) > gutter);
    if (band && band.isOpen === isOpen && !isApart) band.rows.push(row);
    else if (band && !band.isOpen && !isNewOpen) band.rows.push(row);
    else bands.push({ isOpen: isOpen && (isNewOpen || band?.isOpen === true), rows: [row] });
  }
  return bands;
}

function splitSides(rows: Row[], gutter: number): [Segment[], Segment[]] {
  const segments = rows.flatMap((row) => row.segments);
  const isLeft = (segment: Segment) => (segment.left + segment.right) / 2 < gutter;
  return [segments.filter(isLeft), segments.filter((segment) => !isLeft(segment))];
}

/**
 * Whether a band is a table: the rows of the side with fewer rows stand beside rows of the other side, and either a side is no running
 * text, or short texts on both sides begin at the same heights.
 */
function isTable(rows: Row[], left: Segment[], right: Segment[], gutter: number, rules: Rule[]): boolean {
  if (rows.some(({ segments }) => segments.some(isPlaceOfTable))) return false;
  const beside = rows.filter((row) => isAlignedAt(row, gutter)).length;
  if (beside < Math.min(groupIntoRows(left).length, groupIntoRows(right).length) * 0.6 && !areCellsCentred(rows, gutter)) return false;
  if (!isRunningText(left) || !isRunningText(right)) return true;
  const groups = countRuledRows(rows, rules) >= minRuledRows ? (groupTableRows(rows, columnsOf(rows), rules) ?? []) : groupByDistance(rows);
  const beginTogether = groups.filter(([first]) => first && isAlignedAt(first, gutter)).length;
  return (
    groups.length >= 3 &&
    beginTogether >= groups.length * 0.8 &&
    median(
      groups.map((group) => group.length),
      0,
    ) <= maxCellLines
  );
}

/** Whether the space across both sides parts cells whose texts stand in the middle of their rows: between two of these spaces, both sides have text. */
function areCellsCentred(rows: Row[], gutter: number): boolean {
  const groups = groupCentredRows(rows);
  const onBothSides = groups.filter((group) => {
    const segments = group.flatMap((row) => row.segments);
    return segments.some(({ right }) => right <= gutter) && segments.some(({ left }) => left >= gutter);
  });
  return groups.length >= minCentredRows && onBothSides.length >= groups.length * 0.8;
}

/** A line that stands for a table in drawn lines has no text of its own. Such tables beside each other are those of columns. */
const isPlaceOfTable = ({ runs }: Segment): boolean => runs.length === 0;

/** Whether segments are lines of prose. East Asian characters count twice, because they carry twice as much text. */
function isRunningText(segments: Segment[]): boolean {
  const lengths = segments.map(({ text }) => text.length + (text.match(/[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff]/g)?.length ?? 0));
  return segments.length >= 3 && median(lengths, 0) >= 22;
}
