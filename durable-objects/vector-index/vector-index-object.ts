import { DurableObject } from 'cloudflare:workers';
import { ServiceError } from '../../src/library/errors.ts';
import { dimensions } from '../../src/providers/vector-index/vector-limits.ts';
import { compareMatches } from '../../src/providers/vector-index/cosine.ts';
import type { VectorIndexRpc } from '../../src/providers/vector-index/rpc.ts';
import type { VectorMatch } from '../../src/providers/vector-index/vector-index.ts';
import { findCandidates } from './candidates.ts';
import { MemoryBudget, type MemoryHolder } from './memory-budget.ts';
import { quantize, dequantize, computeSimilarity, toUnit } from './quantized-vector.ts';
import { StoredVectors } from './stored-vectors.ts';

const maxVectors = 20_000;

const budget = new MemoryBudget();

/**
 * The vectors of one organization, whose id is the object's name. A query scans the coarse codes of all vectors in memory, then compares the
 * best candidates at full precision. The memory is a copy of the storage, loaded at first use. No method awaits between its reads and
 * writes, so calls do not interleave.
 */
export class VectorIndexObject extends DurableObject<Env> implements VectorIndexRpc {
  #stored: StoredVectors | null = null;
  readonly #memoryHolder: MemoryHolder = { forget: () => void (this.#stored = null) };
  readonly #memoryHolderRef = new WeakRef(this.#memoryHolder);

  upsert(ids: number[], documentIds: number[], vectors: Float32Array): void {
    const stored = this.#load();
    const added = new Set(ids.filter((id) => !stored.has(id))).size;
    if (stored.size + added > maxVectors) throw indexFullError(stored.size);
    const items = ids.map((id, index) => ({
      id,
      documentId: documentIds[index]!,
      vector: quantize(vectors.subarray(index * dimensions, (index + 1) * dimensions)),
    }));
    this.#change(() => stored.put(items));
  }

  async remove(ids: number[]): Promise<void> {
    const stored = this.#load();
    if (stored.size === 0) return;
    this.#change(() => stored.remove(ids));
    if (stored.size > 0) return;
    // An object without vectors keeps no storage.
    this.#stored = null;
    await this.ctx.storage.deleteAll();
  }

  async deleteAllData(): Promise<void> {
    this.#stored = null;
    await this.ctx.storage.deleteAll();
  }

  query(vector: Float32Array, topK: number, documentIds?: number[]): VectorMatch[] {
    const stored = this.#load();
    const unit = toUnit(vector);
    const candidates = findCandidates(stored.pages, unit, topK, documentIds && new Set(documentIds));
    const matches = Array.from(stored.read(candidates.map(({ id }) => id)), ({ id, vector: found }): VectorMatch => ({
      id,
      similarity: computeSimilarity(unit, found),
    }));
    return matches.toSorted(compareMatches).slice(0, topK);
  }

  similarities(ids: number[], vector: Float32Array): Map<number, number> {
    const unit = toUnit(vector);
    return new Map(Array.from(this.#load().read(ids), ({ id, vector: found }) => [id, computeSimilarity(unit, found)]));
  }

  read(ids: number[]): { ids: number[]; vectors: Float32Array } {
    const found = [...this.#load().read(ids)];
    const vectors = new Float32Array(found.length * dimensions);
    for (const [index, { vector }] of found.entries()) vectors.set(dequantize(vector), index * dimensions);
    return { ids: found.map(({ id }) => id), vectors };
  }

  hasAll(ids: number[]): boolean {
    const stored = this.#load();
    return ids.every((id) => stored.has(id));
  }

  #load(): StoredVectors {
    this.#stored ??= new StoredVectors(this.ctx.storage);
    budget.use(this.#memoryHolderRef, this.#stored.bytes);
    return this.#stored;
  }

  #change(change: () => void): void {
    try {
      change();
    } catch (error) {
      this.#stored = null;
      throw error;
    }
    if (this.#stored) budget.use(this.#memoryHolderRef, this.#stored.bytes);
  }
}

const formatCount = (count: number): string => count.toLocaleString('en-US');

const indexFullError = (count: number) =>
  new ServiceError(
    'provider_failed',
    `The knowledge base holds ${formatCount(count)} passages, and the embedded vector index takes ${formatCount(maxVectors)}. Delete documents, or have the organization moved to Vectorize, which takes millions: npm run organization -- move-vectors <organization id> vectorize`,
  );
