import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cosineSimilarity } from '../../src/providers/vector-index/cosine.ts';
import { getVectorIndex } from '../../src/providers/vector-index/get-vector-index.ts';
import type { VectorItem } from '../../src/providers/vector-index/vector-index.ts';
import { newOrganization } from '../support/organization.ts';
import { StrictVectorize } from '../support/vectorize.ts';
import { findNearest, randomVectorNear, createRandom, randomVector } from '../support/vectors.ts';

const oneOf = (
  vectors: Float32Array[],
  { documentId = () => 1, from = 1 }: { documentId?: (index: number) => number; from?: number } = {},
) => vectors.map((vector, index): VectorItem => ({ id: from + index, documentId: documentId(index), vector }));
const manyRandom = (count: number, random = createRandom(count)) => Array.from({ length: count }, () => randomVector(random));
const idsOf = (matches: { id: number }[]) => matches.map(({ id }) => id);
const isNear = (a: number, b: number) => Math.abs(a - b) < 0.01;

describe.each(['embedded', 'vectorize'] as const)('the vector index, %s,', (backend) => {
  async function start() {
    const vectorize = new StrictVectorize();
    const bindings = { ...env, VECTORS: vectorize } as unknown as Env;
    const index = getVectorIndex(bindings, backend, (await newOrganization()).id);
    const another = getVectorIndex(bindings, backend, (await newOrganization()).id);
    return { index, another, settle: () => vectorize.settle() };
  }

  async function startWith(items: VectorItem[]) {
    const started = await start();
    await started.index.upsert(items);
    started.settle();
    return started;
  }

  test('finds the most similar first, with their true cosines, whatever the lengths of the vectors', async () => {
    const random = createRandom(1);
    const centre = randomVector(random);
    const vectors = [3, 0.5, 2, 0.1, 1].map((spread) => randomVectorNear(centre, spread, random).map((value) => value * 10 * spread));
    const { index } = await startWith(oneOf(vectors));
    const found = await index.query(
      centre.map((value) => value / 7),
      { topK: 10 },
    );
    expect(idsOf(found)).toEqual([4, 2, 5, 3, 1]);
    for (const { id, similarity } of found) expect(Math.abs(similarity - cosineSimilarity(vectors[id - 1]!, centre))).toBeLessThan(1e-4);
  });

  test.each([1, 20, 21, 100])('gives %i when asked for so many, and the same ones as a plain scan', async (topK) => {
    const random = createRandom(topK);
    const centre = randomVector(random);
    // Far enough from each other that an estimate of Vectorize takes none for another.
    const near = Array.from({ length: topK }, (_, index) => randomVectorNear(centre, 0.5 + index / 200, random));
    const vectors = [...manyRandom(30, random), ...near];
    const { index } = await startWith(oneOf(vectors));
    const found = await index.query(centre, { topK });
    expect(new Set(idsOf(found))).toEqual(new Set(findNearest(vectors, centre, topK).map((position) => position + 1)));
    expect(found.map(({ similarity }) => similarity)).toEqual(found.map(({ similarity }) => similarity).toSorted((a, b) => b - a));
    for (const { id, similarity } of found) expect(isNear(similarity, cosineSimilarity(vectors[id - 1]!, centre))).toBe(true);
  });

  test('gives equal ones in the order of their ids, and opposite ones -1', async () => {
    const vector = randomVector(createRandom(2));
    const opposite = vector.map((value) => -value);
    const { index } = await startWith([9, 3, 2 ** 41 + 1, 5].map((id) => ({ id, documentId: 1, vector: id === 3 ? opposite : vector })));
    const found = await index.query(vector, { topK: 10 });
    expect(idsOf(found)).toEqual([5, 9, 2 ** 41 + 1, 3]);
    expect(found.map(({ similarity }) => similarity.toFixed(3))).toEqual(['1.000', '1.000', '1.000', '-1.000']);
  });

  test('holds what was put twice once, and of two vectors of one id the later', async () => {
    const [first, second] = manyRandom(2) as [Float32Array, Float32Array];
    const { index, settle } = await startWith(oneOf([first, first]));
    await index.upsert(oneOf([first, first]));
    await index.upsert([
      { id: 2, documentId: 1, vector: first },
      { id: 2, documentId: 7, vector: second },
    ]);
    settle();
    const found = await index.query(second, { topK: 100 });
    expect(idsOf(found)).toEqual([2, 1]);
    expect(isNear(found[0]!.similarity, 1)).toBe(true);
    expect(idsOf(await index.query(second, { topK: 100, documentIds: [1] }))).toEqual([1]);
    expect(idsOf(await index.query(second, { topK: 100, documentIds: [7] }))).toEqual([2]);
  });

  test('removes what it is told to, and nothing else, also when told twice', async () => {
    const vectors = manyRandom(250);
    const { index, settle } = await startWith(oneOf(vectors));
    const gone = Array.from({ length: 240 }, (_, position) => position + 1);
    for (let time = 0; time < 2; time++) {
      await index.remove([...gone, 999_999]);
      settle();
    }
    await index.remove([]);
    expect(new Set(idsOf(await index.query(vectors[0]!, { topK: 100 })))).toEqual(
      new Set([241, 242, 243, 244, 245, 246, 247, 248, 249, 250]),
    );
    expect(await index.similarities([1, 240, 241], vectors[240]!)).toEqual(new Map([[241, expect.closeTo(1, 3)]]));
  });

  test('takes vectors again after all were removed', async () => {
    const [first, second] = manyRandom(2) as [Float32Array, Float32Array];
    const { index, settle } = await startWith(oneOf([first]));
    await index.remove([1]);
    settle();
    expect(await index.query(first, { topK: 5 })).toEqual([]);
    await index.upsert(oneOf([second]));
    settle();
    expect(idsOf(await index.query(second, { topK: 5 }))).toEqual([1]);
  });

  test('shows, replaces and removes nothing of another organization, not even under the same ids', async () => {
    const [ours, theirs] = manyRandom(2) as [Float32Array, Float32Array];
    const { index, another, settle } = await startWith(oneOf([ours]));
    expect(await another.query(ours, { topK: 10 })).toEqual([]);
    expect(await another.query(ours, { topK: 100, documentIds: [1] })).toEqual([]);
    expect(await another.similarities([1], ours)).toEqual(new Map());
    expect(await another.areVisible([1])).toBe(false);
    await another.remove([1]);
    settle();
    expect(await index.areVisible([1])).toBe(true);
    await another.upsert(oneOf([theirs]));
    settle();
    expect(isNear((await index.query(ours, { topK: 1 }))[0]!.similarity, 1)).toBe(true);
    expect(isNear((await another.query(theirs, { topK: 1 }))[0]!.similarity, 1)).toBe(true);
  });

  test('looks only into the documents that are named, be they ever so many', async () => {
    const vectors = manyRandom(40);
    const firstDocument = 2 ** 40 + 1;
    const { index } = await startWith(oneOf(vectors, { documentId: (position) => firstDocument + (position % 10) }));
    const query = vectors[0]!;
    const find = async (documentIds: number[], topK = 100) => idsOf(await index.query(query, { topK, documentIds }));
    expect(new Set(await find([firstDocument]))).toEqual(new Set([1, 11, 21, 31]));
    const many = Array.from({ length: 400 }, (_, position) => firstDocument + 9 + position);
    expect(new Set(await find([...many, firstDocument]))).toEqual(new Set([1, 11, 21, 31, 10, 20, 30, 40]));
    expect(await find([...many, firstDocument], 1)).toEqual([1]);
    expect(await find([firstDocument + 500])).toEqual([]);
    expect(await find([])).toEqual([]);
  });

  test('tells the true cosine of any ids that are there, as a query does', async () => {
    const vectors = manyRandom(60);
    const { index } = await startWith(oneOf(vectors));
    const query = randomVector(createRandom(4711));
    const ids = Array.from({ length: 70 }, (_, position) => position + 1);
    const told = await index.similarities([...ids, 5], query);
    expect([...told.keys()].toSorted((a, b) => a - b)).toEqual(ids.slice(0, 60));
    for (const [id, similarity] of told) expect(Math.abs(similarity - cosineSimilarity(vectors[id - 1]!, query))).toBeLessThan(1e-4);
    for (const { id, similarity } of await index.query(query, { topK: 100 })) expect(told.get(id)).toBe(similarity);
    expect(await index.similarities([], query)).toEqual(new Map());
  });

  test('says when all can be found', async () => {
    const { index, settle } = await start();
    const ids = Array.from({ length: 45 }, (_, position) => position + 1);
    await index.upsert(oneOf(manyRandom(44)));
    expect(await index.areVisible(ids.slice(0, 44))).toBe(backend === 'embedded');
    settle();
    expect(await index.areVisible(ids.slice(0, 44))).toBe(true);
    expect(await index.areVisible(ids)).toBe(false);
    expect(await index.areVisible([1, 1])).toBe(true);
    expect(await index.areVisible([])).toBe(true);
  });

  test('takes more than one request carries', async () => {
    const random = createRandom(3);
    const vectors = manyRandom(1100, random);
    const { index } = await startWith(oneOf(vectors));
    for (const position of [0, 999, 1000, 1099]) expect(idsOf(await index.query(vectors[position]!, { topK: 1 }))).toEqual([position + 1]);
  });

  test('refuses what is no vector, and puts none of those beside it', async () => {
    const [good] = manyRandom(1) as [Float32Array];
    const { index, settle } = await start();
    for (const bad of [new Float32Array(768), good.map((value, position) => (position === 7 ? NaN : value))]) {
      await expect(index.upsert(oneOf([good, bad]))).rejects.toThrow(RangeError);
      await expect(index.query(bad, { topK: 5 })).rejects.toThrow(RangeError);
      await expect(index.similarities([1], bad)).rejects.toThrow(RangeError);
    }
    for (const topK of [0, 101, 1.5]) await expect(index.query(good, { topK })).rejects.toThrow('topK is a whole number from 1 to 100');
    settle();
    expect(await index.query(good, { topK: 5 })).toEqual([]);
  });

  test('a vector without direction is at right angles to all', async () => {
    const [vector] = manyRandom(1) as [Float32Array];
    const { index } = await startWith(oneOf([new Float32Array(1536), vector]));
    expect(await index.query(vector, { topK: 5 })).toEqual([
      { id: 2, similarity: expect.closeTo(1, 3) },
      { id: 1, similarity: 0 },
    ]);
    expect((await index.query(new Float32Array(1536), { topK: 5 })).map(({ similarity }) => similarity)).toEqual([0, 0]);
  });

  test('takes vectors that are parts of a larger array as they are', async () => {
    const all = randomVector(createRandom(8));
    const large = new Float32Array(3 * 1536);
    large.set(all, 1536);
    const { index } = await startWith(oneOf([large.subarray(1536, 3072)]));
    expect((await index.query(large.subarray(1536, 3072), { topK: 1 }))[0]!.similarity).toBeCloseTo(1, 3);
  });

  test('whatever is put and removed, it holds what a plain table would', async () => {
    const vectors = manyRandom(8);
    const step = fc.record({ puts: fc.boolean(), ids: fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 120 }), pick: fc.nat(7) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
        const { index, settle } = await start();
        const table = new Map<number, { vector: Float32Array; documentId: number }>();
        for (const { puts, ids, pick } of steps) {
          const items = ids.map((id, position) => ({ id, documentId: (position % 3) + 1, vector: vectors[(pick + position) % 8]! }));
          if (puts) for (const { id, ...rest } of items) table.set(id, rest);
          else for (const id of ids) table.delete(id);
          await (puts ? index.upsert(items) : index.remove(ids));
          settle();
        }
        const all = Array.from({ length: 150 }, (_, position) => position + 1);
        const told = await index.similarities(all, vectors[0]!);
        expect(new Set(told.keys())).toEqual(new Set(table.keys()));
        for (const [id, { vector }] of table) expect(told.get(id)).toBeCloseTo(cosineSimilarity(vector, vectors[0]!), 3);
        for (const documentId of [1, 2, 3]) {
          const found = await index.query(vectors[0]!, { topK: 100, documentIds: [documentId] });
          const held = [...table.values()].filter((row) => row.documentId === documentId).length;
          expect(found).toHaveLength(Math.min(100, held));
          for (const { id } of found) expect(table.get(id)?.documentId).toBe(documentId);
        }
      }),
      { numRuns: 12 },
    );
  });
});
