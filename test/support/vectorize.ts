import { cosine } from '../../src/providers/vector-index/cosine.ts';
import type { VectorizeBinding, VectorizeQuery, VectorizeVector } from '../../src/providers/vector-index/vectorize-binding.ts';

const bytes = (text: string) => new TextEncoder().encode(text).length;

/** What Vectorize refuses, in words like its own. */
function refuseIf(isRefused: boolean, why: string): void {
  if (isRefused) throw new Error(`VECTORIZE_ERROR (code = 40007): ${why}`);
}

/**
 * A Vectorize index of 1536 dimensions, the metric cosine, and a metadata index of numbers on document_id. It holds to the limits of the
 * platform; what is written is there after `settle`; without their values, scores are estimates.
 */
export class StrictVectorize implements VectorizeBinding {
  readonly #vectors = new Map<string, VectorizeVector>();
  #pending: (() => void)[] = [];
  readonly calls: { upsert: number[]; deleteByIds: number[]; getByIds: number[]; query: VectorizeQuery[] } = {
    upsert: [],
    deleteByIds: [],
    getByIds: [],
    query: [],
  };

  settle(): void {
    for (const mutation of this.#pending) mutation();
    this.#pending = [];
  }

  async upsert(vectors: VectorizeVector[]) {
    refuseIf(vectors.length < 1 || vectors.length > 1000, `1 to 1000 vectors a batch, got ${vectors.length}`);
    refuseIf(new Set(vectors.map(({ id }) => id)).size < vectors.length, 'duplicate ids in payload');
    for (const { id, values, namespace, metadata } of vectors) {
      refuseIf(bytes(id) < 1 || bytes(id) > 64, `id of 1 to 64 bytes, got ${id}`);
      refuseIf(values.length !== 1536, `expected 1536 dimensions, and got ${values.length}`);
      refuseIf(!values.every(Number.isFinite), 'values must be finite');
      refuseIf(bytes(namespace ?? '') > 64, 'namespace of up to 64 bytes');
      refuseIf(bytes(JSON.stringify(metadata ?? {})) > 10_240, 'metadata of up to 10 KiB');
      refuseIf(!Number.isSafeInteger(metadata?.['document_id']), 'document_id is indexed as a number');
    }
    this.calls.upsert.push(vectors.length);
    const copies = vectors.map((vector) => ({ ...vector, values: Array.from(vector.values) }));
    this.#pending.push(() => copies.forEach((vector) => this.#vectors.set(vector.id, vector)));
    return { mutationId: crypto.randomUUID() };
  }

  async deleteByIds(ids: string[]) {
    refuseIf(ids.length < 1 || ids.length > 100, `too many ids in payload; max id count is 100, got ${ids.length}`);
    this.calls.deleteByIds.push(ids.length);
    this.#pending.push(() => ids.forEach((id) => this.#vectors.delete(id)));
    return { mutationId: crypto.randomUUID() };
  }

  async getByIds(ids: string[]) {
    refuseIf(ids.length < 1 || ids.length > 20, `too many ids in payload; max id count is 20, got ${ids.length}`);
    this.calls.getByIds.push(ids.length);
    return ids.flatMap((id) => this.#vectors.get(id) ?? []);
  }

  async query(vector: Float32Array, options: VectorizeQuery) {
    const { topK, namespace, returnValues, filter } = options;
    const most = returnValues ? 20 : 100;
    refuseIf(topK < 1 || topK > most, `max top K is ${most}, got ${topK}`);
    refuseIf(vector.length !== 1536, `expected 1536 dimensions, and got ${vector.length}`);
    refuseIf(filter !== undefined && bytes(JSON.stringify(filter)) >= 2048, 'filter of less than 2048 bytes');
    refuseIf(
      Object.keys(filter ?? {}).some((key) => key !== 'document_id'),
      'only document_id has a metadata index',
    );
    refuseIf(filter?.['document_id']?.$in.length === 0, '$in needs a value');
    this.calls.query.push(options);
    const wanted = filter && new Set<unknown>(filter['document_id']!.$in);
    const matches = [...this.#vectors.values()]
      .filter((found) => found.namespace === namespace && (!wanted || wanted.has(found.metadata!['document_id'])))
      .map(({ id, values }) => ({ id, values, score: cosine(values, vector) + (returnValues ? 0 : estimationError(id)) }))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, topK);
    return { matches: matches.map(({ id, values, score }) => ({ id, score, ...(returnValues && { values }) })) };
  }
}

/** Up to 0.03 to either side, and the same every time. */
const estimationError = (id: string): number =>
  (([...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 997, 7) % 7) - 3) / 100;
