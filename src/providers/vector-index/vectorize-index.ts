import { checkTopK, checkVector } from './vector-limits.ts';
import { compareMatches, cosineSimilarity } from './cosine.ts';
import type { VectorIndex, VectorItem, VectorMatch, VectorQuery } from './vector-index.ts';
import { toVectorizeError, type VectorizeBinding, type VectorizeVector } from './vectorize-binding.ts';

// Limits of Vectorize: those of reading and deleting are not documented, it answers error 40007 beyond them.
const itemsPerUpsert = 1000;
const idsPerDelete = 100;
const idsPerRead = 20;
const maxMatchesWithValues = 20;
const maxFilterBytes = 2048;

/**
 * Vectors in a Vectorize index of the metric cosine, a namespace an organization. What is written is found some seconds later. Ids are those
 * of the whole index, so they begin with the organization: nobody reads, replaces or deletes what is another's.
 */
export class VectorizeIndex implements VectorIndex {
  readonly #binding: VectorizeBinding;
  readonly #namespace: string;

  constructor(binding: VectorizeBinding, organizationId: number) {
    this.#binding = binding;
    this.#namespace = String(organizationId);
  }

  async upsert(items: VectorItem[]): Promise<void> {
    for (const { vector } of items) checkVector(vector);
    // One mutation may hold an id once.
    const latest = [...new Map(items.map((item) => [item.id, item])).values()];
    for (const part of splitIntoBatches(latest, itemsPerUpsert))
      await this.#call((binding) =>
        binding.upsert(
          part.map(({ id, documentId, vector }) => ({
            id: this.#toVectorId(id),
            values: vector,
            namespace: this.#namespace,
            metadata: { document_id: documentId },
          })),
        ),
      );
  }

  async remove(ids: number[]): Promise<void> {
    for (const part of splitIntoBatches(ids, idsPerDelete))
      await this.#call((binding) => binding.deleteByIds(part.map((id) => this.#toVectorId(id))));
  }

  async query(vector: Float32Array, { topK, documentIds }: VectorQuery): Promise<VectorMatch[]> {
    checkVector(vector);
    checkTopK(topK);
    const filters = documentIds === undefined ? [undefined] : toFilters(documentIds);
    const found = await Promise.all(filters.map((filter) => this.#queryOnce(vector, topK, filter)));
    return found.flat().toSorted(compareMatches).slice(0, topK);
  }

  async similarities(ids: number[], vector: Float32Array): Promise<Map<number, number>> {
    checkVector(vector);
    const found = await Promise.all(splitIntoBatches([...new Set(ids)], idsPerRead).map((part) => this.#read(part)));
    return new Map(found.flat().map(({ id, values }) => [this.#toChunkId(id), cosineSimilarity(values, vector)]));
  }

  async areVisible(ids: number[]): Promise<boolean> {
    for (const part of splitIntoBatches([...new Set(ids)], idsPerRead)) if ((await this.#read(part)).length < part.length) return false;
    return true;
  }

  async read(ids: number[]): Promise<Map<number, Float32Array>> {
    const found = await Promise.all(splitIntoBatches([...new Set(ids)], idsPerRead).map((part) => this.#read(part)));
    return new Map(found.flat().map(({ id, values }) => [this.#toChunkId(id), Float32Array.from(values)]));
  }

  /** Without their values matches have scores that are estimates, so that the vectors are read afterwards: scores are shown, and compared. */
  async #queryOnce(vector: Float32Array, topK: number, filter: { document_id: { $in: number[] } } | undefined): Promise<VectorMatch[]> {
    const returnValues = topK <= maxMatchesWithValues;
    const { matches } = await this.#call((binding) =>
      binding.query(vector, {
        topK,
        namespace: this.#namespace,
        returnValues,
        returnMetadata: 'none',
        ...(filter && { filter }),
      }),
    );
    if (returnValues)
      return matches.map(({ id, values = [] }) => ({ id: this.#toChunkId(id), similarity: cosineSimilarity(values, vector) }));
    const exact = await this.similarities(
      matches.map(({ id }) => this.#toChunkId(id)),
      vector,
    );
    return [...exact].map(([id, similarity]) => ({ id, similarity }));
  }

  #read(ids: number[]): Promise<VectorizeVector[]> {
    return this.#call((binding) => binding.getByIds(ids.map((id) => this.#toVectorId(id))));
  }

  async #call<Answer>(call: (binding: VectorizeBinding) => Promise<Answer>): Promise<Answer> {
    try {
      return await call(this.#binding);
    } catch (error) {
      throw toVectorizeError(error);
    }
  }

  #toVectorId(id: number): string {
    return `${this.#namespace}/${id}`;
  }

  #toChunkId(name: string): number {
    return Number(name.slice(this.#namespace.length + 1));
  }
}

function splitIntoBatches<Item>(items: Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, part) => items.slice(part * size, (part + 1) * size));
}

/** As many filters as it takes for each to be short enough as JSON. */
function toFilters(documentIds: number[]): { document_id: { $in: number[] } }[] {
  const room = maxFilterBytes - 1 - JSON.stringify({ document_id: { $in: [] } }).length;
  const filters: number[][] = [];
  let left = 0;
  for (const id of new Set(documentIds)) {
    const bytes = String(id).length + 1;
    if (bytes > left) {
      filters.push([]);
      left = room;
    }
    left -= bytes;
    filters.at(-1)!.push(id);
  }
  return filters.map((ids) => ({ document_id: { $in: ids } }));
}
