import { writeListNumber } from '../list-numbers.ts';

type MarkStyle = 'decimal' | 'decimalZero' | 'lowerLetter' | 'upperLetter' | 'lowerRoman' | 'upperRoman' | 'none';

const styles: Record<string, MarkStyle> = {
  '1': 'decimal',
  a: 'lowerLetter',
  A: 'upperLetter',
  i: 'lowerRoman',
  I: 'upperRoman',
  decimal: 'decimal',
  'decimal-leading-zero': 'decimalZero',
  'lower-alpha': 'lowerLetter',
  'lower-latin': 'lowerLetter',
  'upper-alpha': 'upperLetter',
  'upper-latin': 'upperLetter',
  'lower-roman': 'lowerRoman',
  'upper-roman': 'upperRoman',
  none: 'none',
  disc: 'none',
  circle: 'none',
  square: 'none',
};

/** How the items of an `ol` are numbered: by its style, else by its type. */
export function readMarkStyle({ type = '', style = '' }: Record<string, string>): MarkStyle {
  const named = /list-style(?:-type)?\s*:([^;]*)/i.exec(style)?.[1]?.toLowerCase().split(/\s+/) ?? [];
  return named.map((word) => styles[word]).find((found) => found !== undefined) ?? styles[type] ?? 'decimal';
}

/** The number before an item, with its point and a blank (CSS Counter Styles 3, 6). */
export function writeMark(number: number, style: MarkStyle): string {
  if (style === 'none') return '';
  const isLetter = style === 'lowerLetter' || style === 'upperLetter';
  if (number < 1) return `${number}. `;
  if (!isLetter) return `${writeListNumber(number, style)}. `;
  const letters = toLetters(number);
  return `${style === 'lowerLetter' ? letters : letters.toUpperCase()}. `;
}

/** a ... z, aa, ab. */
function toLetters(number: number): string {
  let letters = '';
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / 26)) letters = String.fromCharCode(97 + ((rest - 1) % 26)) + letters;
  return letters;
}
