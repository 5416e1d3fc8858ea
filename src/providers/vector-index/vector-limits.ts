/** Numbers in a vector: the size of text-embedding-3-small and Vectorize's maximum. */
export const dimensions = 1536;

const maxMatches = 100;

/** Throws a RangeError for a vector of another size or with numbers that are not finite: the caller has a bug. */
export function checkVector(vector: Float32Array): void {
  if (vector.length !== dimensions) throw new RangeError(`A vector has ${dimensions} numbers, not ${vector.length}`);
  if (!vector.every(Number.isFinite)) throw new RangeError('A vector has a number that is not finite');
}

/** Throws a RangeError unless `topK` is a whole number from 1 to 100. */
export function checkTopK(topK: number): void {
  if (!Number.isInteger(topK) || topK < 1 || topK > maxMatches)
    throw new RangeError(`topK is a whole number from 1 to ${maxMatches}, not ${topK}`);
}
