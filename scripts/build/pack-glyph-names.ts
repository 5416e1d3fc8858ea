import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, deflateRawSync } from 'node:zlib';

const folder = join('src', 'knowledge-base', 'parsing', 'pdf', 'glyph-names');
const lists = ['getGlyphsUnicode', 'getDingbatsGlyphsUnicode'];

/** The module with the names of glyphs that say which character they draw, as pdf.js knows them: Base64 of deflated lines. */
export function packedGlyphNames(): [path: string, text: string][] {
  const file = join(dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json'))), 'build', 'pdf.worker.mjs');
  const names = lists.flatMap((list) => namesOf(readFileSync(file, 'utf8'), list));
  const packed = deflateRawSync([...new Set(names)].toSorted().join('\n'), { level: constants.Z_BEST_COMPRESSION }).toString('base64');
  const origin = '// Made by npm run generate from the lists of pdfjs-dist, whose names are those of the Adobe Glyph List.';
  return [[join(folder, 'packed.ts'), `${origin}\nexport default '${packed}';\n`]];
}

/** `t.Aacute = 0x00c1;` and `t["one"] = ...`, in the function that fills a list. */
function namesOf(source: string, list: string): string[] {
  const start = source.indexOf(`const ${list} = `);
  const body = source.slice(start, source.indexOf('\n});', start));
  const names = [...body.matchAll(/^ {2}t(?:\.(\w+)|\["([^"]+)"\]) = /gm)].map(([, plain, quoted]) => plain ?? quoted ?? '');
  if (start === -1 || names.length < 100) throw new Error(`pdfjs-dist has its list ${list} in another form`);
  return names;
}
