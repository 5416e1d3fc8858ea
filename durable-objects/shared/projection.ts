import type { Timers } from './timers.ts';

export const projectionSchema = 'CREATE TABLE projection (revision INTEGER NOT NULL, projected INTEGER NOT NULL)';

/** The timer tries a projection again after this. */
const retryAfterMs = 5000;
const timerKind = 'project';

/**
 * Keeps an object's D1 row up to date. The revision grows in the transaction that changes the state. The row keeps the highest revision, so
 * a projection may arrive twice or late. While the row is behind, a timer sends the projection again.
 */
export class Projection {
  readonly #storage: DurableObjectStorage;
  readonly #timers: Timers;
  readonly #now: () => number;
  /** Whether the state has changed since the last projection began. */
  #hasUnsentChange = false;

  constructor(storage: DurableObjectStorage, timers: Timers, now: () => number) {
    this.#storage = storage;
    this.#timers = timers;
    this.#now = now;
  }

  init(): void {
    this.#storage.sql.exec('INSERT INTO projection (revision, projected) VALUES (1, 0)');
  }

  /**
   * Runs a transaction that changes a state which the row shows. The first change after a projection began, or after the object was loaded,
   * raises the revision; later changes cost no write.
   */
  change<Result>(transaction: () => Result): Result {
    const isFirst = !this.#hasUnsentChange;
    const result = this.#storage.transactionSync(() => {
      if (isFirst) this.#storage.sql.exec('UPDATE projection SET revision = revision + 1');
      return transaction();
    });
    this.#hasUnsentChange = true;
    return result;
  }

  /** Calls `write` if the row is behind. When `write` throws, the timer tries again. */
  async send(write: (revision: number) => Promise<void>): Promise<void> {
    const { revision, projected } = this.#read();
    if (revision === projected) return this.#timers.clear(timerKind);
    this.#hasUnsentChange = false;
    this.#timers.ensure(timerKind, this.#now() + retryAfterMs);
    await write(revision);
    this.#storage.sql.exec('UPDATE projection SET projected = max(projected, ?)', revision);
    const now = this.#read();
    if (now.revision === now.projected) this.#timers.clear(timerKind);
    // The state changed during the write. The code that changed it sends again; the timer is the fallback.
    else this.#timers.set(timerKind, this.#now() + retryAfterMs);
  }

  revision(): number {
    return this.#read().revision;
  }

  /** Records that another statement has brought the row to the present revision. */
  markProjected(): void {
    this.#hasUnsentChange = false;
    this.#storage.sql.exec('UPDATE projection SET projected = max(projected, revision)');
  }

  isTimer(kind: string): boolean {
    return kind === timerKind;
  }

  #read(): { revision: number; projected: number } {
    return this.#storage.sql.exec<{ revision: number; projected: number }>('SELECT revision, projected FROM projection').one();
  }
}
