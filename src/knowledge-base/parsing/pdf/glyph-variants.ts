import type { AddedObject } from './file-update.ts';
import type { PdfObjects } from './pdf-objects.ts';

/**
 * The objects with encodings that name variants of glyphs ("one.oldstyle", "a.sc"), without what tells the variant. The library knows only the names of characters, and
 * would read the codes as letters.
 */
export function findVariants(objects: PdfObjects): AddedObject[] {
  return [...objects.entries()].flatMap(([number, versions]): AddedObject[] => {
    const { text = '', start } = versions.at(-1) ?? {};
    if (start !== undefined || !/\/Differences\b/.test(text)) return [];
    const plain = withoutVariants(text);
    return plain === text ? [] : [[number, plain.replace(/[\s\0]*(?:endobj)?[\s\0]*$/, '')]];
  });
}

export const withoutVariants = (text: string): string =>
  text.replace(/\/Differences[\s\0]*\[[^\]]*\]/g, (list) => list.replace(/\/([A-Za-z]\w*)\.[^\s\0/\]]+/g, '/$1'));
