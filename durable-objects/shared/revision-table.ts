import type { Revisions } from './projection.ts';

export const projectionSchema = 'CREATE TABLE projection (revision INTEGER NOT NULL, projected INTEGER NOT NULL)';

/** The revisions of an object as the one row of a table. */
export class RevisionTable implements Revisions {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  init(): void {
    this.#storage.sql.exec('INSERT INTO projection (revision, projected) VALUES (1, 0)');
  }

  read(): { revision: number; projected: number } {
    return this.#storage.sql.exec<{ revision: number; projected: number }>('SELECT revision, projected FROM projection').one();
  }

  raise(): void {
    this.#storage.sql.exec('UPDATE projection SET revision = revision + 1');
  }

  markProjected(revision: number): void {
    this.#storage.sql.exec('UPDATE projection SET projected = max(projected, ?)', revision);
  }

  transaction<Result>(write: () => Result): Result {
    return this.#storage.transactionSync(write);
  }

  /** Each statement is stored as it runs. */
  flush(): void {}
}
