import { toStem, stopStems, splitWords } from './words.ts';

const positionsPerFeature = 4;
const wordWeight = 0.5;
const trigramWeight = 0.25;
const stopWeight = 0.15;

/**
 * A vector of unit length in which texts that share words, stems or parts of words lie near to each other. Each feature is hashed to
 * a few signed places, so that unlike texts are nearly at right angles, also when only the first `dimensions` of `nativeDimensions` are asked for.
 */
export function embedText(text: string, nativeDimensions: number, dimensions: number): Float32Array {
  const vector = new Float64Array(nativeDimensions);
  for (const [feature, weight] of featuresOf(text)) add(vector, feature, weight);
  const kept = vector.subarray(0, dimensions);
  if (kept.every((value) => value === 0)) kept[hash(text) % dimensions] = 1;
  const length = Math.hypot(...kept);
  return Float32Array.from(kept, (value) => value / length);
}

function featuresOf(text: string): Map<string, number> {
  const counts = new Map<string, [count: number, weight: number]>();
  const note = (feature: string, weight: number) => counts.set(feature, [(counts.get(feature)?.[0] ?? 0) + 1, weight]);
  for (const word of splitWords(text)) {
    const stem = toStem(word);
    const share = stopStems.has(stem) ? stopWeight : 1;
    note(`word ${word}`, wordWeight * share);
    note(`stem ${stem}`, share);
    const padded = ` ${word} `;
    for (let start = 0; start + 3 <= padded.length; start++) note(`part ${padded.slice(start, start + 3)}`, trigramWeight * share);
  }
  return new Map([...counts].map(([feature, [count, weight]]) => [feature, weight * (1 + Math.log(count))]));
}

function add(vector: Float64Array, feature: string, weight: number): void {
  for (let place = 0; place < positionsPerFeature; place++) {
    const mixed = hash(`${place} ${feature}`);
    const index = (mixed >>> 1) % vector.length;
    vector[index] = vector[index]! + (mixed & 1 ? weight : -weight);
  }
}

/** FNV-1a with the finalizer of MurmurHash3. */
function hash(text: string): number {
  let mixed = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) mixed = Math.imul(mixed ^ byte, 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
