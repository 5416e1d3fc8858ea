import { decodeString, type Operand, type Operation } from './content-operations.ts';
import { writeMark } from './text-marks.ts';

/** A part of a stream, and what stands for it. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

const minLetters = 4;
/** In font sizes: letters that are placed one by one are mostly this far from each other when they are apart. Those of usual words are closer. */
const minAdvance = 0.6;
/** In thousandths of the font size: from this space on the library takes letters of an array for words. */
const minSpace = 100;
const minShareOfSpaces = 0.8;
/** Letters with single blanks between each other, and words of them with more. */
const typedApart = /(?:^|\s)\S \S \S(?=\s|$)/;
const wideBlank = /(?<=\S) {2,}(?=\S)/g;

/** Whether the stream may have letters that are placed one by one, or typed with blanks. */
export const mayHaveApartLetters = (content: string): boolean =>
  /(?:(?:\(\\?[^\\()]\)|<[\da-fA-F]{2,4}>)[\s\0]*Tj[^()<>]{0,200}){4}|(?:(?:\(\\?[^\\()]\)|<[\da-fA-F]{2,4}>)[\s\0]*-\d[\d.]*[\s\0]*){3}|\S {2,}\S \S[^)]{0,200}\)|\S \S {2,}\S|20[\s\0]*20/.test(
    content,
  );

/**
 * Text with parts of its own: words of letters that are typed with blanks between them, and letters with space between them. The library tells the place of each part.
 * Undefined: the operator has none.
 */
export function splitParts({ name, operands }: Operation): string | undefined {
  if (name === 'Tj' && operands.length === 1) return splitTyped(operands[0]!);
  if (name !== 'TJ') return undefined;
  const inner = operands.filter(({ text }) => text !== '[' && text !== ']');
  if (inner.length === 1) return splitTyped(inner[0]!);
  return areSpacedLetters(inner) ? splitLetters(inner) : undefined;
}

function splitTyped({ text }: Operand): string | undefined {
  const typed = decodeString(text);
  if (!typedApart.test(typed) || typed.search(wideBlank) === -1) return undefined;
  const parts: string[] = [];
  let at = 0;
  for (const { index } of typed.matchAll(wideBlank)) {
    parts.push(typed.slice(at, index));
    at = index;
  }
  parts.push(typed.slice(at));
  return parts.map((part) => asPart(`${encodeString(part)} Tj`)).join(' ');
}

const isLetter = ({ text }: Operand): boolean => /^(?:\((?:\\?[\s\S]|\\[0-7]{1,3})\)|<[\da-f]{2}(?:[\da-f]{2})?>)$/i.test(text);
const asPart = (shown: string): string => `${writeMark({ kind: 'part' })} ${shown} EMC`;
const encodeString = (bytes: string): string =>
  `<${Array.from({ length: bytes.length }, (_, index) => bytes.charCodeAt(index).toString(16).padStart(2, '0')).join('')}>`;

function areSpacedLetters(inner: Operand[]): boolean {
  const letters = inner.filter(({ text }) => /^[(<]/.test(text));
  if (letters.length < minLetters || !letters.every(isLetter)) return false;
  const spaces = inner.filter(({ text }) => Number(text) <= -minSpace).length;
  return spaces >= (letters.length - 1) * minShareOfSpaces;
}

function splitLetters(inner: Operand[]): string {
  const parts: string[] = [];
  let pending = '';
  for (const { text } of inner) {
    if (/^[(<]/.test(text) && pending !== '') {
      parts.push(asPart(`[${pending}] TJ`));
      pending = '';
    }
    pending += ` ${text}`;
  }
  return [...parts, asPart(`[${pending}] TJ`)].join(' ');
}

interface PlacedLetter extends Edit {
  x: number;
  y: number;
  /** The font size on the page. */
  size: number;
}

/** Finds letters of a line that are placed one by one, apart from each other, so that each is read with its place. */
export class PlacedLetters {
  private readonly content: string;
  private place = { x: 0, y: 0, scale: 1 };
  private isPlaced = false;
  private letters: PlacedLetter[] = [];

  constructor(content: string) {
    this.content = content;
  }

  /** Returns what stands for the letters of the line before, if the operator ends it. `isFree`: nothing else stands for the operator. */
  follow({ name, operands, start, end }: Operation, size: number, isFree: boolean): Edit[] {
    const values = operands.map(({ text }) => Number(text));
    if (name === 'BT') this.place = { x: 0, y: 0, scale: 1 };
    else if (name === 'Tm') this.place = { x: values[4] ?? 0, y: values[5] ?? 0, scale: Math.abs(values[0] ?? 1) || 1 };
    else if (name === 'Td' || name === 'TD') {
      const { x, y, scale } = this.place;
      this.place = { x: x + (values[0] ?? 0) * scale, y: y + (values[1] ?? 0) * scale, scale };
    }
    if (name === 'Tm' || name === 'Td' || name === 'TD') this.isPlaced = true;
    if (name !== 'Tj' && name !== 'TJ') return name === 'cm' ? this.end() : [];
    const shown = operands.filter(({ text }) => text !== '[' && text !== ']');
    const isPlaced = this.isPlaced && isFree && shown.length === 1 && isLetter(shown[0]!);
    this.isPlaced = false;
    if (!isPlaced) return this.end();
    const letter = {
      start,
      end,
      text: asPart(this.content.slice(start, end)),
      x: this.place.x,
      y: this.place.y,
      size: size * this.place.scale,
    };
    const last = this.letters.at(-1);
    const ended = last && (last.y !== letter.y || letter.x <= last.x) ? this.end() : [];
    this.letters.push(letter);
    return ended;
  }

  end(): Edit[] {
    const { letters } = this;
    this.letters = [];
    if (letters.length < minLetters) return [];
    const advances = letters.slice(1).map(({ x, size }, index) => (x - letters[index]!.x) / (size || 1));
    const median = advances.toSorted((one, other) => one - other)[Math.floor(advances.length / 2)] ?? 0;
    return median >= minAdvance ? letters.map(({ start, end, text }) => ({ start, end, text })) : [];
  }
}
