import type { PdfObjects } from './pdf-objects.ts';

const maxDepth = 100;

/** Whether bookmarks may be nested deeper than the PDF library can return: it would hang without an error. */
export function mayHaveDeepBookmarks(objects: PdfObjects): boolean {
  const depths = new Map<number, number>();
  const waiting: number[] = [];
  const visit = (text: string, key: string, depth: number) => {
    for (const [, reference] of text.matchAll(new RegExp(String.raw`/${key}[\s\0]*(\d+)[\s\0]+\d+[\s\0]+R`, 'g'))) {
      if (depths.has(Number(reference))) continue;
      depths.set(Number(reference), depth);
      waiting.push(Number(reference));
    }
  };
  for (const [, versions] of objects.entries()) {
    for (const { text } of versions) {
      visit(text, 'Outlines', 0);
      if (/\/Outlines[\s\0]*<</.test(text)) visit(text, 'First', 1);
    }
  }
  for (const number of waiting) {
    const depth = depths.get(number) ?? 0;
    if (depth > maxDepth) return true;
    for (const { text } of objects.get(number)) {
      visit(text, 'First', depth + 1);
      visit(text, 'Next', depth);
    }
  }
  return false;
}
