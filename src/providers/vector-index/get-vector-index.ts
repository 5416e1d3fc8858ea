import { EmbeddedIndex } from './embedded-index.ts';
import type { IndexName, VectorIndex } from './vector-index.ts';
import { getVectorizeBinding } from './vectorize-binding.ts';
import { VectorizeIndex } from './vectorize-index.ts';

/** The organization's vectors in the index of this name. Throws `provider_failed` when no index is bound under the name. */
export const getVectorIndex = (bindings: Env, name: IndexName, organizationId: number): VectorIndex =>
  name === 'vectorize'
    ? new VectorizeIndex(getVectorizeBinding(bindings), organizationId)
    : new EmbeddedIndex(bindings.VECTOR_INDEX, organizationId);
