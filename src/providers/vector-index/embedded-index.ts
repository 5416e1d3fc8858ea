import { splitIntoBatches } from '../../library/collections.ts';
import { callDurableObject } from '../../library/platform/call-durable-object.ts';
import type { VectorIndexNamespace, VectorIndexStub } from './rpc.ts';
import { checkTopK, checkVector, dimensions } from './vector-limits.ts';
import type { VectorIndex, VectorItem, VectorMatch, VectorQuery } from './vector-index.ts';

/** 6 MiB of vectors; a message to a Durable Object may have 32 MiB. */
const itemsPerCall = 1000;

/** Vectors in a Durable Object of the organization, for up to 20,000 vectors. Queries find them at once. */
export class EmbeddedIndex implements VectorIndex {
  readonly #namespace: VectorIndexNamespace;
  readonly #name: string;

  constructor(namespace: VectorIndexNamespace, organizationId: number) {
    this.#namespace = namespace;
    this.#name = String(organizationId);
  }

  async upsert(items: VectorItem[]): Promise<void> {
    for (const { vector } of items) checkVector(vector);
    for (const part of splitIntoBatches(items, itemsPerCall)) {
      const vectors = new Float32Array(part.length * dimensions);
      for (const [index, { vector }] of part.entries()) vectors.set(vector, index * dimensions);
      const ids = part.map(({ id }) => id);
      const documentIds = part.map(({ documentId }) => documentId);
      await this.#call((object) => object.upsert(ids, documentIds, vectors));
    }
  }

  async remove(ids: number[]): Promise<void> {
    if (ids.length) await this.#call((object) => object.remove(ids));
  }

  async query(vector: Float32Array, { topK, documentIds }: VectorQuery): Promise<VectorMatch[]> {
    checkVector(vector);
    checkTopK(topK);
    if (documentIds?.length === 0) return [];
    return this.#call((object) => object.query(copyVector(vector), topK, documentIds));
  }

  async similarities(ids: number[], vector: Float32Array): Promise<Map<number, number>> {
    checkVector(vector);
    return ids.length ? this.#call((object) => object.similarities(ids, copyVector(vector))) : new Map();
  }

  async areVisible(ids: number[]): Promise<boolean> {
    return ids.length === 0 || this.#call((object) => object.hasAll(ids));
  }

  async read(ids: number[]): Promise<Map<number, Float32Array>> {
    const found = new Map<number, Float32Array>();
    for (const part of splitIntoBatches(ids, itemsPerCall)) {
      const stored = await this.#call((object) => object.read(part));
      for (const [index, id] of stored.ids.entries()) found.set(id, stored.vectors.slice(index * dimensions, (index + 1) * dimensions));
    }
    return found;
  }

  #call<Answer>(call: (object: VectorIndexStub) => Promise<Answer>): Promise<Answer> {
    return callDurableObject(() => this.#namespace.getByName(this.#name), call);
  }
}

/** A message carries the whole buffer of a view, so the vector is copied out of its buffer. */
const copyVector = (vector: Float32Array): Float32Array => vector.slice();
