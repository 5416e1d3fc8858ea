import { mergeRules, type Rule } from './rules.ts';
import { straighten } from './skew.ts';
import type { RulingLine } from './ruling-lines.ts';
import type { TextContent } from './text-content.ts';
import type { PageText } from './text-items.ts';

type TextItem = Extract<TextContent['items'][number], { str: string }>;

/** A stretch of text in one font. Points from the upper left corner of the page in reading position; `baseline` grows downwards. */
export interface TextRun {
  text: string;
  left: number;
  right: number;
  baseline: number;
  size: number;
  font: string;
  /** A blank follows on the page. */
  isSpaced: boolean;
}

export interface PageRuns {
  width: number;
  height: number;
  runs: TextRun[];
  /** The lines that are drawn along or across the page. */
  rules: Rule[];
  /** Text in another direction, in the order of the file: notes in the margin. */
  aside: string;
  /** Text at an angle, such as a stamp, in the order of the file. */
  slanted: string;
}

/** Punctuation as it is drawn in lines that run downwards. */
const verticalForms = /[\ufe10-\ufe19\ufe30-\ufe44\ufe47\ufe48]/g;

interface PlacedItem {
  item: TextItem;
  text: string;
  turn: Rotation;
  x: number;
  y: number;
  isSpaced: boolean;
  endsLine: boolean;
}

interface Viewport {
  width: number;
  height: number;
  transform: readonly number[];
}

/** The angle of text on the page, in quarter turns to the right. Lines that are written downwards count as turned once. */
type Rotation = 0 | 1 | 2 | 3;

/** Rotates the page so that most of its text is upright, also where a scan lies askew, and mirrors a page that is read from right to left. */
export function toPageRuns({ items, verticalFonts }: PageText, lines: RulingLine[], printed: Viewport): PageRuns {
  const viewport = straighten(items, printed);
  const placed: PlacedItem[] = [];
  const lengths = [0, 0, 0, 0];
  let fromRight = 0;
  let slanted = '';
  for (const item of items) {
    if (!('str' in item)) continue;
    if (item.str.trim() === '') {
      const before = placed.at(-1);
      if (before && item.str !== '') before.isSpaced = true;
      if (before && item.hasEOL) before.endsLine = true;
      if (slanted !== '') slanted += ' ';
      continue;
    }
    const isDownwards = verticalFonts.has(item.fontName);
    const turn = toRotation(item, viewport, isDownwards);
    if (turn === undefined) {
      slanted += item.str + (item.hasEOL ? ' ' : '');
      continue;
    }
    lengths[turn] = (lengths[turn] ?? 0) + item.str.length;
    if (item.dir === 'rtl') fromRight += item.str.length;
    const text = item.str.replace(verticalForms, (form) => form.normalize('NFKC'));
    placed.push({ item, text, turn, ...toPagePoint(viewport, item), isSpaced: false, endsLine: item.hasEOL });
  }
  const mainTurn = lengths.indexOf(Math.max(...lengths)) as Rotation;
  const isLying = mainTurn === 1 || mainTurn === 3;
  const [width, height] = isLying ? [viewport.height, viewport.width] : [viewport.width, viewport.height];
  const isFromRight = fromRight > (lengths[mainTurn] ?? 0) / 2;

  const runs = placed
    .filter(({ turn }) => turn === mainTurn)
    .map(({ item, text, x, y, isSpaced }): TextRun => {
      const [left, baseline] = rotatePoint(x, y, mainTurn, viewport);
      const isDownwards = verticalFonts.has(item.fontName);
      const size = Math.hypot(item.transform[2] ?? 0, item.transform[3] ?? 0) || (isDownwards ? item.width : item.height);
      const right = left + (isDownwards ? item.height : item.width);
      const font = item.fontName;
      return isFromRight
        ? { text, left: width - right, right: width - left, baseline, size, font, isSpaced }
        : { text, left, right, baseline, size, font, isSpaced };
    });
  const aside = placed
    .flatMap(({ text, turn, isSpaced, endsLine }) => (turn === mainTurn ? [] : [text + (isSpaced || endsLine ? ' ' : '')]))
    .join('');
  const toReadingPoint = (x: number, y: number): [number, number] => {
    const [left, top] = rotatePoint(...transformPoint(viewport, x, y), mainTurn, viewport);
    return [isFromRight ? width - left : left, top];
  };
  const rules = mergeRules(
    lines.map(({ x0, y0, x1, y1 }) => {
      const [[left, top], [right, bottom]] = [toReadingPoint(x0, y0), toReadingPoint(x1, y1)];
      return Math.abs(right - left) > Math.abs(bottom - top)
        ? { isAcross: true, at: (top + bottom) / 2, from: Math.min(left, right), to: Math.max(left, right) }
        : { isAcross: false, at: (left + right) / 2, from: Math.min(top, bottom), to: Math.max(top, bottom) };
    }),
  );
  return { width, height, runs, rules, aside, slanted: slanted.replace(/\s+/g, ' ').trim() };
}

function toRotation(
  { transform: [h = 1, v = 0, c = 0, d = 1] }: TextItem,
  { transform: [va = 1, vb = 0, vc = 0, vd = -1] }: Viewport,
  isDownwards: boolean,
): Rotation | undefined {
  const [a, b] = isDownwards ? [-c, -d] : [h, v];
  const across = va * a + vc * b;
  const down = vb * a + vd * b;
  if (Math.abs(down) <= Math.abs(across) * 0.05) return across >= 0 ? 0 : 2;
  if (Math.abs(across) <= Math.abs(down) * 0.05) return down >= 0 ? 1 : 3;
  return undefined;
}

function toPagePoint(viewport: Viewport, { transform }: TextItem): { x: number; y: number } {
  const [x, y] = transformPoint(viewport, transform[4] ?? 0, transform[5] ?? 0);
  return { x, y };
}

function transformPoint({ transform: [a = 1, b = 0, c = 0, d = -1, e = 0, f = 0] }: Viewport, x: number, y: number): [number, number] {
  return [a * x + c * y + e, b * x + d * y + f];
}

function rotatePoint(x: number, y: number, turn: Rotation, { width, height }: Viewport): [number, number] {
  if (turn === 1) return [y, width - x];
  if (turn === 2) return [width - x, height - y];
  return turn === 3 ? [height - y, x] : [x, y];
}
