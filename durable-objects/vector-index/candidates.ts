import { dimensions } from '../../src/providers/vector-index/vector-limits.ts';
import { slotsPerPage, type VectorPage } from './vector-page.ts';

export interface Candidate {
  id: number;
  /** The similarity by the coarse code alone. */
  score: number;
  /** The maximum difference from the exact similarity. */
  error: number;
}

/**
 * The error of a score in steps of the coarse code. Each coarse number is off by at most half a step, so the product with a vector of
 * length 1 is off by more than three steps once in thirty million times (Hoeffding 1963: 2 exp(-2 * 3²)).
 */
const maxErrorSteps = 3;
/** The maximum of candidates: vectors whose difference is below the codes' precision are interchangeable. */
const toMaxCandidates = (topK: number): number => topK * 2 + 20;

const products = new Float64Array(slotsPerPage);

/** The vectors that may be among the `topK` best, judged by their coarse codes; of all documents or of `documentIds`. `unit` has length 1. */
export function findCandidates(
  pages: Iterable<VectorPage>,
  unit: Float64Array,
  topK: number,
  documentIds: ReadonlySet<number> | undefined,
): Candidate[] {
  const best: Candidate[] = [];
  const maxCandidates = toMaxCandidates(topK);
  for (const page of pages) {
    const slots: number[] = [];
    for (let slot = 0; slot < slotsPerPage; slot++)
      if (page.ids[slot] !== 0 && (documentIds === undefined || documentIds.has(page.documentIds[slot]!))) slots.push(slot);
    multiply(page, unit, slots);
    for (let index = 0; index < slots.length; index++) {
      const slot = slots[index]!;
      const scale = page.scales[slot]!;
      const score = products[index]! * scale;
      if (best.length < maxCandidates || score > best[maxCandidates - 1]!.score)
        insert(best, maxCandidates, { id: page.ids[slot]!, score, error: maxErrorSteps * scale });
    }
  }
  const minScore = Math.min(...best.slice(0, topK).map(({ score, error }) => score - error));
  return best.filter(({ score, error }) => score + error >= minScore);
}

/**
 * Fills `products` with the products of the vector and the codes in `slots`. Four codes at a time read each number of the vector once, which
 * makes the scan as fast as one over floats. Each code is its own array, so that indexing needs no addition.
 */
function multiply(page: VectorPage, unit: Float64Array, slots: number[]): void {
  const last = slots.length - 1;
  for (let index = 0; index <= last; index += 4) {
    const a = page.code(slots[index]!);
    const b = page.code(slots[Math.min(index + 1, last)]!);
    const c = page.code(slots[Math.min(index + 2, last)]!);
    const d = page.code(slots[Math.min(index + 3, last)]!);
    let [ofA, ofB, ofC, ofD] = [0, 0, 0, 0];
    for (let at = 0; at < dimensions; at++) {
      const value = unit[at]!;
      ofA += a[at]! * value;
      ofB += b[at]! * value;
      ofC += c[at]! * value;
      ofD += d[at]! * value;
    }
    products[index] = ofA;
    products[index + 1] = ofB;
    products[index + 2] = ofC;
    products[index + 3] = ofD;
  }
}

function insert(best: Candidate[], maxCandidates: number, candidate: Candidate): void {
  let from = 0;
  for (let to = best.length; from < to;) {
    const middle = (from + to) >> 1;
    if (best[middle]!.score >= candidate.score) from = middle + 1;
    else to = middle;
  }
  best.splice(from, 0, candidate);
  if (best.length > maxCandidates) best.pop();
}
