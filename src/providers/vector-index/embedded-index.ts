import { callDurableObject } from '../../library/platform/call-durable-object.ts';
import { checkTopK, checkVector, dimensions } from './vector-limits.ts';
import type { VectorIndex, VectorItem, VectorMatch, VectorQuery } from './vector-index.ts';

/** 6 MiB: a message to a Durable Object may have 32 MiB. */
const itemsPerCall = 1000;

type Namespace = Env['VECTOR_INDEX'];
type Stub = ReturnType<Namespace['getByName']>;

/** Vectors in the organization's own Durable Object, found as soon as they are put. Good for 20,000. */
export class EmbeddedIndex implements VectorIndex {
  readonly #namespace: Namespace;
  readonly #name: string;

  constructor(namespace: Namespace, organizationId: number) {
    this.#namespace = namespace;
    this.#name = String(organizationId);
  }

  async upsert(items: VectorItem[]): Promise<void> {
    for (const { vector } of items) checkVector(vector);
    for (let from = 0; from < items.length; from += itemsPerCall) {
      const part = items.slice(from, from + itemsPerCall);
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
    for (let from = 0; from < ids.length; from += itemsPerCall) {
      const part = await this.#call((object) => object.read(ids.slice(from, from + itemsPerCall)));
      for (const [index, id] of part.ids.entries()) found.set(id, part.vectors.slice(index * dimensions, (index + 1) * dimensions));
    }
    return found;
  }

  #call<Answer>(call: (object: Stub) => Promise<Answer>): Promise<Answer> {
    return callDurableObject(() => this.#namespace.getByName(this.#name), call);
  }
}

/** A view travels with all that it is a view of. */
const copyVector = (vector: Float32Array): Float32Array => vector.slice();
