import type { VectorMatch } from './vector-index.ts';

type Answer<Value> = Value | Promise<Value>;

/**
 * The RPC surface of the Durable Object with the vectors of one organization; the object's name is the organization's id. A vector has
 * 1536 numbers. Every method is repeatable.
 */
export interface VectorIndexRpc {
  /** Stores vectors; `vectors` holds 1536 numbers for each id. Stores all or none: beyond 20,000 vectors it throws `provider_failed`. */
  upsert(ids: number[], documentIds: number[], vectors: Float32Array): Answer<void>;
  /** Removes vectors; unknown ids are ignored. */
  remove(ids: number[]): Answer<void>;
  /** The `topK` most similar vectors of the given documents, or of all. */
  query(vector: Float32Array, topK: number, documentIds?: number[]): Answer<VectorMatch[]>;
  /** The similarity of each stored vector among `ids`, by id. */
  similarities(ids: number[], vector: Float32Array): Answer<Map<number, number>>;
  /** The stored vectors among `ids`; `vectors` holds 1536 numbers for each. */
  read(ids: number[]): Answer<{ ids: number[]; vectors: Float32Array }>;
  /** Whether all of the vectors are stored. */
  hasAll(ids: number[]): Answer<boolean>;
  /** Deletes everything, because the organization is being deleted. */
  deleteAllData(): Answer<void>;
}

/** The object as the Worker calls it. */
export type VectorIndexStub = {
  [Method in keyof VectorIndexRpc]: (
    ...parameters: Parameters<VectorIndexRpc[Method]>
  ) => Promise<Awaited<ReturnType<VectorIndexRpc[Method]>>>;
};

export interface VectorIndexNamespace {
  getByName(name: string): VectorIndexStub;
}
