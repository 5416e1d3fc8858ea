import { parseReferences } from './drawing-names.ts';
import type { PdfObject, PdfObjects } from './pdf-objects.ts';
import { findSymbolFonts } from './symbol-fonts.ts';

/** More such fonts than this are left as they are: the library loads a table for each. */
const maxFonts = 100;
/** Each letter of such a font is read as one of these private characters, which are shown as damaged. */
const firstMark = 0xe000;

/**
 * Adds to the file what its fonts do not say: marks for the letters of fonts whose letters mean nothing, and the symbols of fonts of symbols. Undefined: nothing is
 * to add. Some fonts number their glyphs and say nowhere which characters these are. The library takes the numbers for characters, and other words come
 * out. By the table for these fonts their letters are read as marks.
 */
export async function addMeanings(bytes: Uint8Array, file: string, objects: PdfObjects): Promise<Uint8Array | undefined> {
  const previous = /startxref\s+(\d+)(?![\s\S]*startxref)/.exec(file.slice(-2048))?.[1];
  const root = [...file.matchAll(/\/Root[\s\0]+(\d+[\s\0]+\d+[\s\0]+R)/g)].at(-1)?.[1];
  if (previous === undefined || root === undefined || /\/Encrypt\b/.test(file)) return undefined;
  const found = [...objects.entries()].flatMap(([number, versions]) => findMeaningless(number, versions.at(-1), objects));
  const fonts = found.length > maxFonts ? [] : found;
  const symbolFonts = await findSymbolFonts(objects);
  if (fonts.length === 0 && symbolFonts.length === 0) return undefined;
  const table = Math.max(...[...objects.entries()].map(([number]) => number)) + 1;
  const info = [...file.matchAll(/\/Info[\s\0]+\d+[\s\0]+\d+[\s\0]+R/g)].at(-1)?.[0] ?? '';
  return appendObjects(
    bytes,
    [
      ...fonts.map((font) => toMarkedFont(font, table)),
      [table, streamOf(tableOfMarks())],
      ...symbolFonts.map(({ number, text }, index): [number, string] => [number, text.replace('%TABLE%', String(table + 1 + index))]),
      ...symbolFonts.map((font, index): [number, string] => [table + 1 + index, streamOf(font.table)]),
    ],
    `/Size ${table + 1 + symbolFonts.length} /Root ${root} ${info} /Prev ${previous}`,
  );
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

const streamOf = (text: string): string => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;

/** Adds an update to the end of the file, as programs do that save changes. */
function appendObjects(bytes: Uint8Array, added: [number: number, text: string][], trailer: string): Uint8Array {
  let update = '\n';
  const sections = added.map(([number, text]) => {
    const place = bytes.length + update.length;
    update += `${number} 0 obj\n${text}\nendobj\n`;
    return `${number} 1\n${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const start = bytes.length + update.length;
  update += `xref\n${sections.join('')}trailer << ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  const longer = new Uint8Array(bytes.length + update.length);
  longer.set(bytes);
  longer.set(new TextEncoder().encode(update), bytes.length);
  return longer;
}
