export const dimensions = 1536;

/** Numbers from 0 to 1, the same for a seed every time. */
export function createRandom(seed: number): () => number {
  let state = seed * 2_654_435_761 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Roughly normally distributed. Its callers use loops, not `Array.from`, since tests make tens of millions of these numbers. */
const approximateNormal = (random: () => number): number => random() + random() - 1;

/** A random vector; every direction is equally likely. */
export function randomVector(random: () => number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (let index = 0; index < dimensions; index++) vector[index] = approximateNormal(random);
  return vector;
}

/** A vector whose cosine to `centre` is about `1 / sqrt(1 + spread²)`. */
export function randomVectorNear(centre: Float32Array, spread: number, random: () => number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (let index = 0; index < dimensions; index++) vector[index] = centre[index]! + spread * approximateNormal(random);
  return vector;
}

/** In turn one vector by itself, and one of a cluster of a hundred that are hard to tell apart. */
export function mixedVectors(count: number, random: () => number): Float32Array[] {
  const centres = Array.from({ length: Math.ceil(count / 200) }, () => randomVector(random));
  return Array.from({ length: count }, (_, index) =>
    index % 2 ? randomVector(random) : randomVectorNear(centres[(index / 2) % centres.length]!, 0.6, random),
  );
}

/** A plain scan over floats: positions of the `most` nearest, the nearest first. */
export function findNearest(vectors: Float32Array[], query: Float32Array, most: number): number[] {
  const scores = vectors.map((vector) => dot(vector, query) / Math.sqrt(dot(vector, vector)));
  return [...scores.keys()].toSorted((a, b) => scores[b]! - scores[a]! || a - b).slice(0, most);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < dimensions; index++) sum += a[index]! * b[index]!;
  return sum;
}
