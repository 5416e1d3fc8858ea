import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { peerDirectory, type PeerName } from './install.ts';

/** Answers the positions, from 1 on, of the nearest vectors to a question. */
export type NearestSearch = (question: Float32Array, count: number) => number[];

const load = <Module>(name: PeerName): Module => createRequire(join(peerDirectory(name), 'package.json'))(name) as Module;

interface Hnswlib {
  HierarchicalNSW: new (
    space: 'cosine',
    dimensions: number,
  ) => {
    initIndex(options: { maxElements: number; m: number; efConstruction: number }): void;
    addPoint(vector: number[], label: number): void;
    setEf(ef: number): void;
    searchKnn(vector: number[], count: number): { neighbors: number[] };
  };
}

/** hnswlib-node with the values that its documentation begins with, and as many candidates a question as find nearly all. */
export function searchWithHnswlib(vectors: Float32Array[]): NearestSearch {
  const { HierarchicalNSW } = load<Hnswlib>('hnswlib-node');
  const index = new HierarchicalNSW('cosine', vectors[0]!.length);
  index.initIndex({ maxElements: vectors.length, m: 16, efConstruction: 200 });
  for (const [position, vector] of vectors.entries()) index.addPoint([...vector], position + 1);
  index.setEf(200);
  return (question, count) => index.searchKnn([...question], count).neighbors;
}

/** sqlite-vec, which compares the question with each vector, over a table in memory. */
export function searchWithSqliteVec(vectors: Float32Array[]): NearestSearch {
  const database = new DatabaseSync(':memory:', { allowExtension: true });
  load<{ load(database: DatabaseSync): void }>('sqlite-vec').load(database);
  database.exec(`CREATE VIRTUAL TABLE vector USING vec0(embedding float[${vectors[0]!.length}] distance_metric=cosine)`);
  const insert = database.prepare('INSERT INTO vector (rowid, embedding) VALUES (?, ?)');
  database.exec('BEGIN');
  for (const [position, vector] of vectors.entries()) insert.run(BigInt(position + 1), toBytes(vector));
  database.exec('COMMIT');
  const nearest = database.prepare('SELECT rowid AS id FROM vector WHERE embedding MATCH ? AND k = ? ORDER BY distance');
  return (question, count) => nearest.all(toBytes(question), count).map(({ id }) => Number(id));
}

const toBytes = (vector: Float32Array) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
