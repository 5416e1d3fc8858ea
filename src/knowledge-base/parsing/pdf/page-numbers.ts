const pageWord = String.raw`page|seite|página|pagina|página|pág\.?|pag\.?|p\.|s\.|sida|side|strona|str\.|стр\.?|страница|第|쪽`;
const pageNumber = new RegExp(
  String.raw`^(?:(?:${pageWord})\s*)?[-–—|·•]?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*(?:页|頁|ページ|쪽)?\s*[-–—|·•]?(?:\s*(?:\/|of|von|de|sur|di|из|av|z)\s*\d{1,4})?$`,
  'iu',
);

/** Whether a text has the form of a page number: "7", "- 7 -", "Page 7 of 9", "vii". */
export const isPageNumber = (text: string): boolean => pageNumber.test(text.trim());

/** Whether two texts are the same but for numbers that are `pages` apart, as the numbers of their pages are. */
export function isSameButNumbered(text: string, other: string, pages: number): boolean {
  const [parts, others] = [splitNumbers(text), splitNumbers(other)];
  if (parts.length !== others.length) return false;
  return parts.every((part, index) => {
    const [own, its] = [toNumber(part), toNumber(others[index]!)];
    return part === others[index] || (own !== undefined && its !== undefined && its - own === pages);
  });
}

const splitNumbers = (text: string): string[] => text.trim().split(/(\d+|(?<![\p{L}\p{N}])[ivxlc]+(?![\p{L}\p{N}]))/iu);

function toNumber(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  return /^[ivxlc]+$/i.test(text) ? parseRoman(text.toLowerCase()) : undefined;
}

const letters: Record<string, number> = { i: 1, v: 5, x: 10, l: 50, c: 100 };

function parseRoman(text: string): number {
  const values = [...text].map((letter) => letters[letter] ?? 0);
  return values.reduce((sum, value, index) => sum + (value < (values[index + 1] ?? 0) ? -value : value), 0);
}
