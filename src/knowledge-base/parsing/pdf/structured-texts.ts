import type { ContentProperties } from './content-properties.ts';
import { parseReferences } from './drawing-names.ts';
import type { PdfObjects } from './pdf-objects.ts';

const maxDepth = 10;
/** The maximum of pieces of content of all elements with a text. */
const maxPieces = 100_000;

/** By the library's id of marked content: the place of the text that an element of the file's structure has for what is drawn (ISO 32000-1, 14.9.4). */
export function findStructuredTexts(objects: PdfObjects, properties: ContentProperties): Map<string, number> {
  let pieces = 0;
  const elements = [...objects.entries()].flatMap(([number, versions]) => {
    const text = versions.at(-1)?.text ?? '';
    if (pieces > maxPieces || !/\/ActualText\b/.test(text) || !/\/K\b/.test(text)) return [];
    const content = collectContent(number, objects);
    pieces += content.ids.length + content.elements.size;
    return [{ number, text, content }];
  });
  const inOthers = new Set(elements.flatMap(({ content }) => [...content.elements]));
  const texts = new Map<string, number>();
  for (const { number, text, content } of elements) {
    const index = inOthers.has(number) ? undefined : properties.keepText(text);
    if (index !== undefined) for (const id of content.ids) texts.set(id, index);
  }
  return texts;
}

interface StructuredContent {
  ids: string[];
  /** The object numbers of the elements below. */
  elements: Set<number>;
}

function collectContent(element: number, objects: PdfObjects): StructuredContent {
  const content: StructuredContent = { ids: [], elements: new Set() };
  const follow = (number: number, inherited: number | undefined, depth: number) => {
    const text = objects.get(number).at(-1)?.text ?? '';
    const page = referenceOf(text, 'Pg') ?? inherited;
    const kids = /\/K[\s\0]*(\[[^\]]*\]|<<[^<>]*>>|\d+[\s\0]+\d+[\s\0]+R|\d+)/.exec(text)?.[1] ?? '';
    for (const [key] of kids.matchAll(/<<[^<>]*>>|\d+[\s\0]+\d+[\s\0]+R|\d+/g)) {
      if (content.ids.length > maxPieces || content.elements.size > maxPieces) return;
      const [below] = key.startsWith('<<') ? [] : parseReferences(key);
      if (below !== undefined) {
        if (depth >= maxDepth || content.elements.has(below) || below === element) continue;
        content.elements.add(below);
        follow(below, page, depth + 1);
      } else {
        const id = key.startsWith('<<') ? /\/MCID[\s\0]+(\d+)/.exec(key)?.[1] : key;
        const where = referenceOf(key, 'Pg') ?? page;
        if (id !== undefined && where !== undefined) content.ids.push(`p${where}R_mc${id}`);
      }
    }
  };
  follow(element, undefined, 0);
  return content;
}

function referenceOf(text: string, key: string): number | undefined {
  const number = new RegExp(`/${key}[\\s\\0]+(\\d+)[\\s\\0]+\\d+[\\s\\0]+R`).exec(text)?.[1];
  return number === undefined ? undefined : Number(number);
}
