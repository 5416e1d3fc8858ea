import { tooLarge } from '../unparsable-document.ts';
import type { FileObjects } from './file-objects.ts';
import { exportAnew } from './refuse-bombs.ts';

/** Characters that the ranges of one table of a font stand for; a font has 65,536 signs at most. */
const mostOfTable = 2 << 20;
/** Of all fonts, and of them as often as they are loaded. */
const mostInAll = 1e8;
const mostLoaded = 5e8;

/**
 * How many characters the ranges stand for with which fonts say what their signs mean and how wide they are: a range of any length is a few
 * letters in the file. Throws `UnparsableDocument` where one table has too many.
 */
export async function rangesOfFonts(objects: FileObjects): Promise<number> {
  const tables = new Map<number, number>();
  let inAll = 0;
  for (const [, versions] of objects.numbered()) {
    for (const { text } of versions) {
      for (const [, reference] of text.matchAll(/\/(?:ToUnicode|Encoding|UseCMap)[\s\0]*(\d+)[\s\0]+\d+[\s\0]+R/g)) {
        const number = Number(reference);
        if (!tables.has(number)) tables.set(number, await meanings(objects, number));
        inAll += tables.get(number) ?? 0;
      }
      for (const { index, 0: key } of text.matchAll(/\/W2?[\s\0]*\[/g)) inAll += refused(widths(text, index + key.length));
      for (const [, reference] of text.matchAll(/\/W2?[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/g))
        for (const other of objects.get(Number(reference))) inAll += refused(widths(other.text, other.text.indexOf('[') + 1));
    }
  }
  return inAll;
}

/** `loads`: how often the fonts of the file are loaded. */
export function refuseRanges(ranges: number, loads: number): void {
  if (ranges > mostInAll || ranges * loads > mostLoaded)
    throw tooLarge('the tables of its fonts stand for too many characters', exportAnew);
}

async function meanings(objects: FileObjects, number: number): Promise<number> {
  let count = 0;
  for (const object of objects.get(number)) {
    const text = await objects.unpacked(object);
    for (const [, section = ''] of text.matchAll(/begin(?:bf|cid|notdef)range([\s\S]*?)(?:end(?:bf|cid|notdef)range|$)/g)) {
      if (section.includes('(')) throw tooLarge('a table of its fonts is written in letters that are not read', exportAnew);
      for (const [, from = '', to = '', meaning = ''] of section.matchAll(
        /<([\da-f\s\0]*)>[\s\0]*<([\da-f\s\0]*)>[\s\0]*(?:<([\da-f\s\0]*)>)?/gi,
      ))
        count = refused(count + Math.max(0, codeOf(to) - codeOf(from) + 1) * Math.max(1, meaning.length / 4));
    }
  }
  return count;
}

const codeOf = (digits: string) => parseInt(digits.replace(/[\s\0]/g, '').slice(-8), 16) || 0;

/** Of a list of `first [widths]` and `first last width`. */
function widths(text: string, begin: number): number {
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

function refused(count: number): number {
  if (count > mostOfTable) throw tooLarge(`a table of its fonts stands for more than ${mostOfTable} characters`, exportAnew);
  return count;
}
