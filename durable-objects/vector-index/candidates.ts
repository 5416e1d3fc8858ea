import { dimensions } from '../../src/providers/vector-index/check-vectors.ts';
import { slotsAPage, type VectorPage } from './vector-page.ts';

export interface Candidate {
  id: number;
  /** By the coarse code alone. */
  score: number;
}

const products = new Float64Array(slotsAPage);

/** The `most` best by their coarse codes, best first, of all vectors or of those of some documents. `unit` has length 1. */
export function candidates(
  pages: Iterable<VectorPage>,
  unit: Float64Array,
  most: number,
  documentIds: ReadonlySet<number> | undefined,
): Candidate[] {
  const best: Candidate[] = [];
  for (const page of pages) {
    const slots: number[] = [];
    for (let slot = 0; slot < slotsAPage; slot++)
      if (page.ids[slot] !== 0 && (documentIds === undefined || documentIds.has(page.documentIds[slot]!))) slots.push(slot);
    multiply(page.codes, unit, slots);
    for (const [index, slot] of slots.entries()) insert(best, most, page.ids[slot]!, products[index]! * page.scales[slot]!);
  }
  return best;
}

/**
 * Fills `products` with those of the codes in `slots` and the vector. Four at a time, so that a number of the vector is read once for four:
 * that makes up for turning bytes into doubles, and the scan as quick as one over floats.
 */
function multiply(codes: Int8Array, unit: Float64Array, slots: number[]): void {
  const last = slots.length - 1;
  for (let index = 0; index <= last; index += 4) {
    const a = slots[index]! * dimensions;
    const b = slots[Math.min(index + 1, last)]! * dimensions;
    const c = slots[Math.min(index + 2, last)]! * dimensions;
    const d = slots[Math.min(index + 3, last)]! * dimensions;
    let [ofA, ofB, ofC, ofD] = [0, 0, 0, 0];
    for (let at = 0; at < dimensions; at++) {
      const value = unit[at]!;
      ofA += codes[a + at]! * value;
      ofB += codes[b + at]! * value;
      ofC += codes[c + at]! * value;
      ofD += codes[d + at]! * value;
    }
    products[index] = ofA;
    products[index + 1] = ofB;
    products[index + 2] = ofC;
    products[index + 3] = ofD;
  }
}

function insert(best: Candidate[], most: number, id: number, score: number): void {
  if (best.length === most && score <= best[most - 1]!.score) return;
  let from = 0;
  for (let to = best.length; from < to;) {
    const middle = (from + to) >> 1;
    if (best[middle]!.score >= score) from = middle + 1;
    else to = middle;
  }
  best.splice(from, 0, { id, score });
  if (best.length > most) best.pop();
}
