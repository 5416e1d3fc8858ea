import { findSymbol } from '../../../library/office-files/symbol-fonts.ts';
import { dingbatCodes, findDingbat } from './dingbats.ts';
import type { PdfObject, PdfObjects } from './pdf-objects.ts';

/** More such fonts than this are left as they are. */
const maxSymbolFonts = 100;
const damagedCharacter = '\ufffd';

/** A font whose codes draw symbols: its object with a table of their meanings, `%TABLE%` for the number of that. */
export interface SymbolFont {
  number: number;
  text: string;
  table: string;
}

/** A font of symbols as the library of symbols names it. */
type Typeface = 'Dingbats' | 'Wingdings' | 'Wingdings 2' | 'Wingdings 3' | 'Webdings' | 'Symbol';

/**
 * The fonts of symbols whose file does not say what these are: the library would take their codes for letters, such as a check mark for a 4. A table that
 * gives a symbol the place of Office, or the letter of its code, says nothing either.
 */
export async function findSymbolFonts(objects: PdfObjects): Promise<SymbolFont[]> {
  const fonts: SymbolFont[] = [];
  for (const [number, versions] of objects.entries()) {
    const font = versions.at(-1);
    const typeface = font === undefined ? undefined : findTypeface(font.text);
    if (font === undefined || typeface === undefined) continue;
    const table = await readTable(font, typeface, objects);
    if (table !== undefined) fonts.push({ number, text: withTable(font.text, typeface), table });
    if (fonts.length > maxSymbolFonts) return [];
  }
  return fonts;
}

function findTypeface(text: string): Typeface | undefined {
  if (!/\/Type[\s\0]*\/Font\b(?!Desc)/.test(text) || !/\/Subtype[\s\0]*\/(?:Type0|Type1|MMType1|TrueType)\b/.test(text)) return undefined;
  const name = /\/BaseFont[\s\0]*\/(?:[A-Z]{6}\+)?([^/()[\]<>{}%\r\n]*)/.exec(text)?.[1] ?? '';
  const plain = name.toLowerCase().replace(/[\s\0,_-]|regular|normal|mt$|\bitc/g, '');
  return typefaces[plain];
}

const typefaces: Record<string, Typeface> = {
  zapfdingbats: 'Dingbats',
  dingbats: 'Dingbats',
  d050000l: 'Dingbats',
  wingdings: 'Wingdings',
  wingdings2: 'Wingdings 2',
  wingdings3: 'Wingdings 3',
  webdings: 'Webdings',
  symbol: 'Symbol',
};

/** The table that the font lacks; undefined: the file says what its codes are. */
async function readTable(font: PdfObject, typeface: Typeface, objects: PdfObjects): Promise<string | undefined> {
  const isComposite = /\/Type0\b/.test(font.text);
  const known = /\/ToUnicode[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(font.text)?.[1];
  if (known !== undefined) {
    const table = objects.get(Number(known)).at(-1);
    return table && readMeanings(await objects.unpack(table), typeface, isComposite);
  }
  if (isComposite || typeface === 'Symbol') return undefined;
  const codes = readCodes(font, objects);
  return (
    codes &&
    writeTable(
      codes.map(([code, symbol]) => [code, toSign(typeface, symbol)]),
      false,
    )
  );
}

/** Each code of a font, and the code of its symbol. Undefined: the file renames its glyphs by names that are not known. */
function readCodes(font: PdfObject, objects: PdfObjects): [code: number, symbol: number][] | undefined {
  const codes = new Map(Array.from({ length: 0xdf }, (_, index) => [index + 0x21, index + 0x21]));
  const encoding = /\/Encoding[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(font.text)?.[1];
  const text = encoding === undefined ? font.text : (objects.get(Number(encoding)).at(-1)?.text ?? '');
  const differences = /\/Differences[\s\0]*\[([^\]]*)\]/.exec(text)?.[1];
  if (differences === undefined) return [...codes];
  const names = dingbatCodes();
  let code = 0;
  for (const [token, name] of differences.matchAll(/\/([^\s\0/]+)|\d+/g)) {
    if (name === undefined) {
      code = Number(token);
      continue;
    }
    const symbol = names.get(name);
    if (symbol === undefined && name !== 'space' && name !== '.notdef') return undefined;
    if (symbol === undefined) codes.delete(code);
    else if (code <= 0xff) codes.set(code, symbol);
    code += 1;
  }
  return [...codes];
}

/** The meanings of a table with symbols in the place of what stands for them; undefined: nothing stands for a symbol. */
function readMeanings(table: string, typeface: Typeface, isComposite: boolean): string | undefined {
  const meanings: [code: number, sign: string][] = [];
  let isChanged = false;
  const add = (code: number, meaning: string) => {
    const value = /^00[2-9a-f][\da-f]$|^f0[2-9a-f][\da-f]$/i.test(meaning) ? parseInt(meaning.slice(2), 16) : undefined;
    // Programs write what the letters of Symbol are, or the place of Office.
    const isSymbol = value !== undefined && value > 0x20 && (typeface !== 'Symbol' || /^f/i.test(meaning));
    isChanged ||= isSymbol;
    meanings.push([code, isSymbol ? toSign(typeface, value) : fromHex(meaning)]);
  };
  for (const [, section = ''] of table.matchAll(/beginbfchar([\s\S]*?)endbfchar/g))
    for (const [, code = '', meaning = ''] of section.matchAll(/<([\da-f]+)>\s*<([\da-f]+)>/gi)) add(parseInt(code, 16), meaning);
  for (const [, section = ''] of table.matchAll(/beginbfrange([\s\S]*?)endbfrange/g))
    for (const [, from = '', to = '', meaning = '', list = ''] of section.matchAll(
      /<([\da-f]+)>\s*<([\da-f]+)>\s*(?:<([\da-f]{4})>|\[([^\]]*)\])/gi,
    )) {
      const first = parseInt(from, 16);
      const count = parseInt(to, 16) - first + 1;
      if (count > 0x100) return undefined;
      const listed = list.match(/[\da-f]+/gi) ?? [];
      for (let index = 0; index < count; index += 1)
        add(first + index, meaning === '' ? (listed[index] ?? '') : toHex(parseInt(meaning, 16) + index, 4));
    }
  return isChanged ? writeTable(meanings, isComposite) : undefined;
}

const toSign = (typeface: Typeface, code: number): string =>
  (typeface === 'Dingbats' ? findDingbat(code) : findSymbol(typeface, code | 0xf000)) ?? damagedCharacter;
const toHex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
const fromHex = (meaning: string): string =>
  String.fromCharCode(...(meaning.match(/[\da-f]{4}/gi) ?? []).slice(0, 100).map((unit) => parseInt(unit, 16)));
const toUtf16 = (sign: string): string => Array.from({ length: sign.length }, (_, index) => toHex(sign.charCodeAt(index), 4)).join('');

function writeTable(meanings: [code: number, sign: string][], isComposite: boolean): string {
  const digits = isComposite ? 4 : 2;
  const lines = meanings.filter(([, sign]) => sign !== '').map(([code, sign]) => `<${toHex(code, digits)}> <${toUtf16(sign)}>`);
  const blocks = Array.from({ length: Math.ceil(lines.length / 100) }, (_, index) => lines.slice(index * 100, index * 100 + 100));
  const space = `begincmap 1 begincodespacerange <${'0'.repeat(digits)}> <${'f'.repeat(digits)}> endcodespacerange`;
  return `${space} ${blocks.map((block) => `${block.length} beginbfchar ${block.join(' ')} endbfchar`).join(' ')} endcmap`;
}

/** The dictionary with the table. A name with a blank, whose escape has been resolved, is written without it. */
function withTable(text: string, typeface: Typeface): string {
  const plain = text
    .replace(/\/ToUnicode[\s\0]+\d+[\s\0]+\d+[\s\0]+R/, '')
    .replace(/(\/BaseFont[\s\0]*)\/[^/()[\]<>{}%\r\n]* [^/()[\]<>{}%\r\n]+/, `$1/${typeface.replace(' ', '')} `);
  return plain.replace(/<</, '<< /ToUnicode %TABLE% 0 R ').replace(/[\s\0]*(?:endobj)?[\s\0]*$/, '');
}
