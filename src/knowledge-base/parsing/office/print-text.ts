import { isPageNumber } from '../page-words.ts';

/** Fonts, sizes, colours and switches. */
const formatCodes = /&(?:"[^"]*"|\d+|K[0-9A-F]{6}|K\d\d[+-]\d{3}|[BIUESXYOH])/gi;
/** Page numbers, dates, times, and names of the file. */
const fieldCodes = /&[PNDTFZAG](?:[+-]\d+)?/gi;

/** The text of a header or footer (ECMA-376, part 1, 18.3.1.46): its left, middle and right part; without page numbers. */
export function readPrintText(code: string): string {
  const parts = code.replaceAll('&&', '\0').split(/&[LCR]/i);
  const texts = parts.map((part) => {
    const text = part.replace(formatCodes, '').replace(fieldCodes, ' ').trim();
    return part.search(fieldCodes) >= 0 && isPageNumber(`${text} 1`) ? '' : text.replaceAll('\0', '&');
  });
  return texts.filter((text) => text !== '').join(' | ');
}
