import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { getVectorIndex } from '../../src/providers/vector-index/get-vector-index.ts';
import { VectorizeIndex } from '../../src/providers/vector-index/vectorize-index.ts';
import { StrictVectorize } from '../support/vectorize.ts';
import { randomVectorNear, createRandom, randomVector } from '../support/vectors.ts';

const random = createRandom(1);
const vector = randomVector(random);
const numbers = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);
const items = (count: number) => numbers(count).map((id) => ({ id, documentId: id, vector }));

test('a missing binding says how the index is made, and which setting does without', () => {
  expect(() => getVectorIndex({ ...env, VECTORS: undefined } as unknown as Env, 'vectorize', 1)).toThrow(
    expect.objectContaining({
      code: 'provider_failed',
      message: expect.stringMatching(/VECTORS.*1536 dimensions.*cosine.*document_id.*VECTOR_BACKEND to "embedded"/),
    }),
  );
});

test('writes a thousand vectors a request, deletes a hundred, and reads twenty', async () => {
  const vectorize = new StrictVectorize();
  const index = new VectorizeIndex(vectorize, 7);
  await index.upsert(items(2001));
  vectorize.settle();
  expect(await index.areVisible(numbers(45))).toBe(true);
  await index.remove(numbers(201));
  expect(vectorize.calls).toMatchObject({ upsert: [1000, 1000, 1], getByIds: [20, 20, 5], deleteByIds: [100, 100, 1] });
});

test('a look for what is not there yet stops at the first that is missing', async () => {
  const vectorize = new StrictVectorize();
  expect(await new VectorizeIndex(vectorize, 7).areVisible(numbers(200))).toBe(false);
  expect(vectorize.calls.getByIds).toEqual([20]);
});

test('up to twenty matches come with their values; more are read afterwards, since their scores are estimates', async () => {
  const vectorize = new StrictVectorize();
  const index = new VectorizeIndex(vectorize, 7);
  await index.upsert(numbers(60).map((id) => ({ id, documentId: 1, vector: randomVectorNear(vector, id / 30, random) })));
  vectorize.settle();
  await index.query(vector, { topK: 20 });
  expect(vectorize.calls.getByIds).toEqual([]);
  await index.query(vector, { topK: 50 });
  expect(vectorize.calls.getByIds).toEqual([20, 20, 10]);
  expect(vectorize.calls.query).toEqual([
    { topK: 20, namespace: '7', returnValues: true, returnMetadata: 'none' },
    { topK: 50, namespace: '7', returnValues: false, returnMetadata: 'none' },
  ]);
});

test('a filter too long for one request is asked for in several, and as few as it takes', async () => {
  const vectorize = new StrictVectorize();
  const index = new VectorizeIndex(vectorize, 7);
  await index.query(vector, { topK: 5, documentIds: numbers(300, 2 ** 40) });
  const asked = vectorize.calls.query.map(({ filter }) => filter!['document_id']!.$in);
  expect(asked.flat()).toEqual(numbers(300, 2 ** 40));
  expect(asked).toHaveLength(Math.ceil((300 * 14) / 2020));
});

test('where wrangler dev has put nothing behind the binding, the answer says so', async () => {
  const local = { ...new StrictVectorize(), getByIds: () => Promise.reject(new Error('Binding VECTORS needs to be run remotely')) };
  const index = new VectorizeIndex(local as never, 7);
  await expect(index.areVisible([1])).rejects.toMatchObject({
    code: 'provider_failed',
    message: expect.stringContaining('locally there is none'),
  });
});

test('what Vectorize says comes through', async () => {
  const down = { ...new StrictVectorize(), query: () => Promise.reject(new Error('VECTOR_QUERY_ERROR: internal error')) };
  await expect(new VectorizeIndex(down as never, 7).query(vector, { topK: 5 })).rejects.toThrow('VECTOR_QUERY_ERROR');
});
