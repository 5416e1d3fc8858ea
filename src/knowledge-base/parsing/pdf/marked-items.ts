import type { HiddenLayers } from './hidden-layers.ts';
import type { TextContent } from './text-content.ts';
import { readMark, type TextMark } from './text-marks.ts';

type Item = TextContent['items'][number];
type TextItem = Extract<Item, { str: string }>;

/** The library's types leave out the tag. */
type MarkedContentItem = Exclude<Item, TextItem> & { tag?: unknown };

/** What the file says of marked text. */
export interface MarkedContent {
  /** What stands for what is drawn, by the index of a mark. */
  texts: string[];
  /** The index of these texts by the library's id of marked content. */
  structured: Map<string, number>;
  layers: Pick<HiddenLayers, 'isHidden'>;
}

/** Text that stands for what is drawn. `item`: where it is placed; undefined: nothing has been drawn yet. */
interface ReplacedText {
  index: number;
  item: TextItem | undefined;
}

interface OpenMark {
  mark: TextMark | undefined;
  /** The mark has been begun inside a layer that is not shown. */
  isHidden: boolean;
  replaced: ReplacedText | undefined;
  spacing: number;
}

const noMark: OpenMark = { mark: undefined, isHidden: false, replaced: undefined, spacing: 0 };

/** Reads the text of a page by its marks: text of hidden layers is left out, other text stands for what is drawn, and letters are as wide as they are drawn. */
export class MarkedItems {
  /** The parts of hidden layers that have text. */
  hiddenParts = 0;
  /** Texts that stand for something that is drawn without letters. */
  readonly unplaced: string[] = [];
  private readonly content: MarkedContent;
  private readonly open: OpenMark[] = [];
  private readonly structured = new Map<number, ReplacedText>();
  private isPartCounted = false;
  private moved: { end: readonly [number, number]; drawnEnd: readonly [number, number] } | undefined;

  constructor(content: MarkedContent) {
    this.content = content;
  }

  /** Returns the item as it is read; undefined: there is nothing to read. */
  read(item: Item): TextItem | undefined {
    if ('str' in item) return this.place(item);
    if (item.type === 'endMarkedContent') this.end();
    else this.begin(item);
    return undefined;
  }

  private begin({ tag, id }: MarkedContentItem): void {
    const above = this.open.at(-1) ?? noMark;
    const own = readMark(tag);
    const structured = id === undefined || id === null ? undefined : this.content.structured.get(id);
    const isHidden = above.isHidden || (own?.kind === 'layer' && this.content.layers.isHidden(own.number));
    if (isHidden && !above.isHidden) this.isPartCounted = false;
    this.open.push({
      mark: own,
      isHidden,
      replaced: above.replaced ?? this.toReplaced(own?.kind === 'text' ? own.index : undefined, structured),
      spacing: own?.kind === 'spacing' ? own.sizes : above.spacing,
    });
  }

  private toReplaced(index: number | undefined, structured: number | undefined): ReplacedText | undefined {
    if (structured === undefined) return index === undefined ? undefined : { index, item: undefined };
    const replaced = this.structured.get(structured) ?? { index: structured, item: undefined };
    this.structured.set(structured, replaced);
    return replaced;
  }

  private end(): void {
    const ended = this.open.pop();
    const above = this.open.at(-1);
    const { replaced } = ended ?? noMark;
    if (!replaced || replaced.item || ended?.isHidden === true || above?.replaced === replaced) return;
    const text = this.content.texts[replaced.index]?.trim() ?? '';
    // A part of an element of the structure has its text elsewhere.
    if (text !== '' && !this.structured.has(replaced.index)) this.unplaced.push(text);
  }

  private place(item: TextItem): TextItem | undefined {
    const { isHidden, replaced, spacing } = this.open.at(-1) ?? noMark;
    if (isHidden) {
      if (item.str.trim() !== '' && !this.isPartCounted) {
        this.isPartCounted = true;
        this.hiddenParts += 1;
      }
      return undefined;
    }
    this.widen(item, spacing);
    if (!replaced || item.str.trim() === '') return item;
    if (replaced.item) {
      extend(replaced.item, item);
      return undefined;
    }
    item.str = this.content.texts[replaced.index] ?? '';
    replaced.item = item;
    return item;
  }

  /** Letters that the library was told to be close are as far apart as they are drawn, and so is what follows them in the line. */
  private widen(item: TextItem, spacing: number): void {
    if (item.str.trim() === '') return;
    const [a = 1, b = 0, , , x = 0, y = 0] = item.transform as number[];
    const scale = Math.hypot(a, b);
    if (scale === 0) return;
    const [cos, sin] = [a / scale, b / scale];
    const told: readonly [number, number] = [x + cos * item.width, y + sin * item.width];
    if (this.moved) {
      const { end, drawnEnd } = this.moved;
      const along = ([fromX, fromY]: readonly [number, number]) => (x - fromX) * cos + (y - fromY) * sin;
      const beside = Math.abs((y - end[1]) * cos - (x - end[0]) * sin);
      const near = scale * minOverlap;
      // The text begins where the library believes the line to be, which is before the end of what is drawn.
      if (beside < near && along(end) > -near && along(drawnEnd) < -near) {
        const by = Math.hypot(drawnEnd[0] - end[0], drawnEnd[1] - end[1]);
        item.transform = [...item.transform.slice(0, 4), x + cos * by, y + sin * by];
      } else this.moved = undefined;
    }
    if (spacing === 0 && !this.moved) return;
    item.width += spacing * scale * Array.from(item.str).length;
    const [, , , , placedX = 0, placedY = 0] = item.transform as number[];
    this.moved = { end: told, drawnEnd: [placedX + cos * item.width, placedY + sin * item.width] };
  }
}

/** In font sizes. */
const minOverlap = 0.1;

/** The item as wide as to the end of another one in its line. */
function extend(item: TextItem, { transform, width, hasEOL }: TextItem): void {
  const [a = 1, b = 0, , , x = 0, y = 0] = item.transform as number[];
  const [, , , , otherX = 0, otherY = 0] = transform as number[];
  const scale = Math.hypot(a, b) || 1;
  const beside = Math.abs((otherY - y) * a - (otherX - x) * b) / scale;
  if (beside < scale * 0.5) item.width = Math.max(item.width, ((otherX - x) * a + (otherY - y) * b) / scale + width);
  item.hasEOL ||= hasEOL;
}
