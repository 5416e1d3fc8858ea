import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { StoredVectors } from '../../durable-objects/vector-index/stored-vectors.ts';
import { getVectorIndex } from '../../src/providers/vector-index/get-vector-index.ts';
import { cosineSimilarity } from '../../src/providers/vector-index/cosine.ts';
import { newOrganization } from '../support/organization.ts';
import { dimensions, mixedVectors, findNearest, randomVectorNear, createRandom, randomVector } from '../support/vectors.ts';

async function start(vectors: Float32Array[] = []) {
  const { id } = await newOrganization();
  const index = getVectorIndex(env, 'embedded', id);
  const stub = () => env.VECTOR_INDEX.getByName(String(id));
  const put = (from: number, more: Float32Array[]) =>
    index.upsert(more.map((vector, position) => ({ id: from + position, documentId: 1, vector })));
  if (vectors.length) await put(1, vectors);
  const tables = () =>
    runInDurableObject(stub(), (_object, { storage }) =>
      storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
    );
  return { index, stub, put, tables };
}

/** Share of the true ten nearest that are found, by questions near to a vector each. */
async function recallAtTen(index: ReturnType<typeof getVectorIndex>, vectors: Float32Array[], questions: number, random: () => number) {
  let found = 0;
  for (let question = 0; question < questions; question++) {
    const query = randomVectorNear(vectors[Math.floor(random() * vectors.length)]!, 1, random);
    const truth = new Set(findNearest(vectors, query, 10).map((position) => position + 1));
    const matches = await index.query(query, { topK: 10 });
    found += matches.filter(({ id }) => truth.has(id)).length;
    for (const { id, similarity } of matches) expect(Math.abs(similarity - cosineSimilarity(vectors[id - 1]!, query))).toBeLessThan(1e-5);
  }
  return found / questions / 10;
}

describe('an index of 20,000 vectors', { tags: 'soak' }, () => {
  const random = createRandom(20_000);
  const vectors = mixedVectors(20_000, random);
  const started = start(vectors);

  test('finds at least 99 of 100 that a plain scan over floats finds', async () => {
    const { index } = await started;
    expect(await recallAtTen(index, vectors, 15, random)).toBeGreaterThanOrEqual(0.99);
  });

  test('holds less than 60 MB in memory', async () => {
    const { stub } = await started;
    const bytes = await runInDurableObject(stub(), (_object, { storage }) => new StoredVectors(storage).bytes);
    expect(bytes).toBeLessThan(32e6);
  });

  test('refuses one more vector, with a sentence that names what takes more', async () => {
    const { index, put } = await started;
    const refused = put(20_000, [vectors[0]!, vectors[1]!]);
    await expect(refused).rejects.toMatchObject({
      name: 'ServiceError',
      code: 'provider_failed',
      message: expect.stringMatching(/holds 20,000 passages.*takes 20,000.*move-vectors/),
    });
    const told = await index.similarities([20_000, 20_001], vectors[19_999]!);
    expect(told).toEqual(new Map([[20_000, expect.closeTo(1, 5)]]));
  });

  test('accepts a vector that replaces another, and one more after a removal', async () => {
    const { index, put } = await started;
    await put(20_000, [vectors[0]!]);
    await index.remove([1]);
    await put(30_000, [vectors[1]!]);
    await expect(put(30_001, [vectors[1]!])).rejects.toThrow('move-vectors');
    expect((await index.query(vectors[1]!, { topK: 2 })).map(({ id }) => id)).toEqual([2, 30_000]);
  });
});

test('an index of 1,000 vectors finds at least 99 of 100 that a plain scan finds', async () => {
  const random = createRandom(1000);
  const vectors = mixedVectors(1000, random);
  const { index } = await start(vectors);
  expect(await recallAtTen(index, vectors, 30, random)).toBeGreaterThanOrEqual(0.99);
});

test('vectors of a few numbers other than 0 are found as surely', async () => {
  const random = createRandom(3);
  const sparse = () => {
    const vector = new Float32Array(dimensions);
    for (let count = 0; count < 60; count++) vector[Math.floor(random() * dimensions)]! += random() < 0.5 ? 1 : -1;
    return vector;
  };
  const vectors = Array.from({ length: 500 }, sparse);
  const { index } = await start(vectors);
  for (const query of vectors.slice(0, 20)) {
    const [first, ...others] = await index.query(query, { topK: 10 });
    expect(first!.similarity).toBeCloseTo(1, 5);
    for (const { id, similarity } of others) expect(Math.abs(similarity - cosineSimilarity(vectors[id - 1]!, query))).toBeLessThan(1e-4);
  }
});

test('an evicted object answers from its storage as before', async () => {
  const vectors = mixedVectors(150, createRandom(5));
  const { index, stub, put } = await start(vectors);
  await index.remove([3, 4, 140]);
  await put(500, [vectors[3]!]);
  const ask = async () => [await index.query(vectors[3]!, { topK: 100 }), await index.similarities([1, 3, 4, 150, 500], vectors[0]!)];
  const before = await ask();
  await evictDurableObject(stub());
  expect(await ask()).toEqual(before);
});

test('a write that fails half-way leaves no part of itself in memory or in storage', async () => {
  const vectors = mixedVectors(140, createRandom(6));
  const { index, stub, put } = await start(vectors);
  const ask = async () => [
    await index.query(vectors[0]!, { topK: 100 }),
    await index.similarities([1, 2, 139, 140, 141, 145], vectors[0]!),
  ];
  const before = await ask();
  await evictDurableObject(stub());
  for (const breakAt of ['INTO fine', 'INTO page', 'FROM fine WHERE']) {
    await runInDurableObject(stub(), (object, state) => {
      const { storage } = state;
      const exec = (statement: string, ...values: SqlStorageValue[]) => {
        if (statement.includes(breakAt)) throw Object.assign(new Error('the disk is full'), { code: 'broken' });
        return storage.sql.exec(statement, ...values);
      };
      const broken = { sql: { exec }, transactionSync: (work: () => unknown) => storage.transactionSync(work) };
      Object.defineProperty(object, 'ctx', { value: { ...state, storage: broken }, configurable: true });
    });
    const write = breakAt.startsWith('INTO') ? put(138, vectors.slice(0, 8)) : index.remove([1, 2]);
    await expect(write).rejects.toThrow('the disk is full');
    expect(await ask()).toEqual(before);
    await evictDurableObject(stub());
    expect(await ask()).toEqual(before);
    await evictDurableObject(stub());
  }
});

test('an index that was only queried, or whose last vector was removed, stores nothing', async () => {
  const { index, tables, put } = await start();
  const vector = randomVector(createRandom(7));
  expect(await index.query(vector, { topK: 5 })).toEqual([]);
  expect(await index.areVisible([1])).toBe(false);
  await index.remove([1]);
  expect(await tables()).toEqual([]);
  await put(1, [vector, vector]);
  expect(await tables()).toHaveLength(2);
  await index.remove([2, 1]);
  expect(await tables()).toEqual([]);
});

test('places that became free are taken again, so that replacing documents does not grow the storage', async () => {
  const vectors = mixedVectors(256, createRandom(8));
  const { index, stub, put } = await start(vectors);
  const rows = () =>
    runInDurableObject(stub(), (_object, { storage }) =>
      storage.sql
        .exec<{ pages: number; fine: number }>('SELECT (SELECT count(*) FROM page) AS pages, (SELECT count(*) FROM fine) AS fine')
        .one(),
    );
  expect(await rows()).toEqual({ pages: 4, fine: 256 });
  const oddIds = vectors.map((_, position) => position + 1).filter((id) => id % 2);
  for (const isEvicted of [false, true]) {
    await index.remove(isEvicted ? oddIds.map((_, position) => 1000 + position) : oddIds);
    if (isEvicted) await evictDurableObject(stub());
    await put(isEvicted ? 2000 : 1000, vectors.slice(0, 128));
    expect(await rows()).toEqual({ pages: 4, fine: 256 });
  }
});

test('vectors that are put during the removal of the last vector stay', async () => {
  const vector = randomVector(createRandom(9));
  const { index, stub, put } = await start();
  for (let round = 0; round < 5; round++) {
    await put(1, [vector]);
    await Promise.all([index.remove([1]), put(2, [vector])]);
    await evictDurableObject(stub());
    expect((await index.query(vector, { topK: 5 })).map(({ id }) => id)).toEqual([2]);
    await Promise.all([index.remove([2]), index.remove([2])]);
  }
});
