/** The vector of a chunk; `id` is the chunk's. Only the direction of the vector counts, not its length. */
export interface VectorItem {
  id: number;
  documentId: number;
  vector: Float32Array;
}

/** Cosine similarity, -1 to 1, within 0.01 of the exact one. */
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
 * The vectors of one organization. Every method is repeatable. A ServiceError `provider_failed` tells the operator what to do and lasts
 * until then; any other error is the platform's and may be temporary. Unknown ids and ids of other organizations are left out.
 */
export interface VectorIndex {
  /**
   * Stores vectors, replacing those with the same ids. Queries find them once `areVisible` answers true: at once in the embedded index,
   * some seconds later in Vectorize. Of more than 1,000 vectors, some may be stored although others are refused.
   */
  upsert(items: VectorItem[]): Promise<void>;
  /** Removes vectors. */
  remove(ids: number[]): Promise<void>;
  /** The most similar vectors first; equal ones by id. */
  query(vector: Float32Array, query: VectorQuery): Promise<VectorMatch[]>;
  /** The similarity of each stored vector among `ids`, by id. */
  similarities(ids: number[], vector: Float32Array): Promise<Map<number, number>>;
  /** Whether queries find all of the vectors. */
  areVisible(ids: number[]): Promise<boolean>;
  /** The stored vectors among `ids`, to copy them to another index. Their lengths may differ from the lengths at upsert. */
  read(ids: number[]): Promise<Map<number, Float32Array>>;
}

/** `vectorize`: the index bound as VECTORS. A second index, for more than its 50,000 namespaces, would get another name. */
export type IndexName = 'embedded' | 'vectorize';
