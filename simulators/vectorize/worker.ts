import { DurableObject, WorkerEntrypoint } from 'cloudflare:workers';
import type { StoredVector, Mutation, VectorizeItem, VectorizeOptions } from './binding.ts';
import { SimulatedIndex } from './simulated-index.ts';

interface Bindings {
  INDEX: DurableObjectNamespace<SimulatedIndexObject>;
  /** How long after a write search finds it. */
  VISIBLE_AFTER_MS?: string;
}

interface MutationRow extends Record<string, SqlStorageValue> {
  number: number;
  accepted_at: number;
  mutation: string;
}

interface VectorRow extends Record<string, SqlStorageValue> {
  mutation: number;
  vector: string;
  numbers: ArrayBuffer;
}

/** The index that is bound as VECTORS: accepted changes are kept in order, and applied when they are due. */
export class SimulatedIndexObject extends DurableObject<Bindings> {
  readonly #index = new SimulatedIndex({ document_id: 'number' });
  readonly #waiting: { mutation: Mutation; acceptedAt: number }[] = [];

  constructor(state: DurableObjectState, bindings: Bindings) {
    super(state, bindings);
    const { sql } = state.storage;
    sql.exec('CREATE TABLE IF NOT EXISTS mutation (number INTEGER PRIMARY KEY, accepted_at INTEGER NOT NULL, mutation TEXT NOT NULL)');
    sql.exec('CREATE TABLE IF NOT EXISTS vector (mutation INTEGER NOT NULL, vector TEXT NOT NULL, numbers BLOB NOT NULL)');
    sql.exec('CREATE INDEX IF NOT EXISTS vector_mutation ON vector (mutation)');
    for (const row of sql.exec<MutationRow>('SELECT * FROM mutation ORDER BY number')) {
      const vectors = sql
        .exec<VectorRow>('SELECT * FROM vector WHERE mutation = ? ORDER BY rowid', row.number)
        .toArray()
        .map(({ vector, numbers }) => Object.assign(JSON.parse(vector) as StoredVector, { values: new Float32Array(numbers) }));
      this.#waiting.push({ mutation: { ...(JSON.parse(row.mutation) as Mutation), vectors }, acceptedAt: row.accepted_at });
    }
  }

  change(kind: 'insert' | 'upsert' | 'delete', given: VectorizeItem[] | string[]): { mutationId: string } {
    const mutation = kind === 'delete' ? this.#index.acceptDeletion(given as string[]) : this.#index.accept(kind, given as VectorizeItem[]);
    const acceptedAt = Date.now();
    const { sql } = this.ctx.storage;
    const { vectors, ...rest } = mutation;
    this.ctx.storage.transactionSync(() => {
      const { number } = sql
        .exec<{ number: number }>(
          'INSERT INTO mutation (accepted_at, mutation) VALUES (?, ?) RETURNING number',
          acceptedAt,
          JSON.stringify(rest),
        )
        .one();
      for (const { values, ...vector } of vectors)
        sql.exec('INSERT INTO vector (mutation, vector, numbers) VALUES (?, ?, ?)', number, JSON.stringify(vector), values.slice().buffer);
    });
    this.#waiting.push({ mutation, acceptedAt });
    return { mutationId: mutation.mutationId };
  }

  getByIds(ids: string[]) {
    return this.#upToDate().getByIds(ids);
  }

  query(vector: ArrayLike<number>, options?: VectorizeOptions) {
    return this.#upToDate().query(vector, options);
  }

  queryById(id: string, options?: VectorizeOptions) {
    return this.#upToDate().queryById(id, options);
  }

  describe() {
    const index = this.#upToDate();
    return { vectorCount: index.size, dimensions: 1536, processedUpToMutation: index.processedUpToMutation };
  }

  /** Applies all waiting changes at once. */
  settle(): void {
    this.#process(Number.POSITIVE_INFINITY);
  }

  #upToDate(): SimulatedIndex {
    this.#process(Date.now() - Number(this.env.VISIBLE_AFTER_MS ?? '2000'));
    return this.#index;
  }

  #process(upTo: number): void {
    while (this.#waiting[0] && this.#waiting[0].acceptedAt <= upTo) this.#index.process(this.#waiting.shift()!.mutation);
  }
}

/** A Vectorize index to be bound as a service, for local use and tests: the methods are those of the binding. */
export class SimulatedVectorize extends WorkerEntrypoint<Bindings> {
  insert(vectors: VectorizeItem[]) {
    return this.#object.change('insert', vectors);
  }

  upsert(vectors: VectorizeItem[]) {
    return this.#object.change('upsert', vectors);
  }

  deleteByIds(ids: string[]) {
    return this.#object.change('delete', ids);
  }

  getByIds(ids: string[]) {
    return this.#object.getByIds(ids);
  }

  query(vector: ArrayLike<number>, options?: VectorizeOptions) {
    return this.#object.query(vector, options);
  }

  queryById(id: string, options?: VectorizeOptions) {
    return this.#object.queryById(id, options);
  }

  describe() {
    return this.#object.describe();
  }

  /** Not a method of the binding: it spares tests the waiting. */
  settle() {
    return this.#object.settle();
  }

  get #object() {
    return this.env.INDEX.getByName('index');
  }
}

export default { fetch: () => new Response('The simulated Vectorize index is bound as a service.', { status: 404 }) };
