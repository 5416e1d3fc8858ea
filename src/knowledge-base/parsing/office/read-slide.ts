import { readXml } from './read-xml.ts';

/** A paragraph of a slide. `kind`: its placeholder, such as `title` or `body`, or empty. */
interface SlideParagraph {
  text: string;
  kind: string;
  isListed: boolean;
}

export type SlidePart = { paragraph: SlideParagraph } | { row: string[] } | { tableEnd: true };

/** Placeholders that repeat on every slide. */
const repeatedPlaceholders = new Set(['sldNum', 'ftr', 'dt', 'hdr', 'sldImg']);

/** The contents of a slide in its own order, the order of a screen reader. `isHidden`: the slide is not shown. */
export async function readSlide(pieces: AsyncIterable<string>): Promise<{ parts: SlidePart[]; isHidden: boolean }> {
  const parts: SlidePart[] = [];
  let isHidden = false;
  let kind = '';
  let text = '';
  let isInText = false;
  let bullet: boolean | undefined;
  let row: string[] | undefined;
  let cell: string[] | undefined;
  /** Inside a fallback for older programs, which repeats the content before it. */
  let fallbacks = 0;

  await readXml(pieces, {
    open(name, attributes) {
      if (name === 'Fallback') fallbacks += 1;
      if (fallbacks > 0) return;
      if (name === 'sld') isHidden = attributes['show'] === '0';
      else if (name === 'sp') kind = '';
      else if (name === 'ph') kind = attributes['type'] ?? 'body';
      else if (name === 'p') [text, bullet] = ['', undefined];
      else if (name === 'buNone') bullet = false;
      else if (name === 'buChar' || name === 'buAutoNum' || name === 'buBlip') bullet = true;
      else if (name === 't') isInText = true;
      else if (name === 'br') text += '\n';
      else if (name === 'tr') row = [];
      else if (name === 'tc') cell = [];
    },
    text(piece) {
      if (isInText && fallbacks === 0) text += piece;
    },
    close(name) {
      if (name === 'Fallback') fallbacks -= 1;
      if (fallbacks > 0) return;
      if (name === 't') isInText = false;
      else if (name === 'p' && cell) cell.push(text);
      else if (name === 'p' && !repeatedPlaceholders.has(kind))
        parts.push({ paragraph: { text, kind, isListed: bullet ?? kind === 'body' } });
      else if (name === 'tc' && row && cell) {
        row.push(cell.join(' '));
        cell = undefined;
      } else if (name === 'tr' && row) {
        parts.push({ row });
        row = undefined;
      } else if (name === 'tbl') parts.push({ tableEnd: true });
    },
  });
  return { parts, isHidden };
}
