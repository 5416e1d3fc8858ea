/** Numbers in a vector: those of text-embedding-3-small, and the most that Vectorize takes. */
export const dimensions = 1536;

export const maxMatches = 100;

/** Throws a RangeError: what makes vectors, or asks for matches, is to be corrected. */
export function checkVector(vector: Float32Array): void {
  if (vector.length !== dimensions) throw new RangeError(`A vector has ${dimensions} numbers, not ${vector.length}`);
  if (!vector.every(Number.isFinite)) throw new RangeError('A vector has a number that is not finite');
}

export function checkTopK(topK: number): void {
  if (!Number.isInteger(topK) || topK < 1 || topK > maxMatches)
    throw new RangeError(`topK is a whole number from 1 to ${maxMatches}, not ${topK}`);
}
