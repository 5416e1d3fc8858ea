import pMap from 'p-map';
import { splitIntoBatches } from '../../library/collections.ts';
import { checkTopK, checkVector } from './vector-limits.ts';
import { compareMatches, cosineSimilarity } from './cosine.ts';
import type { VectorIndex, VectorItem, VectorMatch, VectorQuery } from './vector-index.ts';
import { toVectorizeError, type VectorizeBinding, type VectorizeVector } from './vectorize-binding.ts';

// Limits of Vectorize. Those of reading and deleting are not documented; beyond them it answers error 40007.
const itemsPerUpsert = 1000;
const idsPerDelete = 100;
const idsPerRead = 20;
const maxMatchesWithValues = 20;
const maxFilterBytes = 2048;
const maxConcurrentCalls = 6;

/**
 * Vectors in a Vectorize index with the metric cosine, one namespace an organization. Queries find a vector some seconds after its upsert.
 * Ids are shared by the whole index, so each begins with the organization's id: no organization reads, replaces or deletes another's vector.
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
    // A mutation must not contain an id twice.
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
    const found = await pMap(filters, (filter) => this.#queryOnce(vector, topK, filter), { concurrency: maxConcurrentCalls });
    return found.flat().toSorted(compareMatches).slice(0, topK);
  }

  async similarities(ids: number[], vector: Float32Array): Promise<Map<number, number>> {
    checkVector(vector);
    const found = await this.#readAll(ids);
    return new Map(found.map(({ id, values }) => [this.#toChunkId(id), cosineSimilarity(values, vector)]));
  }

  async areVisible(ids: number[]): Promise<boolean> {
    for (const part of splitIntoBatches([...new Set(ids)], idsPerRead)) if ((await this.#read(part)).length < part.length) return false;
    return true;
  }

  async read(ids: number[]): Promise<Map<number, Float32Array>> {
    const found = await this.#readAll(ids);
    return new Map(found.map(({ id, values }) => [this.#toChunkId(id), Float32Array.from(values)]));
  }

  /** Scores of matches without values are estimates. The vectors are read afterwards, because scores are shown and compared. */
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

  async #readAll(ids: number[]): Promise<VectorizeVector[]> {
    const batches = splitIntoBatches([...new Set(ids)], idsPerRead);
    return (await pMap(batches, (batch) => this.#read(batch), { concurrency: maxConcurrentCalls })).flat();
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

/** Splits the document ids into filters within Vectorize's limit of bytes. */
function toFilters(documentIds: number[]): { document_id: { $in: number[] } }[] {
  const maxIdBytes = maxFilterBytes - 1 - JSON.stringify({ document_id: { $in: [] } }).length;
  const filters: number[][] = [];
  let freeBytes = 0;
  for (const id of new Set(documentIds)) {
    const bytes = String(id).length + 1;
    if (bytes > freeBytes) {
      filters.push([]);
      freeBytes = maxIdBytes;
    }
    freeBytes -= bytes;
    filters.at(-1)!.push(id);
  }
  return filters.map((ids) => ({ document_id: { $in: ids } }));
}
