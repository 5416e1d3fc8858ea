import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCharacterMap, writeDifferences } from '../../scripts/build/character-map-format.ts';
import { CharacterMaps } from '../../src/knowledge-base/parsing/pdf/character-maps/character-maps.ts';

const directory = join(import.meta.dirname, '..', '..', 'node_modules', 'pdfjs-dist', 'cmaps');
const names = readdirSync(directory).flatMap((file) =>
  /^(?!.*UTF(?:8|32)).*\.bcmap$/.test(file) ? [file.slice(0, -'.bcmap'.length)] : [],
);
const maps = new CharacterMaps();
const packed = (name: string) => maps.fetch({ kind: 'cMapUrl', filename: `${name}.bcmap` });

/** What a map says of each code, with the maps that it adds to. */
async function charactersOf(bytes: Uint8Array, read: (name: string) => Promise<Uint8Array>): Promise<Map<string, number>> {
  const map = readCharacterMap(bytes)!;
  const base = map.base === undefined ? new Map<string, number>() : await charactersOf(await read(map.base), read);
  for (const [code, character] of map.characters) base.set(code, character);
  return base;
}

function headOf(bytes: Uint8Array) {
  const { isVertical, codeSpaces } = readCharacterMap(bytes)!;
  return { isVertical, codeSpaces: codeSpaces.map((space) => [...space]) };
}

test('the packed character maps say of every code what those of pdf.js say', async () => {
  expect(names.length).toBeGreaterThan(120);
  for (const name of names) {
    const original = readFileSync(join(directory, `${name}.bcmap`));
    const own = await packed(name);
    if (!readCharacterMap(original)) {
      expect(Buffer.from(own).equals(original), name).toBe(true);
      continue;
    }
    const expected = await charactersOf(original, async (other) => readFileSync(join(directory, `${other}.bcmap`)));
    const found = await charactersOf(own, packed);
    expect(
      [...expected].filter(([code, character]) => found.get(code) !== character),
      name,
    ).toEqual([]);
    expect(headOf(own), name).toEqual(headOf(original));
  }
});

test('a map that is written as differences is read back', () => {
  const toMap = (characters: [string, number][]) => ({
    isVertical: true,
    codeSpaces: [Uint8Array.of(0, 1, 0, 0x7f)],
    base: undefined,
    characters: new Map(characters),
  });
  const base = toMap([
    ['1 65', 1],
    ['2 20000', 300],
  ]);
  const map = toMap([
    ['1 65', 1],
    ['1 66', 9],
    ['2 20000', 301],
    ['2 65535', 2],
    ['4 3623940096', 70],
  ]);
  const read = readCharacterMap(writeDifferences(map, base, 'Base-H'))!;
  expect(read).toMatchObject({ isVertical: true, base: 'Base-H', codeSpaces: map.codeSpaces });
  expect([...read.characters]).toEqual([...map.characters].slice(1));
});
