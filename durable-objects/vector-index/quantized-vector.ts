import { dimensions } from '../../src/providers/vector-index/vector-limits.ts';

/** Steps of the coarse code on either side of 0, and steps of the fine code within one coarse step. */
const coarseSteps = 127;
const fineSteps = 254;

/**
 * A direction with 16 bits a number: `scale * (coarse + fine / 254)`. The coarse half alone selects candidates; both halves give a cosine
 * of six digits.
 */
export interface QuantizedVector {
  scale: number;
  coarse: Int8Array<ArrayBuffer>;
  fine: Int8Array<ArrayBuffer>;
}

/** Quantizes the direction of a vector; a zero vector gives zeros. */
export function quantize(vector: Float32Array): QuantizedVector {
  const coarse = new Int8Array(dimensions);
  const fine = new Int8Array(dimensions);
  const unit = toUnit(vector);
  let largest = 0;
  for (const value of unit) largest = Math.max(largest, Math.abs(value));
  const scale = largest / coarseSteps;
  if (scale === 0) return { scale, coarse, fine };
  for (let index = 0; index < dimensions; index++) {
    const steps = unit[index]! / scale;
    coarse[index] = Math.round(steps);
    fine[index] = Math.round((steps - coarse[index]!) * fineSteps);
  }
  return { scale, coarse, fine };
}

/** The cosine of a quantized vector with `unit`, a vector of length 1. */
export function computeSimilarity(unit: Float64Array, { scale, coarse, fine }: QuantizedVector): number {
  let ofCoarse = 0;
  let ofFine = 0;
  for (let index = 0; index < dimensions; index++) {
    const value = unit[index]!;
    ofCoarse += value * coarse[index]!;
    ofFine += value * fine[index]!;
  }
  return Math.min(1, Math.max(-1, scale * (ofCoarse + ofFine / fineSteps)));
}

/** A vector of about length 1 in the quantized direction. */
export function dequantize({ scale, coarse, fine }: QuantizedVector): Float32Array {
  const vector = new Float32Array(dimensions);
  for (let index = 0; index < dimensions; index++) vector[index] = scale * (coarse[index]! + fine[index]! / fineSteps);
  return vector;
}

/** The vector at length 1, in doubles, which the scan reads fastest. A zero vector stays zero. */
export function toUnit(vector: Float32Array): Float64Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  const unit = new Float64Array(vector.length);
  for (let index = 0; index < unit.length; index++) unit[index] = vector[index]! / length;
  return unit;
}
