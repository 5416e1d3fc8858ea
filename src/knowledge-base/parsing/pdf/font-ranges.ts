import { tooLarge } from '../../../library/text/unparsable-document.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { exportAgainAdvice } from './reject-decompression-bombs.ts';

/** The maximum of characters in the ranges of one table; a font has 65,536 glyphs at most. */
const maxCharactersPerTable = 2 << 20;
/** The maximum of all fonts, and of all fonts times the number of loads. */
const maxTotalCharacters = 1e8;
const maxLoadedCharacters = 5e8;
/** About how many characters one of Adobe's maps has. */
const predefinedMapCharacters = 30_000;

/**
 * Counts the characters in the ranges of the fonts' tables of meanings and widths: a few letters of the file can define a range of any
 * length. Throws `UnparsableDocument` where one table has too many.
 */
export async function countFontRanges(objects: PdfObjects): Promise<number> {
  const tables = new Map<number, number>();
  let inAll = 0;
  for (const [, versions] of objects.entries()) {
    for (const { text } of versions) {
      inAll += countPredefinedMaps(text) * predefinedMapCharacters;
      for (const [, reference] of text.matchAll(/\/(?:ToUnicode|Encoding|UseCMap)[\s\0]*(\d+)[\s\0]+\d+[\s\0]+R/g)) {
        const number = Number(reference);
        if (!tables.has(number)) tables.set(number, await countMeanings(objects, number));
        inAll += tables.get(number) ?? 0;
      }
      for (const { index, 0: key } of text.matchAll(/\/W2?[\s\0]*\[/g)) inAll += checkTableSize(countWidths(text, index + key.length));
      for (const [, reference] of text.matchAll(/\/W2?[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/g))
        for (const other of objects.get(Number(reference))) inAll += checkTableSize(countWidths(other.text, other.text.indexOf('[') + 1));
    }
  }
  return inAll;
}

/** How many of Adobe's maps a font needs: one from its codes to characters, and one for what these mean, if the file does not say so. */
function countPredefinedMaps(text: string): number {
  if (!/\/Type0\b/.test(text)) return 0;
  const isEncoded = /\/Encoding[\s\0]*\/(?!Identity)/.test(text);
  return (isEncoded ? 1 : 0) + (/\/ToUnicode\b/.test(text) ? 0 : 1);
}

/** Throws `UnparsableDocument` for too many characters. `loads`: how often the fonts of the file are loaded. */
export function checkFontRanges(ranges: number, loads: number): void {
  if (ranges > maxTotalCharacters || ranges * loads > maxLoadedCharacters)
    throw tooLarge('the tables of its fonts stand for too many characters', exportAgainAdvice);
}

async function countMeanings(objects: PdfObjects, number: number): Promise<number> {
  let count = 0;
  for (const object of objects.get(number)) {
    const text = await objects.unpack(object);
    for (const [, section = ''] of text.matchAll(/begin(?:bf|cid|notdef)range([\s\S]*?)(?:end(?:bf|cid|notdef)range|$)/g)) {
      if (section.includes('(')) throw tooLarge('a table of its fonts is written in letters that are not read', exportAgainAdvice);
      for (const [, from = '', to = '', meaning = ''] of section.matchAll(
        /<([\da-f\s\0]*)>[\s\0]*<([\da-f\s\0]*)>[\s\0]*(?:<([\da-f\s\0]*)>)?/gi,
      ))
        count = checkTableSize(count + Math.max(0, parseCode(to) - parseCode(from) + 1) * Math.max(1, meaning.length / 4));
    }
  }
  return count;
}

const parseCode = (digits: string) => parseInt(digits.replace(/[\s\0]/g, '').slice(-8), 16) || 0;

/** Counts the widths in a list of `first [widths]` and `first last width`. */
function countWidths(text: string, begin: number): number {
  const tokens = /\[[^[\]]*\]|-?\d+(?:\.\d+)?|[\]/<>]/g;
  tokens.lastIndex = begin;
  let first: number | undefined;
  let count = 0;
  for (let token = tokens.exec(text)?.[0]; token !== undefined && !/^[\]/<>]/.test(token); token = tokens.exec(text)?.[0]) {
    if (first === undefined) first = Number(token);
    else {
      if (!token.startsWith('[')) {
        count += Math.max(0, Number(token) - first + 1);
        tokens.exec(text);
      }
      first = undefined;
    }
  }
  return count;
}

function checkTableSize(count: number): number {
  if (count > maxCharactersPerTable)
    throw tooLarge(`a table of its fonts stands for more than ${maxCharactersPerTable} characters`, exportAgainAdvice);
  return count;
}
