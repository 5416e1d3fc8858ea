import type { VectorMatch } from './vector-index.ts';

/** Cosine of the angle between two vectors of the same length; 0 when one of them is zero. */
export function cosineSimilarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let product = 0;
  let squaresOfA = 0;
  let squaresOfB = 0;
  for (let index = 0; index < a.length; index++) {
    const [left, right] = [a[index]!, b[index]!];
    product += left * right;
    squaresOfA += left * left;
    squaresOfB += right * right;
  }
  return squaresOfA === 0 || squaresOfB === 0 ? 0 : Math.min(1, Math.max(-1, product / Math.sqrt(squaresOfA * squaresOfB)));
}

/** Sorts the most similar first; equal ones by id, so that the order is stable. */
export const compareMatches = (a: VectorMatch, b: VectorMatch): number => b.similarity - a.similarity || a.id - b.id;
