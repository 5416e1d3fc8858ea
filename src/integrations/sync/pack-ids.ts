import { Buffer } from 'node:buffer';

/** Packs ids into text: sorted differences, seven bits a byte, in base64. Neighbouring ids take one byte each. */
export function packIds(ids: Iterable<number>): string {
  const bytes: number[] = [];
  let before = 0;
  for (const id of [...new Set(ids)].toSorted((one, other) => one - other)) {
    let difference = id - before;
    before = id;
    for (; difference >= 128; difference = Math.floor(difference / 128)) bytes.push(128 + (difference % 128));
    bytes.push(difference);
  }
  return Buffer.from(bytes).toString('base64');
}

export function unpackIds(text: string): Set<number> {
  const ids = new Set<number>();
  let id = 0;
  let difference = 0;
  let weight = 1;
  for (const byte of Buffer.from(text, 'base64')) {
    difference += (byte % 128) * weight;
    weight *= 128;
    if (byte >= 128) continue;
    id += difference;
    ids.add(id);
    [difference, weight] = [0, 1];
  }
  return ids;
}
