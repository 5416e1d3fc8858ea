import { decodeTextString } from './content-operations.ts';
import { parseReferences } from './drawing-names.ts';
import { loadGlyphNames } from './glyph-names/glyph-names.ts';
import type { PdfObject, PdfObjects } from './pdf-objects.ts';

/** More such fonts than this are left as they are. */
const maxFonts = 100;
/** From so many codes that mean a blank, they are letters whose meaning the file hides. Fonts have a few blanks of different widths. */
const minBlanks = 5;
const maxCodes = 256;
const maxCompositeCodes = 4096;
/** The usual number of the blank; those below it are the missing glyph and controls. */
const blankGlyph = 3;
const emptyTable = 'begincmap 1 begincodespacerange <00> <ff> endcodespacerange endcmap';

/** `meaning`: UTF-16 in hexadecimal. */
type Meaning = [code: number, meaning: string];

interface MarkedFont {
  number: number;
  /** `%TABLE%` for the number of the table. */
  text: string;
  table: string;
}

/**
 * The fonts that say nothing of what some of their glyphs are: names that only number them ("g12", "cid00034") or that no list has, or a table that makes blanks of letters.
 * The library would read the codes or numbers as letters, or nothing. `mark`: the character that is read instead.
 */
export async function findNumberedGlyphs(objects: PdfObjects, mark: number): Promise<MarkedFont[]> {
  const fonts: MarkedFont[] = [];
  for (const [number, versions] of objects.entries()) {
    const font = versions.at(-1);
    if (
      !font ||
      !/\/Subtype[\s\0]*\/(?:Type0|Type1|MMType1|TrueType|Type3)\b/.test(font.text) ||
      !/\/Type[\s\0]*\/Font\b(?!Desc)/.test(font.text)
    )
      continue;
    const table = await writeTable(font, objects, mark.toString(16));
    if (table !== undefined) fonts.push({ number, text: withTable(font.text), table });
    if (fonts.length > maxFonts) return [];
  }
  return fonts;
}

async function writeTable(font: PdfObject, objects: PdfObjects, mark: string): Promise<string | undefined> {
  const isComposite = /\/Type0\b/.test(font.text);
  const marked = (code: number): Meaning => [code, mark];
  const known = /\/ToUnicode[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(font.text)?.[1];
  const stream = known === undefined ? undefined : objects.get(Number(known)).at(-1);
  if (known !== undefined && !stream) return undefined;
  const table = stream ? await objects.unpack(stream) : emptyTable;
  const meanings = readMeanings(table, isComposite ? maxCompositeCodes : maxCodes);
  if (!meanings) return undefined;
  const named = new Set(meanings.map(([code]) => code));
  const widths = isComposite && stream ? findWidths(font, objects) : undefined;
  // Without widths, nothing tells which glyphs are drawn.
  if (widths === '') return addMeanings(`${rangesOfMarks(mark)} ${table}`, [...findFalseBlanks(meanings, true)].map(marked), 4);
  const drawn = isComposite ? readWidthCodes(widths ?? '').map(marked) : await findUnnamed(font, objects, mark);
  const added = [...drawn.filter(([code]) => !named.has(code)), ...[...findFalseBlanks(meanings, isComposite)].map(marked)];
  return added.length === 0 || added.length > maxCompositeCodes ? undefined : addMeanings(table, added, isComposite ? 4 : 2);
}

/** The list of widths of a font that numbers its glyphs; '' when it has none, undefined when the codes of the font are no numbers of glyphs. */
function findWidths(font: PdfObject, objects: PdfObjects): string | undefined {
  if (!/\/Encoding[\s\0]*\/Identity-[HV]\b/.test(font.text)) return undefined;
  const [listed] = parseReferences(/\/DescendantFonts[\s\0]*(\[[^\]]*\]|\d+[\s\0]+\d+[\s\0]+R)/.exec(font.text)?.[1] ?? '');
  const list = listed === undefined ? '' : (objects.get(listed).at(-1)?.text ?? '');
  const [descendant] = /^[\s\0]*\[/.test(list) ? parseReferences(list) : [listed];
  const own = descendant === undefined ? '' : (objects.get(descendant).at(-1)?.text ?? '');
  const reference = /\/W[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(own)?.[1];
  const widths =
    reference === undefined ? (/\/W[\s\0]*(\[[\s\S]*)/.exec(own)?.[1] ?? '') : (objects.get(Number(reference)).at(-1)?.text ?? '');
  return widths.slice(widths.indexOf('[') + 1);
}

/** The codes of lists of `first [widths]`: the glyphs that are drawn. Those that the font's table does not have are only numbers. A range of `first last width` says only what is usual. */
function readWidthCodes(widths: string): number[] {
  const codes: number[] = [];
  for (const [token, first, list = ''] of widths.matchAll(/(\d+)[\s\0]*\[([^[\]]*)\]|[\]/<>]/g)) {
    if (first === undefined || token === ']' || codes.length > maxCompositeCodes) break;
    const count = list.match(/[-\d.]+/g)?.length ?? 0;
    for (let index = 0; index < Math.min(count, maxCompositeCodes); index += 1) codes.push(Number(first) + index);
  }
  // Blanks are often left out of tables.
  return codes.filter((code) => code > blankGlyph && code !== 0x20);
}

/** The codes of letters that a table makes blanks of. */
function findFalseBlanks(meanings: [code: number, meaning: string][], isComposite: boolean): Set<number> {
  const isBlankCode = (code: number) => !isComposite && (code === 0x20 || code === 0xa0);
  const blanks = meanings.filter(([code, meaning]) => meaning.trim() === '' && !isBlankCode(code));
  return new Set(
    blanks.length >= minBlanks || (blanks.length > 1 && blanks.length === meanings.length) ? blanks.map(([code]) => code) : [],
  );
}

/** Names with digits that are those of characters. */
const characterName =
  /^(?:uni[\dA-F]{4,}|u[\dA-F]{4,6}|afii\d{5}|SF\d{6}|H\d{5}|(?:Upsilon|mu|omega|phi|sigma|theta|controlDC|planckover2pi)\d?|(?:hataf[a-z]+|hiriq|holam|patah|qamats|qubuts|segol|sheva|tsere|vavdagesh)[\da-f]+)$/;

/** Whether the number in a name is the code, which then is what the name means. */
const isNamedByCode = (name: string, code: number): boolean =>
  Number(/\d+$/.exec(name)?.[0]) === code ||
  [-2, -3, -4].some((start) => /^[\da-f]+$/i.test(name.slice(start)) && parseInt(name.slice(start), 16) === code);

/** Glyphs without a shape that is read. */
const isWithoutShape = (name: string): boolean => /^(?:\.notdef|\.null|null|NULL|nonmarkingreturn|nbspace|CR|g?0)$/.test(name);

/** `f_f_i`: letters that are drawn as one glyph. Undefined: the name is another. */
const readLigature = (name: string): string | undefined => (/^[A-Za-z](?:_[A-Za-z])+$/.test(name) ? name.replaceAll('_', '') : undefined);

/** The codes of glyphs whose names are numbers that are not their codes, or names that no list has, each with what is read instead. */
async function findUnnamed(font: PdfObject, objects: PdfObjects, mark: string): Promise<Meaning[]> {
  const reference = /\/Encoding[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(font.text)?.[1];
  const encoding = reference === undefined ? font.text : (objects.get(Number(reference)).at(-1)?.text ?? '');
  const listed = /\/Differences[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(encoding)?.[1];
  const list = listed === undefined ? encoding : `/Differences ${objects.get(Number(listed)).at(-1)?.text ?? ''}`;
  const differences = /\/Differences[\s\0]*\[([^\]]*)\]/.exec(list)?.[1] ?? '';
  if (differences === '') return [];
  const known = await loadGlyphNames();
  const found: Meaning[] = [];
  let code = 0;
  for (const [token, written] of differences.matchAll(/\/([^\s\0/]+)|\d+/g)) {
    if (written === undefined) {
      code = Number(token);
      continue;
    }
    const name = written.replace(/(?<=\w)\..*$/, '');
    const ligature = readLigature(name);
    if (code < maxCodes && !known.has(name) && !isWithoutShape(name)) {
      if (ligature !== undefined) found.push([code, toUtf16(ligature)]);
      else if (!characterName.test(name) && !isNamedByCode(name, code)) found.push([code, mark]);
    }
    code += 1;
  }
  return found;
}

/** The meanings of the codes; undefined: more than `max`. */
function readMeanings(table: string, max: number): [code: number, meaning: string][] | undefined {
  const meanings: [code: number, meaning: string][] = [];
  for (const [, section = ''] of table.matchAll(/beginbfchar([\s\S]*?)(?:endbfchar|$)/g))
    for (const [, code = '', meaning = ''] of section.matchAll(/<([\da-f]+)>\s*<([\da-f]*)>/gi))
      meanings.push([parseInt(code, 16), toText(meaning)]);
  for (const [, section = ''] of table.matchAll(/beginbfrange([\s\S]*?)(?:endbfrange|$)/g))
    for (const [, from = '', to = '', meaning, list = ''] of section.matchAll(
      /<([\da-f]+)>\s*<([\da-f]+)>\s*(?:<([\da-f]*)>|\[([^\]]*)\])/gi,
    )) {
      const first = parseInt(from, 16);
      const count = parseInt(to, 16) - first + 1;
      if (count > max || meanings.length > max) return undefined;
      const listed = list.match(/<[\da-f]*>/gi) ?? [];
      for (let index = 0; index < count; index += 1) {
        const text = toText(meaning ?? listed[index]?.slice(1, -1) ?? '');
        meanings.push([
          first + index,
          meaning === undefined ? text : text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + index),
        ]);
      }
    }
  return meanings.length > max ? undefined : meanings;
}

/** A mark for each code that is no blank by custom: what the font's own table says of a code counts more. */
function rangesOfMarks(mark: string): string {
  const ranges = [
    [blankGlyph + 1, 0x1f],
    [0x21, 0xff],
    ...Array.from({ length: 0xff }, (_, high) => [(high + 1) << 8, ((high + 1) << 8) | 0xff]),
  ].map(([from = 0, to = 0]) => `<${toHex(from, 4)}> <${toHex(to, 4)}> <${mark}>`);
  const blocks = [ranges.slice(0, 100), ranges.slice(100, 200), ranges.slice(200)];
  return blocks.map((block) => `${block.length} beginbfrange ${block.join(' ')} endbfrange`).join(' ');
}

const toUtf16 = (text: string): string => Array.from({ length: text.length }, (_, index) => toHex(text.charCodeAt(index), 4)).join('');
const toHex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');
const toText = (digits: string): string => decodeTextString(`<feff${digits}>`);

/** The table with the meanings of more codes, which count more than what it says before. */
function addMeanings(table: string, meanings: Meaning[], digits: number): string {
  const lines = meanings.map(([code, meaning]) => `<${toHex(code, digits)}> <${meaning}>`);
  const blocks = Array.from({ length: Math.ceil(lines.length / 100) }, (_, index) => lines.slice(index * 100, index * 100 + 100));
  const added = blocks.map((block) => `${block.length} beginbfchar ${block.join(' ')} endbfchar`).join(' ');
  const end = table.lastIndexOf('endcmap');
  return end === -1 ? `${table} ${added}` : `${table.slice(0, end)} ${added} ${table.slice(end)}`;
}

const withTable = (text: string): string =>
  text
    .replace(/\/ToUnicode[\s\0]+\d+[\s\0]+\d+[\s\0]+R/, '')
    .replace(/<</, '<< /ToUnicode %TABLE% 0 R ')
    .replace(/[\s\0]*(?:endobj)?[\s\0]*$/, '');
