import { decodeTextString } from './content-operations.ts';
import type { PdfObject, PdfObjects } from './pdf-objects.ts';

/** More such fonts than this are left as they are. */
const maxFonts = 100;
/** From so many codes that mean a blank, they are letters whose meaning the file hides. Fonts have a few blanks of different widths. */
const minBlanks = 5;
const maxCodes = 256;

interface MarkedFont {
  number: number;
  /** `%TABLE%` for the number of the table. */
  text: string;
  table: string;
}

/**
 * The fonts with a glyph to each byte that say nothing of what some glyphs are: names that only number them ("g12", "cid00034"), or a table that makes blanks of letters.
 * The library would read the codes or numbers as letters, or nothing. `mark`: the character that is read instead.
 */
export async function findNumberedGlyphs(objects: PdfObjects, mark: number): Promise<MarkedFont[]> {
  const fonts: MarkedFont[] = [];
  for (const [number, versions] of objects.entries()) {
    const font = versions.at(-1);
    if (!font || !/\/Subtype[\s\0]*\/(?:Type1|MMType1|TrueType|Type3)\b/.test(font.text) || !/\/Type[\s\0]*\/Font\b(?!Desc)/.test(font.text)) continue;
    const table = await writeTable(font, objects, mark);
    if (table !== undefined) fonts.push({ number, text: withTable(font.text), table });
    if (fonts.length > maxFonts) return [];
  }
  return fonts;
}

async function writeTable(font: PdfObject, objects: PdfObjects, mark: number): Promise<string | undefined> {
  const known = /\/ToUnicode[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(font.text)?.[1];
  const hex = mark.toString(16);
  if (known === undefined) {
    const codes = findNumbered(font, objects);
    return codes.length === 0 ? undefined : toTable(codes.map((code) => `<${toByte(code)}> <${hex}>`));
  }
  const table = objects.get(Number(known)).at(-1);
  const meanings = table && readMeanings(await objects.unpack(table));
  if (!meanings) return undefined;
  const blanks = meanings.filter(([code, meaning]) => meaning.trim() === '' && code !== 0x20 && code !== 0xa0);
  const areLetters = blanks.length >= minBlanks || (blanks.length > 1 && blanks.length === meanings.length);
  if (!areLetters) return undefined;
  return toTable(meanings.map(([code, meaning]) => `<${toByte(code)}> <${blanks.some(([blank]) => blank === code) ? hex : toUtf16(meaning)}>`));
}

/** Names that number their glyphs, by digits or in hexadecimal, and names with digits that are those of characters. */
const numbered = /^(?:[A-Za-z]{0,10}[._]?\d+|[A-Za-z]{1,3}(?=[A-Fa-f]*\d)(?:[\dA-F]{2,4}|[\da-f]{2,4}))$/;
const characterName =
  /^(?:uni[\dA-F]{4,}|u[\dA-F]{4,6}|afii\d{5}|SF\d{6}|H\d{5}|(?:Upsilon|mu|omega|phi|sigma|theta|controlDC|planckover2pi)\d?|(?:hataf[a-z]+|hiriq|holam|patah|qamats|qubuts|segol|sheva|tsere|vavdagesh)[\da-f]+)$/;

/** Whether the number in a name is the code, which then is what the name means. */
const isNamedByCode = (name: string, code: number): boolean =>
  Number(/\d+$/.exec(name)?.[0]) === code || [-2, -3, -4].some((start) => /^[\da-f]+$/i.test(name.slice(start)) && parseInt(name.slice(start), 16) === code);

/** The codes of glyphs whose names are numbers that are not their codes. */
function findNumbered(font: PdfObject, objects: PdfObjects): number[] {
  const reference = /\/Encoding[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(font.text)?.[1];
  const encoding = reference === undefined ? font.text : (objects.get(Number(reference)).at(-1)?.text ?? '');
  const differences = /\/Differences[\s\0]*\[([^\]]*)\]/.exec(encoding)?.[1] ?? '';
  const codes: number[] = [];
  let code = 0;
  for (const [token, name] of differences.matchAll(/\/([^\s\0/]+)|\d+/g)) {
    if (name === undefined) {
      code = Number(token);
      continue;
    }
    const isNumbered = numbered.test(name) && !characterName.test(name);
    if (isNumbered && code < maxCodes && !isNamedByCode(name, code)) codes.push(code);
    code += 1;
  }
  return codes;
}

/** The meanings of the codes; undefined: too many for a font of bytes. */
function readMeanings(table: string): [code: number, meaning: string][] | undefined {
  const meanings: [code: number, meaning: string][] = [];
  for (const [, section = ''] of table.matchAll(/beginbfchar([\s\S]*?)endbfchar/g))
    for (const [, code = '', meaning = ''] of section.matchAll(/<([\da-f]+)>\s*<([\da-f]*)>/gi)) meanings.push([parseInt(code, 16), toText(meaning)]);
  for (const [, section = ''] of table.matchAll(/beginbfrange([\s\S]*?)endbfrange/g))
    for (const [, from = '', to = '', meaning, list = ''] of section.matchAll(/<([\da-f]+)>\s*<([\da-f]+)>\s*(?:<([\da-f]*)>|\[([^\]]*)\])/gi)) {
      const first = parseInt(from, 16);
      const count = parseInt(to, 16) - first + 1;
      if (count > maxCodes) return undefined;
      const listed = list.match(/<[\da-f]*>/gi) ?? [];
      for (let index = 0; index < count; index += 1) {
        const text = toText(meaning ?? listed[index]?.slice(1, -1) ?? '');
        meanings.push([first + index, meaning === undefined ? text : text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + index)]);
      }
    }
  return meanings.length > maxCodes ? undefined : meanings;
}

const toByte = (code: number): string => code.toString(16).padStart(2, '0');
const toText = (digits: string): string => decodeTextString(`<feff${digits}>`);
const toUtf16 = (text: string): string => Array.from({ length: text.length }, (_, index) => text.charCodeAt(index).toString(16).padStart(4, '0')).join('');

function toTable(lines: string[]): string {
  const blocks = Array.from({ length: Math.ceil(lines.length / 100) }, (_, index) => lines.slice(index * 100, index * 100 + 100));
  return `begincmap 1 begincodespacerange <00> <ff> endcodespacerange ${blocks.map((block) => `${block.length} beginbfchar ${block.join(' ')} endbfchar`).join(' ')} endcmap`;
}

const withTable = (text: string): string =>
  text
    .replace(/\/ToUnicode[\s\0]+\d+[\s\0]+\d+[\s\0]+R/, '')
    .replace(/<</, '<< /ToUnicode %TABLE% 0 R ')
    .replace(/[\s\0]*(?:endobj)?[\s\0]*$/, '');
