import { limitCombiningMarks } from './text/combining-marks.ts';

// Everything that is no letter, digit, sign or space: control characters, and the mark that the search index uses itself.
const unusable = /[\p{Cc}\uE000]/gu;

/** One line of text as it is stored: well-formed, composed, without control characters, single spaces, none at the ends. */
export const cleanLine = (text: string): string =>
  limitCombiningMarks(text).toWellFormed().normalize('NFC').replace(/\s+/g, ' ').replace(unusable, '').trim();
