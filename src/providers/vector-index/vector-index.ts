import type { Settings } from '../../settings.ts';
import { EmbeddedIndex } from './embedded-index.ts';
import { VectorizeIndex } from './vectorize-index.ts';
import { bindingOf } from './vectorize-binding.ts';

/** Numbers in a vector: those of text-embedding-3-small, and the most that Vectorize takes. */
export { dimensions } from './check-vectors.ts';

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
 * The vectors of one organization. What fails throws a ServiceError `provider_failed` that says what to do, or what the platform threw; every
 * method is repeatable. Ids that are not there are left out, also those of another organization.
 */
export interface VectorIndex {
  /** Puts vectors in the place of those with the same ids. They are found at once, or once `areVisible` says so. */
  upsert(items: VectorItem[]): Promise<void>;
  remove(ids: number[]): Promise<void>;
  /** The most similar first; equal ones by id. */
  query(vector: Float32Array, query: VectorQuery): Promise<VectorMatch[]>;
  /** The similarity of each of these ids that is there, by id. */
  similarities(ids: number[], vector: Float32Array): Promise<Map<number, number>>;
  /** Whether all of them can be found by now. */
  areVisible(ids: number[]): Promise<boolean>;
}

/** Where VECTOR_BACKEND says; a Context does for `place`. */
export const vectorIndexOf = (place: { bindings: Env; settings: Pick<Settings, 'VECTOR_BACKEND'> }, organizationId: number): VectorIndex =>
  place.settings.VECTOR_BACKEND === 'vectorize'
    ? new VectorizeIndex(bindingOf(place.bindings), organizationId)
    : new EmbeddedIndex(place.bindings.VECTOR_INDEX, organizationId);
