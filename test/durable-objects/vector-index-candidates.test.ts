import { describe, expect, test } from 'vitest';
import { findCandidates } from '../../durable-objects/vector-index/candidates.ts';
import { quantize, toUnit } from '../../durable-objects/vector-index/quantized-vector.ts';
import { slotsPerPage, VectorPage } from '../../durable-objects/vector-index/vector-page.ts';
import { dimensions, mixedVectors, findNearest, randomVectorNear, createRandom, randomVector } from '../support/vectors.ts';

/** Ids are positions from 1 on; every third document is the second. */
function pagesOf(vectors: Float32Array[]): VectorPage[] {
  const pages: VectorPage[] = [];
  for (const [position, vector] of vectors.entries()) {
    const slot = position % slotsPerPage;
    if (slot === 0) pages.push(new VectorPage());
    const page = pages.at(-1)!;
    const { scale, coarse } = quantize(vector);
    page.ids[slot] = position + 1;
    page.documentIds[slot] = position % 3 === 0 ? 2 : 1;
    page.scales[slot] = scale;
    page.code(slot).set(coarse);
  }
  return pages;
}

const ask = (vectors: Float32Array[], question: Float32Array, topK: number, documentIds?: Set<number>) =>
  findCandidates(pagesOf(vectors), toUnit(question), topK, documentIds).map(({ id }) => id);

describe('the candidates', () => {
  const random = createRandom(11);
  const vectors = mixedVectors(700, random);
  const questions = Array.from({ length: 20 }, () => randomVectorNear(vectors[Math.floor(random() * vectors.length)]!, 1, random));

  test.each([1, 10, 100])('contain the best %i vectors', (topK) => {
    for (const question of questions) {
      const best = findNearest(vectors, question, topK).map((position) => position + 1);
      expect(ask(vectors, question, topK)).toEqual(expect.arrayContaining(best));
    }
  });

  test('are few where the codes tell vectors apart', () => {
    const counts = questions.map((question) => ask(vectors, question, 10).length);
    expect(counts.reduce((sum, count) => sum + count, 0) / counts.length).toBeLessThan(20);
  });

  test('are of the requested documents only, best first', () => {
    for (const question of questions.slice(0, 3)) {
      const some = findCandidates(pagesOf(vectors), toUnit(question), 10, new Set([2]));
      expect(some.every(({ id }) => id % 3 === 1)).toBe(true);
      expect(some.map(({ score }) => score)).toEqual(some.map(({ score }) => score).toSorted((one, other) => other - one));
    }
  });
});

test('among equal vectors there are no more candidates than the limit', () => {
  const vector = randomVector(createRandom(12));
  expect(
    ask(
      Array.from({ length: 300 }, () => vector),
      vector,
      10,
    ),
  ).toHaveLength(40);
});

test('among few vectors all possible best ones are candidates, and without vectors there are none', () => {
  const random = createRandom(13);
  const vectors = [randomVector(random), randomVector(random), new Float32Array(dimensions)];
  expect(ask(vectors, vectors[1]!, 10)).toHaveLength(3);
  expect(ask(vectors, vectors[1]!, 1)).toEqual([2]);
  expect(ask([], vectors[0]!, 10)).toEqual([]);
});
