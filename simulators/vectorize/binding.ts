export type VectorizeValue = string | number | boolean;

/** A vector as the caller writes it. */
export interface VectorizeItem {
  id: string;
  values: ArrayLike<number> & { every(test: (value: number) => boolean): boolean };
  namespace?: string;
  metadata?: Record<string, unknown>;
}

/** By property: its value, or operators with their operands. */
export type VectorizeFilter = Record<string, VectorizeValue | null | Record<string, VectorizeValue | null | (VectorizeValue | null)[]>>;

export interface VectorizeOptions {
  topK?: number;
  namespace?: string;
  returnValues?: boolean;
  returnMetadata?: 'none' | 'indexed' | 'all';
  filter?: VectorizeFilter;
}

/** A stored vector. */
export interface StoredVector {
  id: string;
  values: Float32Array;
  namespace?: string;
  metadata?: Record<string, unknown>;
  /** What filters look at: properties that had a metadata index when the vector was put, strings by their first 64 bytes. */
  indexed: Record<string, VectorizeValue>;
}

/** An accepted change, which is applied later. */
export interface Mutation {
  mutationId: string;
  kind: 'insert' | 'upsert' | 'delete';
  vectors: StoredVector[];
  ids: string[];
}
