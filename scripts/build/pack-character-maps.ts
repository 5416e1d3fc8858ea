import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, deflateRawSync } from 'node:zlib';
import { readCharacterMap, writeDifferences } from './character-map-format.ts';
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
      names
        .filter((name) => collectionOf(name) === collection)
        .map((name) => [name, shorten(name, (other) => readFileSync(join(directory, `${other}.bcmap`)))]),
    );
    return [join(folder, `${collection}.ts`), toModule(pack(maps))];
  });
  return [...modules, [join(folder, 'LICENSE'), readFileSync(join(directory, 'LICENSE'), 'utf8')]];
}

/** The maps of Unicode are alike: most are written as what they add to another. */
const bases: Record<string, string> = {
  'UniCNS-UCS2-H': 'UniCNS-UTF16-H',
  'UniGB-UCS2-H': 'UniGB-UTF16-H',
  'UniJIS-UCS2-H': 'UniJIS-UTF16-H',
  'UniJIS2004-UTF16-H': 'UniJIS-UTF16-H',
  'UniKS-UCS2-H': 'UniKS-UTF16-H',
  'GBKp-EUC-H': 'GBK-EUC-H',
  'GBK2K-H': 'GBK-EUC-H',
};

function shorten(name: string, read: (name: string) => Uint8Array): Uint8Array {
  const baseName = bases[name];
  const [map, base] = [readCharacterMap(read(name)), baseName === undefined ? undefined : readCharacterMap(read(baseName))];
  if (baseName === undefined || !map || !base || map.base !== undefined || base.base !== undefined) return read(name);
  const shorter = writeDifferences(map, base, baseName);
  return shorter.length < read(name).length ? shorter : read(name);
}

/** See `unpackCharacterMaps`. */
function pack(maps: Map<string, Uint8Array>): string {
  const lengths = JSON.stringify(Object.fromEntries([...maps].map(([name, { length }]) => [name, length])));
  const pieces: Uint8Array[] = [Buffer.from(`${lengths}\n`)];
  const longest = Math.max(...[...maps.values()].map(({ length }) => length));
  for (let start = 0; start < longest; start += stripeBytes)
    for (const map of maps.values()) pieces.push(map.subarray(start, start + stripeBytes));
  return deflateRawSync(Buffer.concat(pieces), { level: constants.Z_BEST_COMPRESSION, memLevel: 9 }).toString('base64');
}

const toModule = (packed: string): string =>
  `// Made by npm run generate from the character maps of pdfjs-dist, which are Adobe's; see LICENSE.\nexport default '${packed}';\n`;
