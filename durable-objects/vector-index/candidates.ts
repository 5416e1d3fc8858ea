import { dimensions } from '../../src/providers/vector-index/vector-limits.ts';
import { slotsPerPage, type VectorPage } from './vector-page.ts';

export interface Candidate {
  id: number;
  /** By the coarse code alone. */
  score: number;
  /** How far that may be from the true one. */
  error: number;
}

/**
 * In steps of the coarse code, each number of which is off by half a step at most. Their sum with the numbers of a vector of length 1 is off
 * by more than three once in thirty million times (Hoeffding 1963: 2 exp(-2 * 3²)).
 */
const maxErrorSteps = 3;
/** So many are the most that are looked at again: vectors that differ by less than the codes do are as good as each other. */
const toMaxCandidates = (topK: number): number => topK * 2 + 20;

const products = new Float64Array(slotsPerPage);

/** Those that may be among the `topK` best, by their coarse codes, of all vectors or of those of some documents. `unit` has length 1. */
export function findCandidates(
  pages: Iterable<VectorPage>,
  unit: Float64Array,
  topK: number,
  documentIds: ReadonlySet<number> | undefined,
): Candidate[] {
  const best: Candidate[] = [];
  const most = toMaxCandidates(topK);
  for (const page of pages) {
    const slots: number[] = [];
    for (let slot = 0; slot < slotsPerPage; slot++)
      if (page.ids[slot] !== 0 && (documentIds === undefined || documentIds.has(page.documentIds[slot]!))) slots.push(slot);
    multiply(page, unit, slots);
    for (let index = 0; index < slots.length; index++) {
      const slot = slots[index]!;
      const scale = page.scales[slot]!;
      const score = products[index]! * scale;
      if (best.length < most || score > best[most - 1]!.score)
        insert(best, most, { id: page.ids[slot]!, score, error: maxErrorSteps * scale });
    }
  }
  const least = Math.min(...best.slice(0, topK).map(({ score, error }) => score - error));
  return best.filter(({ score, error }) => score + error >= least);
}

/**
 * Fills `products` with those of the codes in `slots` and the vector. Four at a time, so that a number of the vector is read once for four:
 * that makes up for turning bytes into doubles, and the scan as quick as one over floats. Each code by itself, since then its places need
 * no sums.
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

function insert(best: Candidate[], most: number, candidate: Candidate): void {
  let from = 0;
  for (let to = best.length; from < to;) {
    const middle = (from + to) >> 1;
    if (best[middle]!.score >= candidate.score) from = middle + 1;
    else to = middle;
  }
  best.splice(from, 0, candidate);
  if (best.length > most) best.pop();
}
