import type { StoredVector, Mutation, VectorizeItem, VectorizeOptions } from './binding.ts';
import { checkIds, checkItems, checkQuery } from './checks.ts';
import { toIndexedValue, matches } from './filter.ts';

/**
 * A Vectorize index of 1536 dimensions and the metric cosine. It holds to the limits of the platform; what is written is accepted at once, and
 * there once it was processed, in order; scores without the values are estimates.
 */
export class SimulatedIndex {
  readonly #metadataIndexes: ReadonlyMap<string, string>;
  readonly #vectors = new Map<string, StoredVector>();
  #processed: string | null = null;

  constructor(metadataIndexes: Record<string, 'string' | 'number' | 'boolean'>) {
    this.#metadataIndexes = new Map(Object.entries(metadataIndexes));
  }

  get size(): number {
    return this.#vectors.size;
  }

  get processedUpToMutation(): string | null {
    return this.#processed;
  }

  /** Checks a change and returns it for later processing. Throws in the words of Vectorize. */
  accept(kind: 'insert' | 'upsert', items: VectorizeItem[]): Mutation {
    checkItems(kind === 'insert' ? 'INSERT' : 'UPSERT', items);
    const vectors = items.map(({ id, values, namespace, metadata }): StoredVector => ({
      id,
      values: Float32Array.from(values),
      ...(namespace !== undefined && { namespace }),
      ...(metadata && { metadata: structuredClone(metadata) }),
      indexed: toIndexedValue(metadata, this.#metadataIndexes),
    }));
    return { mutationId: crypto.randomUUID(), kind, vectors, ids: [] };
  }

  acceptDeletion(ids: string[]): Mutation {
    checkIds('DELETE', ids);
    return { mutationId: crypto.randomUUID(), kind: 'delete', vectors: [], ids };
  }

  process({ mutationId, kind, vectors, ids }: Mutation): void {
    for (const vector of vectors) if (kind === 'upsert' || !this.#vectors.has(vector.id)) this.#vectors.set(vector.id, vector);
    for (const id of ids) this.#vectors.delete(id);
    this.#processed = mutationId;
  }

  getByIds(ids: string[]) {
    checkIds('GET', ids);
    return [...new Set(ids)].flatMap((id) => {
      const found = this.#vectors.get(id);
      return found ? [{ id, values: Array.from(found.values), ...withoutValues(found) }] : [];
    });
  }

  query(vector: ArrayLike<number>, options: VectorizeOptions = {}) {
    checkQuery(vector, options);
    const { topK = 5, namespace, returnValues = false, returnMetadata = 'none', filter } = options;
    const ranked: { found: StoredVector; score: number }[] = [];
    for (const found of this.#vectors.values()) {
      // Without a namespace, all namespaces are searched.
      if (namespace !== undefined && found.namespace !== namespace) continue;
      if (filter && !matches(found, filter)) continue;
      ranked.push({ found, score: cosine(vector, found.values) + (returnValues ? 0 : estimationError(found.id)) });
    }
    const best = ranked.toSorted((a, b) => b.score - a.score).slice(0, topK);
    const answered = best.map(({ found, score }) =>
      Object.assign(
        { id: found.id, score },
        found.namespace === undefined ? {} : { namespace: found.namespace },
        returnValues ? { values: Array.from(found.values) } : {},
        returnMetadata === 'none' ? {} : { metadata: returnMetadata === 'all' ? found.metadata : found.indexed },
      ),
    );
    return { count: answered.length, matches: answered };
  }

  queryById(id: string, options: VectorizeOptions = {}) {
    const found = this.#vectors.get(id);
    if (!found) throw new Error(`VECTOR_QUERY_ERROR (code = 40027): vector not found: ${id}`);
    return this.query(found.values, options);
  }
}

const withoutValues = ({ namespace, metadata }: StoredVector) => ({
  ...(namespace !== undefined && { namespace }),
  ...(metadata && { metadata }),
});

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, ofA, ofB] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    product += a[index]! * b[index]!;
    ofA += a[index]! * a[index]!;
    ofB += b[index]! * b[index]!;
  }
  return ofA === 0 || ofB === 0 ? 0 : product / Math.sqrt(ofA * ofB);
}

/** Up to 0.03 to either side, and the same every time. */
const estimationError = (id: string): number =>
  (([...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7) % 7) - 3) / 100;
