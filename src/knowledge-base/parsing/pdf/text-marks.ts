/**
 * Marks in the streams of drawing commands, by which the reader of the page's text learns what the library does not tell. The library passes on the tag of marked content
 * (ISO 32000-1, 14.6), so a mark is a tag.
 */
export type TextMark =
  /** The text that stands for what is drawn. `index`: its place in the list of these texts. */
  | { kind: 'text'; index: number }
  /** What is drawn belongs to the layer, or the set of layers, of this object number. */
  | { kind: 'layer'; number: number }
  /** The letters are drawn further apart than the library is told; in font sizes. */
  | { kind: 'spacing'; sizes: number }
  /** A letter, or a part of a text, that has a place of its own. */
  | { kind: 'part' };

const prefix = 'Reading.';
const kinds = { text: 'Text', layer: 'Layer', spacing: 'Spacing', part: 'Part' } as const;

/** The operator that begins the mark. */
export const writeMark = (mark: TextMark): string => `/${prefix}${kinds[mark.kind]}.${valueOf(mark)} BMC`;

function valueOf(mark: TextMark): string {
  if (mark.kind === 'text') return String(mark.index);
  if (mark.kind === 'layer') return String(mark.number);
  return mark.kind === 'spacing' ? mark.sizes.toFixed(4) : '0';
}

/** The mark of a tag; undefined: the tag is one of the file's own. */
export function readMark(tag: unknown): TextMark | undefined {
  if (typeof tag !== 'string' || !tag.startsWith(prefix)) return undefined;
  const [, kind, value] = /^(\w+)\.([\d.]+)$/.exec(tag.slice(prefix.length)) ?? [];
  if (kind === kinds.text) return { kind: 'text', index: Number(value) };
  if (kind === kinds.layer) return { kind: 'layer', number: Number(value) };
  if (kind === kinds.spacing) return { kind: 'spacing', sizes: Number(value) };
  return kind === kinds.part ? { kind: 'part' } : undefined;
}
