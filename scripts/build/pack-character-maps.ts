import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, deflateRawSync } from 'node:zlib';
import { collectionOf, collections } from '../../src/knowledge-base/parsing/pdf/character-maps/collections.ts';
import { stripeBytes } from '../../src/knowledge-base/parsing/pdf/character-maps/unpack-character-maps.ts';

const folder = join('src', 'knowledge-base', 'parsing', 'pdf', 'character-maps', 'packed');

/** A PDF names none of these: the format's reference lists the others. */
const isUnused = (name: string): boolean => /UTF8|UTF32/.test(name);

/** The modules with Adobe's character maps, made from those of pdf.js, and their licence: path and text of each. */
export function packedCharacterMaps(): [path: string, text: string][] {
  const directory = join(dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json'))), 'cmaps');
  const names = readdirSync(directory)
    .filter((file) => file.endsWith('.bcmap'))
    .map((file) => file.replace(/\.bcmap$/, ''))
    .filter((name) => !isUnused(name))
    .toSorted();
  const modules = collections.map((collection): [string, string] => {
    const maps = new Map(
      names.filter((name) => collectionOf(name) === collection).map((name) => [name, readFileSync(join(directory, `${name}.bcmap`))]),
    );
    return [join(folder, `${collection}.ts`), toModule(pack(maps))];
  });
  return [...modules, [join(folder, 'LICENSE'), readFileSync(join(directory, 'LICENSE'), 'utf8')]];
}

/** See `unpackCharacterMaps`. */
function pack(maps: Map<string, Buffer>): string {
  const lengths = JSON.stringify(Object.fromEntries([...maps].map(([name, { length }]) => [name, length])));
  const pieces: Uint8Array[] = [Buffer.from(`${lengths}\n`)];
  const longest = Math.max(...[...maps.values()].map(({ length }) => length));
  for (let start = 0; start < longest; start += stripeBytes)
    for (const map of maps.values()) pieces.push(map.subarray(start, start + stripeBytes));
  return deflateRawSync(Buffer.concat(pieces), { level: constants.Z_BEST_COMPRESSION, memLevel: 9 }).toString('base64');
}

const toModule = (packed: string): string =>
  `// Made by npm run generate from the character maps of pdfjs-dist, which are Adobe's; see LICENSE.\nexport default '${packed}';\n`;
