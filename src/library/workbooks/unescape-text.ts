/**
 * The text of a cell whose escapes are resolved: `_x000A_` is a line feed, `_x005F_` an underscore (ECMA-376, part 1, 22.9.2.19). Other control
 * characters are dropped.
 */
export const unescapeText = (text: string): string =>
  text.includes('_x') ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => toCharacter(Number.parseInt(code, 16))) : text;

const toCharacter = (code: number): string => (code >= 32 || code === 9 || code === 10 || code === 13 ? String.fromCharCode(code) : '');
