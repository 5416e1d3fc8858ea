import type { PdfObjects } from './pdf-objects.ts';

/**
 * The files that a PDF carries: in its list, in a portfolio, or pinned to a page (ISO 32000-1, 7.11.4). A stream that says that it is a file counts once, however
 * many names it has, and so does a file that only its name tells.
 */
export function countAttachments(objects: PdfObjects): number {
  const files = new Set<number>();
  for (const [number, versions] of objects.entries())
    for (const { text, start } of versions) {
      if (start !== undefined && /\/Type[\s\0]*\/EmbeddedFile\b(?!s)/.test(text)) files.add(number);
      for (const [, named = ''] of text.matchAll(/\/EF[\s\0]*<<([^<>]*)>>/g)) {
        const file = /\/(?:F|UF|DOS|Mac|Unix)[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(named)?.[1];
        if (file !== undefined) files.add(Number(file));
      }
    }
  return files.size;
}
