import type { Mutation, VectorizeItem } from '../../simulators/vectorize/binding.ts';
import { SimulatedIndex } from '../../simulators/vectorize/simulated-index.ts';
import type { VectorizeBinding, VectorizeQuery, VectorizeVector } from '../../src/providers/vector-index/vectorize-binding.ts';

/** The simulated index in the hands of a test: what is written is there after `settle`. */
export class StrictVectorize implements VectorizeBinding {
  readonly #index = new SimulatedIndex({ document_id: 'number' });
  #pending: Mutation[] = [];
  readonly calls: { upsert: number[]; deleteByIds: number[]; getByIds: number[]; query: VectorizeQuery[] } = {
    upsert: [],
    deleteByIds: [],
    getByIds: [],
    query: [],
  };

  settle(): void {
    for (const mutation of this.#pending.splice(0)) this.#index.process(mutation);
  }

  async upsert(vectors: VectorizeVector[]) {
    return this.#accepted(this.#index.accept('upsert', vectors as VectorizeItem[]), this.calls.upsert, vectors.length);
  }

  async deleteByIds(ids: string[]) {
    return this.#accepted(this.#index.acceptDeletion(ids), this.calls.deleteByIds, ids.length);
  }

  async getByIds(ids: string[]) {
    this.calls.getByIds.push(ids.length);
    return this.#index.getByIds(ids) as VectorizeVector[];
  }

  async query(vector: Float32Array, options: VectorizeQuery) {
    this.calls.query.push(options);
    return this.#index.query(vector, options);
  }

  #accepted(mutation: Mutation, calls: number[], count: number): { mutationId: string } {
    this.#pending.push(mutation);
    calls.push(count);
    return { mutationId: mutation.mutationId };
  }
}
