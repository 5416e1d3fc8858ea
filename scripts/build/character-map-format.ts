/** A character map of pdf.js (.bcmap), as far as maps from codes to characters have it: https://github.com/mozilla/pdf.js, `binary_cmap.js`. */
export interface CharacterMap {
  isVertical: boolean;
  /** The records of the ranges of codes, as they are. */
  codeSpaces: Uint8Array[];
  /** The map that this one adds to. */
  base: string | undefined;
  /** By code, from the length of the code in bytes and its number. */
  characters: Map<string, number>;
}

const lowBits = 0x7f;
const more = 0x80;

/** Reads a map. Undefined: it has records of another kind, as maps to Unicode have. */
export function readCharacterMap(bytes: Uint8Array): CharacterMap | undefined {
  let place = 0;
  const readByte = () => bytes[place++] ?? 0;
  const readNumber = () => {
    let value = 0;
    for (let byte = more; byte & more;) {
      byte = readByte();
      value = value * 128 + (byte & lowBits);
    }
    return value;
  };
  const readHex = (length: number) => {
    let value = 0;
    for (let index = 0; index < length; index += 1) value = value * 256 + readByte();
    return value;
  };
  const map: CharacterMap = { isVertical: (readByte() & 1) === 1, codeSpaces: [], base: undefined, characters: new Map() };
  while (place < bytes.length) {
    const start = place;
    const head = readByte();
    const kind = head >> 5;
    if (kind === 7) {
      const text = String.fromCharCode(...Array.from({ length: readNumber() }, readNumber));
      if ((head & 0x1f) === 1) map.base = text;
      continue;
    }
    const isSequence = (head & 0x10) !== 0;
    const length = (head & 15) + 1;
    const count = readNumber();
    let next = 0;
    let character = 0;
    for (let index = 0; index < count; index += 1) {
      const from = index === 0 ? readHex(length) : next + (isSequence ? 0 : readNumber());
      const to = kind === 2 ? from : from + readNumber();
      if (kind === 1) readNumber();
      else if (kind === 2) {
        const number = readNumber();
        character = index === 0 ? number : character + 1 + (number % 2 === 1 ? -(number + 1) / 2 : number / 2);
        map.characters.set(keyOf(length, from), character);
      } else if (kind === 3) {
        const first = readNumber();
        for (let code = from; code <= to; code += 1) map.characters.set(keyOf(length, code), first + code - from);
      } else if (kind !== 0) return undefined;
      next = to + 1;
    }
    if (kind === 0) map.codeSpaces.push(bytes.subarray(start, place));
  }
  return map;
}

const keyOf = (length: number, code: number): string => `${length} ${code}`;

/** Writes a map as what it adds to another one: the characters that the other has not, or has otherwise. */
export function writeDifferences(map: CharacterMap, base: CharacterMap, baseName: string): Uint8Array {
  const bytes = [
    map.isVertical ? 1 : 0,
    0xe1,
    ...numberOf(baseName.length),
    ...[...baseName].flatMap((letter) => numberOf(letter.charCodeAt(0))),
  ];
  for (const space of map.codeSpaces) bytes.push(...space);
  const differences = [...map.characters].filter(([key, character]) => base.characters.get(key) !== character);
  for (const [length, entries] of Map.groupBy(differences, ([key]) => Number(key.split(' ')[0]))) {
    const inOrder = entries
      .map(([key, character]) => ({ code: Number(key.split(' ')[1]), character }))
      .toSorted((one, other) => one.code - other.code);
    bytes.push((2 << 5) | (length - 1), ...numberOf(inOrder.length));
    for (const [index, { code, character }] of inOrder.entries()) {
      const before = inOrder[index - 1];
      if (!before) {
        for (let shift = length - 1; shift >= 0; shift -= 1) bytes.push(Math.floor(code / 256 ** shift) % 256);
        bytes.push(...numberOf(character));
      } else {
        const step = character - before.character - 1;
        bytes.push(...numberOf(code - before.code - 1), ...numberOf(step < 0 ? -step * 2 - 1 : step * 2));
      }
    }
  }
  return Uint8Array.from(bytes);
}

/** Seven bits a byte, the highest first. */
function numberOf(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest % 128) | more);
  return bytes;
}
