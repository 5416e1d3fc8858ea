import { parseListItem } from '../text/parse-list-item.ts';
import type { HyphenJoiner } from './hyphens.ts';
import { measureLinePitch, type Row } from './rows.ts';
import type { Column } from './table-columns.ts';

/** A paragraph of a page, before the whole document is known. */
export interface PageParagraph {
  /** `field`: a filled form field. */
  kind: 'text' | 'item' | 'table' | 'field';
  text: string;
  /** Cells of a table. */
  rows: string[][];
  /** The columns of a table. */
  columns?: Column[];
  /** The table begins on the page before. */
  isContinued?: boolean;
  page: number;
  size: number;
  font: string;
  isOneFont: boolean;
  lineCount: number;
  /** Its last line reaches the end of the column: the next column or page may continue it. */
  isFilled: boolean;
}

interface TextLine {
  text: string;
  left: number;
  right: number;
  baseline: number;
  size: number;
  font: string;
  isOneFont: boolean;
}

/** Splits lines below each other into paragraphs. */
export function splitIntoParagraphs(rows: Row[], page: number, hyphens: HyphenJoiner): PageParagraph[] {
  const lines = rows.map(toTextLine);
  const pitch = measureLinePitch(lines);
  const left = Math.min(...lines.map((line) => line.left));
  const right = Math.max(...lines.map((line) => line.right));
  const groups: TextLine[][] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    if (group && !startsParagraph(line, group, { left, right, pitch })) group.push(line);
    else groups.push([line]);
  }
  return groups.map((group) => toParagraph(group, page, right, hyphens));
}

function toTextLine({ segments }: Row): TextLine {
  const longest = segments.reduce((one, other) => (other.text.length > one.text.length ? other : one));
  return {
    text: segments.map(({ text }) => text).join(' '),
    left: Math.min(...segments.map((segment) => segment.left)),
    right: Math.max(...segments.map((segment) => segment.right)),
    baseline: longest.baseline,
    size: longest.size,
    font: longest.font,
    isOneFont: segments.every((segment) => segment.isOneFont && segment.font === longest.font),
  };
}

/** A dash, a middle dot or a number may also begin a line by chance. */
const unambiguousBullet = /^\s*[•◦▪▫■□●○◆◇‣⁃∙►▸➢➤✓✔❖]/;

function startsParagraph(
  line: TextLine,
  group: TextLine[],
  { left, right, pitch }: { left: number; right: number; pitch: number },
): boolean {
  const [first, last] = [group[0], group.at(-1)];
  if (!first || !last) return true;
  const width = right - left;
  const isEnded = /[.!?:;。！？：]["'”’)\]]*$/.test(last.text);
  const isShort = last.right < right - width * 0.15;
  if (line.baseline - last.baseline > Math.max(pitch * 1.35, line.size * 1.45)) return true;
  if (Math.abs(line.size - last.size) > last.size * 0.08) return true;
  const item = parseListItem(line.text);
  const isInItem = parseListItem(first.text) !== undefined;
  if (item !== undefined && (unambiguousBullet.test(line.text) || isEnded || isShort || isInItem)) return true;
  if (line.font !== last.font && (line.isOneFont || last.isOneFont) && (isShort || isEnded)) return true;
  if (isInItem) return line.left < first.left + line.size * 0.5 && (isShort || isEnded);
  const isIndented = line.left > left + line.size * 0.8 && line.left > last.left + line.size * 0.8;
  if (isIndented && isEnded) return true;
  if (isShort && isEnded) return true;
  return last.right < right - width * 0.35 && /^[\p{Lu}\p{N}]/u.test(line.text);
}

function toParagraph(lines: TextLine[], page: number, right: number, hyphens: HyphenJoiner): PageParagraph {
  const text = lines.map((line) => line.text).reduce((before, after) => hyphens.join(before, after));
  const item = parseListItem(text);
  const longest = lines.reduce((one, other) => (other.text.length > one.text.length ? other : one));
  return {
    kind: item === undefined ? 'text' : 'item',
    text: item ?? text,
    rows: [],
    page,
    size: longest.size,
    font: longest.font,
    isOneFont: lines.every((line) => line.isOneFont && line.font === longest.font),
    lineCount: lines.length,
    isFilled: (lines.at(-1)?.right ?? 0) > right - longest.size * 2,
  };
}

/**
 * Appends the paragraphs of a column or page. A sentence that continues from the column or page before is joined; footnotes may stand
 * between.
 */
export function appendParagraphs(paragraphs: PageParagraph[], found: PageParagraph[], hyphens: HyphenJoiner): void {
  // A header may stand above the text that goes on.
  const index = found.slice(0, 2).findIndex((paragraph) => findContinued(paragraphs, paragraph) !== undefined);
  const [before, after] = [found[index] && findContinued(paragraphs, found[index]), found[index]];
  if (before && after && (index === 0 || found[0]?.lineCount === 1)) {
    before.text = hyphens.join(before.text, after.text);
    before.isFilled = after.isFilled;
    paragraphs.push(...found.filter((paragraph) => paragraph !== after));
  } else paragraphs.push(...found);
}

function findContinued(paragraphs: PageParagraph[], after: PageParagraph): PageParagraph | undefined {
  const before = paragraphs
    .slice(-4)
    .findLast((candidate) => (candidate.kind === 'text' || candidate.kind === 'item') && Math.abs(candidate.size - after.size) < 0.3);
  return after.kind === 'text' && before !== undefined && isContinued(before, after) ? before : undefined;
}

function isContinued(before: PageParagraph, after: PageParagraph): boolean {
  if (/[([,]$/.test(before.text)) return true;
  if (!/[\p{L}\p{N}\-\u2010]$/u.test(before.text)) return false;
  return /^\p{Ll}/u.test(after.text) || (before.kind === 'text' && before.isFilled && before.lineCount > 2 && before.font === after.font);
}
