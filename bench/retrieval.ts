import { table } from './table.ts';

/** The search modes. */
export const modes = ['hybrid', 'vector', 'keyword'] as const;
export type Mode = (typeof modes)[number];

/** The number of results that are looked at. */
export const maxRank = 10;
const nearTop = 5;

export interface Quality {
  /** Share of the questions whose passage is among the first five. */
  recallAt5: number;
  /** Mean reciprocal rank: the mean of 1 / rank of the passage, 0 beyond the tenth. */
  meanReciprocalRank: number;
}

/** The results of a set of questions. */
export interface Retrieval {
  set: string;
  questions: number;
  chunks: number;
  qualities: Record<Mode, Quality>;
  /** Of SQLite's full-text search as it comes, over the same texts. */
  plain: Quality;
}

/** `places` are the ranks at which the passages were found, from 1; null: not found. */
export function measureQuality(places: (number | null)[]): Quality {
  const sum = (of: (place: number) => number) => places.reduce<number>((total, place) => total + (place === null ? 0 : of(place)), 0);
  return {
    recallAt5: sum((place) => Number(place <= nearTop)) / places.length,
    meanReciprocalRank: sum((place) => (place <= maxRank ? 1 / place : 0)) / places.length,
  };
}

/** Whether hybrid is at least as good as the better of the two that it is made of, by both measures. */
export const isHybridBest = ({ qualities: { hybrid, vector, keyword } }: Retrieval): boolean =>
  (['recallAt5', 'meanReciprocalRank'] as const).every((measure) => hybrid[measure] >= Math.max(vector[measure], keyword[measure]));

/** The share of the true ids that were found. */
export function measureRecall(given: number[][], truth: number[][]): number {
  const counts = truth.map((ids, question) => {
    const found = new Set(given[question]);
    return ids.filter((id) => found.has(id)).length;
  });
  return counts.reduce((sum, count) => sum + count, 0) / truth.flat().length;
}

const shown = (share: number) => share.toFixed(3);

/** The ways of search side by side. */
export function retrievalSection(retrievals: Retrieval[]): string[] {
  const heads = [
    'questions of',
    'how many',
    'chunks',
    ...modes.map((mode) => `recall@5 ${mode}`),
    ...modes.map((mode) => `MRR@${maxRank} ${mode}`),
    'recall@5 plain FTS5',
    `MRR@${maxRank} plain FTS5`,
    'hybrid is no worse',
  ];
  const cells = retrievals.map((retrieval) => [
    retrieval.set,
    String(retrieval.questions),
    String(retrieval.chunks),
    ...modes.map((mode) => shown(retrieval.qualities[mode].recallAt5)),
    ...modes.map((mode) => shown(retrieval.qualities[mode].meanReciprocalRank)),
    shown(retrieval.plain.recallAt5),
    shown(retrieval.plain.meanReciprocalRank),
    isHybridBest(retrieval) ? 'yes' : 'NO',
  ]);
  return ['Answers found by their questions, with the simulated embedding, and by plain FTS5:', '', ...table(heads, cells)];
}
