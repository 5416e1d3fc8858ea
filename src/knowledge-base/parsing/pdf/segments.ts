import type { TextRun } from './page-runs.ts';
import { findLetterGaps, joinSpacedLetters } from './spaced-letters.ts';

/**
 * Text without a wide gap: a line of a column, or a cell of a table. Coordinates as in `TextRun`. `font` is the font of most of the text.
 */
export interface Segment {
  text: string;
  left: number;
  right: number;
  baseline: number;
  size: number;
  font: string;
  /** All of the text is in `font`. */
  isOneFont: boolean;
  runs: TextRun[];
}

/** In font sizes: the gap that separates two segments, and the gap that is a blank. */
const segmentGap = 0.9;
const blankGap = 0.12;
const maxStretchedGap = 2.5;
const minCellGap = 0.35;
/** The maximum gap between a bullet or number and its text. */
const markReach = 5;
/** The maximum gap between the number of a heading and the heading. */
const numberReach = 2.5;
const loneNumber = /^\d{1,2}(?:\.\d{1,2})*$/;
const loneMark = /^(?:[-–—*•◦▪▫■□●○◆◇‣⁃∙·►▸➢➤✓✔❖\uf0b7\uf0a7]|\(?(?:\d{1,3}|[a-zA-Z])[.)])$/;

/** Joins the runs of a page into segments. */
export function toSegments(runs: TextRun[]): Segment[] {
  return groupRunsIntoRows(runs).flatMap((row) => splitRow(row));
}

interface RunRow {
  baseline: number;
  size: number;
  runs: TextRun[];
}

/** Groups runs at one height. Larger runs come first, so that superscripts and subscripts join the row of their base. */
function groupRunsIntoRows(runs: TextRun[]): TextRun[][] {
  const rows: RunRow[] = [];
  const inOrder = runs.toSorted(
    (one, other) =>
      Math.round(other.size - one.size) ||
      Math.round(one.baseline - other.baseline) ||
      Math.round(one.left - other.left) ||
      other.text.length - one.text.length ||
      one.left - other.left,
  );
  for (const run of inOrder) {
    const row = rows.find((candidate) => belongsTo(run, candidate));
    if (row) {
      if (!row.runs.some((other) => isShadow(run, other))) row.runs.push(run);
    } else if (!isDrawnTwice(run, rows)) rows.push({ baseline: run.baseline, size: run.size, runs: [run] });
  }
  return rows
    .toSorted((one, other) => one.baseline - other.baseline)
    .map((row) => row.runs.toSorted((one, other) => one.left - other.left));
}

function belongsTo(run: TextRun, row: RunRow): boolean {
  if (run.size < row.size * 0.85) return row.runs.some((other) => isAtHeightOf(run, other) && distance(run, other) < other.size);
  return (
    isAtHeightOf(run, row) &&
    !row.runs.some((other) => distance(run, other) < -Math.min(run.right - run.left, other.right - other.left) / 2)
  );
}

function isAtHeightOf({ baseline, size }: TextRun, other: { baseline: number; size: number }): boolean {
  const middle = baseline - size * 0.35;
  return middle > other.baseline - other.size * 0.85 && middle < other.baseline + other.size * 0.1;
}

/** Negative when the two overlap. */
const distance = (one: TextRun, other: TextRun) => Math.max(one.left, other.left) - Math.min(one.right, other.right);

/** In font sizes: a copy of a text that lies this close to it makes it bold or is its shadow. */
const maxShadow = 0.2;

const isShadow = (run: TextRun, other: TextRun) =>
  other.text === run.text &&
  distance(run, other) < -run.size * 0.05 &&
  Math.abs(other.left - run.left) < run.size * maxShadow &&
  Math.abs(other.baseline - run.baseline) < run.size * maxShadow;

/** Whether the text is there already: some programs make letters bold by drawing them twice, and may cut them differently. */
function isDrawnTwice(run: TextRun, rows: RunRow[]): boolean {
  const near = run.size * maxShadow;
  return rows.some(({ baseline, size, runs }) => {
    if (Math.abs(baseline - run.baseline) >= near || Math.abs(size - run.size) >= near) return false;
    const others = runs.filter((other) => distance(run, other) < 0).toSorted((one, other) => one.left - other.left);
    const [first, last] = [others[0], others.at(-1)];
    if (!first || !last || first.left > run.left + near || last.right < run.right - near) return false;
    return withoutBlanks(others.map(({ text }) => text).join('')).includes(withoutBlanks(run.text));
  });
}

const withoutBlanks = (text: string) => text.replace(/\s+/g, '');

function splitRow(runs: TextRun[]): Segment[] {
  const segments: Segment[] = [];
  let group: TextRun[] = [];
  const letterGaps = findLetterGaps(runs);
  for (const [index, run] of runs.entries()) {
    const last = group.at(-1);
    const gap = last ? gapBetween(last, run) : 0;
    if (last && gap > segmentGap && !letterGaps.has(last) && !isMark(run, group, gap, segments.length === 0) && !isStretched(runs, index)) {
      segments.push(joinRuns(group));
      group = [];
    }
    group.push(run);
  }
  if (group.length > 0) segments.push(joinRuns(group));
  return segments;
}

/** The gap in sizes of the smaller font. */
const gapBetween = (before: TextRun, after: TextRun) => (after.left - before.right) / Math.min(before.size, after.size);

/** Whether justified text stretches the gap: its gaps are wide and all alike. */
function isStretched(runs: TextRun[], index: number): boolean {
  const gaps = [index - 1, index, index + 1].map((place) => {
    const [before, after] = [runs[place - 1], runs[place]];
    return before && after ? gapBetween(before, after) : undefined;
  });
  const [before, own = 0, after] = gaps;
  const areWords = [runs[index - 1], runs[index]].every((run) => run && !/\s/.test(run.text));
  return areWords && own < maxStretchedGap && [before, after].some((other) => other !== undefined && Math.abs(other - own) < own * 0.04);
}

function isMark(run: TextRun, before: TextRun[], gap: number, isFirst: boolean): boolean {
  const text = before
    .map((other) => other.text)
    .join('')
    .trim();
  return (gap < markReach && loneMark.test(text)) || (isFirst && gap < numberReach && loneNumber.test(text) && /^\p{Lu}/u.test(run.text));
}

/** Splits a segment into two cells at a column that begins at `x`, when a gap stands there. */
export function splitSegmentAt(segment: Segment, x: number): Segment[] {
  const index = segment.runs.findIndex((run, place) => {
    const before = segment.runs[place - 1];
    return before !== undefined && Math.abs(run.left - x) < run.size * 0.2 && gapBetween(before, run) > minCellGap;
  });
  return index === -1 ? [segment] : [joinRuns(segment.runs.slice(0, index)), joinRuns(segment.runs.slice(index))];
}

/** How many letters of a run are drawn over the same letters of the run before, as by programs that draw each letter twice. */
function countRepeated(before: TextRun, run: TextRun): number {
  const overlap = before.right - run.left;
  if (overlap < run.size * maxShadow) return 0;
  const letterWidth = (run.right - run.left) / Math.max(1, run.text.length);
  const expected = Math.round(overlap / letterWidth);
  const counts = [expected, expected - 1, expected + 1];
  return counts.find((count) => count > 0 && count < run.text.length && before.text.endsWith(run.text.slice(0, count))) ?? 0;
}

function joinRuns(runs: TextRun[]): Segment {
  let text = '';
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    const isParted = before !== undefined && (before.isSpaced || run.left - before.right > Math.max(run.size, before.size) * blankGap);
    const added = before ? run.text.slice(countRepeated(before, run)) : run.text;
    text += isParted && !/\s$/.test(text) ? ` ${added}` : added;
  }
  const lengths = new Map<string, number>();
  for (const run of runs) lengths.set(run.font, (lengths.get(run.font) ?? 0) + run.text.trim().length);
  const [font = '', length = 0] = [...lengths].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  const largest = runs.reduce((one, other) => (other.size > one.size ? other : one));
  return {
    text: joinSpacedLetters(text.trim(), runs),
    left: Math.min(...runs.map((run) => run.left)),
    right: Math.max(...runs.map((run) => run.right)),
    baseline: largest.baseline,
    size: largest.size,
    font,
    isOneFont: length >= [...lengths.values()].reduce((sum, other) => sum + other, 0) * 0.95,
    runs,
  };
}
