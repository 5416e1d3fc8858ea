import { EmbeddedIndex } from './embedded-index.ts';
import { VectorizeIndex } from './vectorize-index.ts';
import { getVectorizeBinding } from './vectorize-binding.ts';

/** One passage; `id` is that of its chunk. The length of the vector does not matter, only its direction. */
export interface VectorItem {
  id: number;
  documentId: number;
  vector: Float32Array;
}

/** Cosine similarity, -1 to 1, within 0.01 of the true one. */
export interface VectorMatch {
  id: number;
  similarity: number;
}

export interface VectorQuery {
  /** At most 100. */
  topK: number;
  /** Absent: all. Empty: none. */
  documentIds?: number[] | undefined;
}

/**
 * The vectors of one organization. Every method is repeatable. A ServiceError `provider_failed` says what to do and comes again until it is
 * done; what else is thrown is the platform's, and may pass. Ids that are not there are left out, as are those of another organization.
 */
export interface VectorIndex {
  /**
   * Puts vectors in the place of those with the same ids. They are found once `areVisible` says so: at once in the embedded index, some
   * seconds later in Vectorize. When more than 1,000 are given and some are refused, others may be there.
   */
  upsert(items: VectorItem[]): Promise<void>;
  remove(ids: number[]): Promise<void>;
  /** The most similar first; equal ones by id. */
  query(vector: Float32Array, query: VectorQuery): Promise<VectorMatch[]>;
  /** The similarity of each of these ids that is there, by id. */
  similarities(ids: number[], vector: Float32Array): Promise<Map<number, number>>;
  /** Whether all of them can be found by now. */
  areVisible(ids: number[]): Promise<boolean>;
  /** The vectors of those that are there, to be put into another index; their lengths may differ from those that were put. */
  read(ids: number[]): Promise<Map<number, Float32Array>>;
}

/** `vectorize` is the index bound as VECTORS. A second one, for more organizations than its 50,000 namespaces, is a further name. */
export type IndexName = 'embedded' | 'vectorize';

/** Throws `provider_failed` when nothing is bound under that name. */
export const getVectorIndex = (bindings: Env, name: IndexName, organizationId: number): VectorIndex =>
  name === 'vectorize'
    ? new VectorizeIndex(getVectorizeBinding(bindings), organizationId)
    : new EmbeddedIndex(bindings.VECTOR_INDEX, organizationId);
