import { writeListNumber } from '../list-numbers.ts';

/** `type`: such as `alphaLcParenR` (ECMA-376, part 1, 20.1.10.61). */
export interface SlideNumbering {
  type: string;
  start: number;
}

const formats: [prefix: string, format: string][] = [
  ['alphaLc', 'lowerLetter'],
  ['alphaUc', 'upperLetter'],
  ['romanLc', 'lowerRoman'],
  ['romanUc', 'upperRoman'],
  ['circleNum', 'decimalEnclosedCircle'],
  ['ea1', 'chineseCounting'],
  ['thaiAlpha', 'thaiLetters'],
  ['thaiNum', 'thaiNumbers'],
  ['hindiNum', 'hindiNumbers'],
  ['hebrew2', 'hebrew2'],
  ['arabic1', 'arabicAlpha'],
  ['arabic2', 'arabicAbjad'],
];

/** Counts the numbered paragraphs of one shape. */
export class SlideNumbers {
  private readonly levels: ({ type: string; start: number; count: number } | undefined)[] = [];

  /** The number before the text, with a blank after it. `level`: from 0. */
  next(level: number, numbering: SlideNumbering | undefined): string {
    this.levels.length = Math.min(this.levels.length, level + 1);
    const known = this.levels[level];
    const goesOn = known && known.type === numbering?.type && known.start === numbering.start;
    this.levels[level] = numbering && { ...numbering, count: goesOn ? known.count + 1 : 0 };
    return numbering ? `${write(numbering.start + (this.levels[level]?.count ?? 0), numbering.type)} ` : '';
  }
}

function write(value: number, type: string): string {
  const number = writeListNumber(value, formats.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'decimal');
  if (type.endsWith('ParenBoth')) return `(${number})`;
  if (type.endsWith('ParenR')) return `${number})`;
  if (type.endsWith('Minus')) return `${number}-`;
  return type.endsWith('Period') ? `${number}.` : number;
}
