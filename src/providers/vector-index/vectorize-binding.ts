import { ServiceError } from '../../library/errors.ts';

export interface VectorizeVector {
  id: string;
  values: Float32Array | number[];
  namespace?: string;
  metadata?: Record<string, string | number | boolean>;
}

export interface VectorizeQuery {
  topK: number;
  namespace: string;
  returnValues: boolean;
  returnMetadata: 'none';
  filter?: Record<string, { $in: number[] }>;
}

/** The used methods of a Vectorize binding (V2); `wrangler types` describes V1. */
export interface VectorizeBinding {
  /** Takes effect some seconds after the answer. */
  upsert(vectors: VectorizeVector[]): Promise<{ mutationId: string }>;
  deleteByIds(ids: string[]): Promise<{ mutationId: string }>;
  getByIds(ids: string[]): Promise<VectorizeVector[]>;
  query(
    vector: Float32Array,
    options: VectorizeQuery,
  ): Promise<{ matches: { id: string; score: number; values?: Float32Array | number[] }[] }>;
}

/** The binding VECTORS. Throws `provider_failed` when it is missing. */
export function getVectorizeBinding(bindings: Env): VectorizeBinding {
  const { VECTORS } = bindings as unknown as { VECTORS?: VectorizeBinding };
  if (VECTORS) return VECTORS;
  throw notBoundError();
}

/** The error of a call. `wrangler dev` binds VECTORS without an index; its error becomes one that says what to do. */
export const toVectorizeError = (error: unknown): unknown =>
  error instanceof Error && error.message.includes('needs to be run remotely') ? notBoundError() : error;

const notBoundError = () =>
  new ServiceError(
    'provider_failed',
    'The organization’s vectors belong into Vectorize, and no Vectorize index is bound as VECTORS; locally there is none. Bind one of 1536 dimensions, with the metric cosine and a metadata index of numbers on document_id, in wrangler.toml; or set VECTOR_BACKEND to "embedded", which counts for organizations without vectors, and move the others: npm run organization -- move-vectors <organization id> embedded',
  );
