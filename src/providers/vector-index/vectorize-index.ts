import { checkTopK, checkVector } from './check-vectors.ts';
import { byRank, cosine } from './cosine.ts';
import type { VectorIndex, VectorItem, VectorMatch, VectorQuery } from './vector-index.ts';
import { failureOf, type VectorizeBinding, type VectorizeVector } from './vectorize-binding.ts';

// Limits of Vectorize: those of reading and deleting are not documented, it answers error 40007 beyond them.
const itemsAnUpsert = 1000;
const idsADelete = 100;
const idsARead = 20;
const matchesWithValues = 20;
const filterBytes = 2048;

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
    for (const part of parts(latest, itemsAnUpsert))
      await this.#ask((binding) =>
        binding.upsert(
          part.map(({ id, documentId, vector }) => ({
            id: this.#nameOf(id),
            values: vector,
            namespace: this.#namespace,
            metadata: { document_id: documentId },
          })),
        ),
      );
  }

  async remove(ids: number[]): Promise<void> {
    for (const part of parts(ids, idsADelete)) await this.#ask((binding) => binding.deleteByIds(part.map((id) => this.#nameOf(id))));
  }

  async query(vector: Float32Array, { topK, documentIds }: VectorQuery): Promise<VectorMatch[]> {
    checkVector(vector);
    checkTopK(topK);
    const filters = documentIds === undefined ? [undefined] : filtersOf(documentIds);
    const found = await Promise.all(filters.map((filter) => this.#queryOnce(vector, topK, filter)));
    return found.flat().toSorted(byRank).slice(0, topK);
  }

  async similarities(ids: number[], vector: Float32Array): Promise<Map<number, number>> {
    checkVector(vector);
    const found = await Promise.all(parts([...new Set(ids)], idsARead).map((part) => this.#read(part)));
    return new Map(found.flat().map(({ id, values }) => [this.#idOf(id), cosine(values, vector)]));
  }

  async areVisible(ids: number[]): Promise<boolean> {
    for (const part of parts([...new Set(ids)], idsARead)) if ((await this.#read(part)).length < part.length) return false;
    return true;
  }

  async read(ids: number[]): Promise<Map<number, Float32Array>> {
    const found = await Promise.all(parts([...new Set(ids)], idsARead).map((part) => this.#read(part)));
    return new Map(found.flat().map(({ id, values }) => [this.#idOf(id), Float32Array.from(values)]));
  }

  /** Without their values matches have scores that are estimates, so that the vectors are read afterwards: scores are shown, and compared. */
  async #queryOnce(vector: Float32Array, topK: number, filter: { document_id: { $in: number[] } } | undefined): Promise<VectorMatch[]> {
    const returnValues = topK <= matchesWithValues;
    const { matches } = await this.#ask((binding) =>
      binding.query(vector, {
        topK,
        namespace: this.#namespace,
        returnValues,
        returnMetadata: 'none',
        ...(filter && { filter }),
      }),
    );
    if (returnValues) return matches.map(({ id, values = [] }) => ({ id: this.#idOf(id), similarity: cosine(values, vector) }));
    const exact = await this.similarities(
      matches.map(({ id }) => this.#idOf(id)),
      vector,
    );
    return [...exact].map(([id, similarity]) => ({ id, similarity }));
  }

  #read(ids: number[]): Promise<VectorizeVector[]> {
    return this.#ask((binding) => binding.getByIds(ids.map((id) => this.#nameOf(id))));
  }

  async #ask<Answer>(call: (binding: VectorizeBinding) => Promise<Answer>): Promise<Answer> {
    try {
      return await call(this.#binding);
    } catch (error) {
      throw failureOf(error);
    }
  }

  #nameOf(id: number): string {
    return `${this.#namespace}/${id}`;
  }

  #idOf(name: string): number {
    return Number(name.slice(this.#namespace.length + 1));
  }
}

function parts<Item>(items: Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, part) => items.slice(part * size, (part + 1) * size));
}

/** As many filters as it takes for each to be short enough as JSON. */
function filtersOf(documentIds: number[]): { document_id: { $in: number[] } }[] {
  const room = filterBytes - 1 - JSON.stringify({ document_id: { $in: [] } }).length;
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
