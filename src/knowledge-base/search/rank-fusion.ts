/** The constant of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009): the larger it is, the less the first ranks differ. */
const rankConstant = 60;

/** The rank of a chunk in each list, from 1; null: it is not in the list. */
export interface Ranks {
  vector_rank: number | null;
  keyword_rank: number | null;
}

/**
 * Reciprocal rank fusion of two lists of ids, best first: each id once, with its ranks. Ids with equal scores keep the order of the vector
 * list, then of the keyword list.
 */
export function fuseRanks(byVector: number[], byKeyword: number[]): (Ranks & { id: number })[] {
  const found = new Map<number, Ranks & { id: number }>();
  for (const [index, id] of byVector.entries()) found.set(id, { id, vector_rank: index + 1, keyword_rank: null });
  for (const [index, id] of byKeyword.entries())
    found.set(id, { id, vector_rank: found.get(id)?.vector_rank ?? null, keyword_rank: index + 1 });
  // The sort is stable, and the map begins with the ids of the vector list.
  return [...found.values()].toSorted((one, other) => toScore(other) - toScore(one));
}

const toScore = ({ vector_rank, keyword_rank }: Ranks): number => toReciprocalRank(vector_rank) + toReciprocalRank(keyword_rank);
const toReciprocalRank = (rank: number | null): number => (rank === null ? 0 : 1 / (rankConstant + rank));
