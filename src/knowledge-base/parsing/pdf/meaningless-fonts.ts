import { parseReferences } from './drawing-names.ts';
import { streamOf, type AddedObject } from './file-update.ts';
import { findVariants, withoutVariants } from './glyph-variants.ts';
import { findNumberedGlyphs } from './numbered-glyphs.ts';
import type { PdfObject, PdfObjects } from './pdf-objects.ts';
import { findSymbolFonts } from './symbol-fonts.ts';

/** More such fonts than this are left as they are: the library loads a table for each. */
const maxFonts = 100;
/** Each letter of such a font is read as one of these private characters, which are shown as damaged. */
const firstMark = 0xe000;

/**
 * What the fonts of the file do not say: marks for the letters of fonts whose letters mean nothing, and the symbols of fonts of symbols. Some fonts number their glyphs
 * and say nowhere which characters these are. The library takes the numbers for characters, and other words come out. By the table for these fonts their letters are
 * read as marks. `next`: the first number that is free.
 */
export async function findMeanings(objects: PdfObjects, next: number): Promise<AddedObject[]> {
  const found = [...objects.entries()].flatMap(([number, versions]) => findMeaningless(number, versions.at(-1), objects));
  const fonts = found.length > maxFonts ? [] : found;
  const symbols = await findSymbolFonts(objects);
  const numbered = await findNumberedGlyphs(objects, firstMark);
  const tables = [...symbols, ...numbered.filter(({ number }) => symbols.every((font) => font.number !== number))];
  const variants = findVariants(objects).filter(([number]) => tables.every((font) => font.number !== number));
  return [
    ...fonts.map((font) => toMarkedFont(font, next)),
    ...(fonts.length === 0 ? [] : [[next, streamOf(tableOfMarks())] satisfies AddedObject]),
    ...variants,
    ...tables.map(({ number, text }, index): AddedObject => [number, withoutVariants(text).replace('%TABLE%', String(next + 1 + index))]),
    ...tables.map(({ table }, index): AddedObject => [next + 1 + index, streamOf(table)]),
  ];
}

interface MeaninglessFont {
  number: number;
  encoding: string;
  descendant: number;
}

function findMeaningless(number: number, object: PdfObject | undefined, objects: PdfObjects): MeaninglessFont[] {
  const text = object?.text ?? '';
  if (!/\/Type0\b/.test(text) || /\/ToUnicode\b/.test(text)) return [];
  const encoding = /\/Encoding[\s\0]*\/(Identity-[HV])\b/.exec(text)?.[1];
  const [listed] = parseReferences(/\/DescendantFonts[\s\0]*(\[[^\]]*\]|\d+[\s\0]+\d+[\s\0]+R)/.exec(text)?.[1] ?? '');
  if (encoding === undefined || listed === undefined) return [];
  const list = objects.get(listed).at(-1)?.text ?? '';
  const [descendant = listed] = /^[\s\0]*\[/.test(list) ? parseReferences(list) : [listed];
  const own = objects.get(descendant).at(-1)?.text ?? '';
  const [system] = parseReferences(/\/CIDSystemInfo[\s\0]*(\d+[\s\0]+\d+[\s\0]+R)/.exec(own)?.[1] ?? '');
  const ordering = /\/Ordering[\s\0]*\(([^)]*)\)/.exec(own + (system === undefined ? '' : (objects.get(system).at(-1)?.text ?? '')))?.[1];
  // Where the codes are mapped to glyphs, they may be characters.
  const isNumbered = /\/CIDFontType0\b/.test(own) || !/\/CIDToGIDMap[\s\0]+\d/.test(own);
  return ordering === 'Identity' && isNumbered ? [{ number, encoding, descendant }] : [];
}

const toMarkedFont = ({ number, encoding, descendant }: MeaninglessFont, table: number): [number: number, text: string] => [
  number,
  `<< /Type /Font /Subtype /Type0 /BaseFont /Marked /Encoding /${encoding} /DescendantFonts [${descendant} 0 R] /ToUnicode ${table} 0 R >>`,
];

const hex = (value: number): string => value.toString(16).padStart(4, '0');

function tableOfMarks(): string {
  const ranges = Array.from({ length: 256 }, (_, high) => `<${hex(high << 8)}> <${hex((high << 8) | 0xff)}> <${hex(firstMark)}>`);
  const blocks = [ranges.slice(0, 100), ranges.slice(100, 200), ranges.slice(200)];
  return `begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange ${blocks
    .map((block) => `${block.length} beginbfrange ${block.join(' ')} endbfrange`)
    .join(' ')} endcmap`;
}
