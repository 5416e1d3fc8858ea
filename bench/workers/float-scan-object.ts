import { DurableObject } from 'cloudflare:workers';
import { dimensions } from '../../test/support/vectors.ts';

/** Vectors in memory alone, as floats of length 1, each of which is multiplied with the question: the least that an exact scan does. */
export class FloatScanObject extends DurableObject {
  readonly #parts: Float32Array[] = [];

  add(vectors: Float32Array): void {
    for (let at = 0; at < vectors.length; at += dimensions) toLengthOne(vectors.subarray(at, at + dimensions));
    this.#parts.push(vectors);
  }

  /** The ids of those nearest to each question, which are their positions from 1 on. */
  answer(questions: Float32Array, most: number): number[][] {
    const answers: number[][] = [];
    for (let at = 0; at < questions.length; at += dimensions)
      answers.push(this.#nearest(Float64Array.from(questions.subarray(at, at + dimensions)), most));
    return answers;
  }

  #nearest(question: Float64Array, most: number): number[] {
    const ids: number[] = [];
    const scores: number[] = [];
    let before = 0;
    for (const part of this.#parts) {
      multiply(part, question);
      for (let position = 0; position < part.length / dimensions; position++) {
        const score = products[position]!;
        if (ids.length === most && score <= scores[most - 1]!) continue;
        let place = ids.length;
        while (place > 0 && scores[place - 1]! < score) place--;
        ids.splice(place, 0, before + position + 1);
        scores.splice(place, 0, score);
        if (ids.length > most) [ids.length, scores.length] = [most, most];
      }
      before += part.length / dimensions;
    }
    return ids;
  }
}

const products = new Float64Array(1000);

/**
 * Fills `products`, four vectors at a time, so that each number of the question is read once for four vectors. The number of vectors is a multiple of
 * four.
 */
function multiply(vectors: Float32Array, question: Float64Array): void {
  for (let position = 0; position < vectors.length / dimensions; position += 4) {
    const a = position * dimensions;
    const b = a + dimensions;
    const c = b + dimensions;
    const d = c + dimensions;
    let [ofA, ofB, ofC, ofD] = [0, 0, 0, 0];
    for (let at = 0; at < dimensions; at++) {
      const value = question[at]!;
      ofA += vectors[a + at]! * value;
      ofB += vectors[b + at]! * value;
      ofC += vectors[c + at]! * value;
      ofD += vectors[d + at]! * value;
    }
    products[position] = ofA;
    products[position + 1] = ofB;
    products[position + 2] = ofC;
    products[position + 3] = ofD;
  }
}

function toLengthOne(vector: Float32Array): void {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  for (const [index, value] of vector.entries()) vector[index] = value / length;
}
