/** Cormack, Clarke, Buettcher 2009: how little the first ranks stand out from those after them. */
const rankConstant = 60;

/** Where a chunk stood in each list, from 1; null: not in it. */
export interface Ranks {
  vector_rank: number | null;
  keyword_rank: number | null;
}

/** Reciprocal rank fusion of two lists of ids, best first: each id once, with its ranks. Equal ones in the order of the vectors, then of the words. */
export function fuseRanks(byVector: number[], byKeyword: number[]): (Ranks & { id: number })[] {
  const found = new Map<number, Ranks & { id: number }>();
  for (const [index, id] of byVector.entries()) found.set(id, { id, vector_rank: index + 1, keyword_rank: null });
  for (const [index, id] of byKeyword.entries())
    found.set(id, { id, vector_rank: found.get(id)?.vector_rank ?? null, keyword_rank: index + 1 });
  // Sorting is stable, and the map has the ids of the vectors first.
  return [...found.values()].toSorted((one, other) => toScore(other) - toScore(one));
}

const toScore = ({ vector_rank, keyword_rank }: Ranks): number => toReciprocalRank(vector_rank) + toReciprocalRank(keyword_rank);
const toReciprocalRank = (rank: number | null): number => (rank === null ? 0 : 1 / (rankConstant + rank));
