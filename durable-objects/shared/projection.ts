import type { Timers } from './timers.ts';

export const projectionSchema = 'CREATE TABLE projection (revision INTEGER NOT NULL, projected INTEGER NOT NULL)';

/** A projection in flight is not tried again before this. */
const retryAfterMs = 5000;
const timerKind = 'project';

/**
 * How far an object's row in D1 is behind the object. The revision grows in the transaction that changes the state; the row
 * keeps the higher revision, so a projection may be sent twice or late. While the row is behind, a timer sees to it.
 */
export class Projection {
  readonly #storage: DurableObjectStorage;
  readonly #timers: Timers;
  readonly #now: () => number;
  /** Whether the revision is higher than that of any projection begun so far. */
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
   * Runs a transaction that changes what the row shows. The revision grows with the first change after a projection was begun, and
   * with the first of a waking, since one may have been under way when the object went; further ones cost no write.
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

  /** Has `write` bring the row up to date, if it is behind. What throws is tried again by the timer. */
  async send(write: (revision: number) => Promise<void>): Promise<void> {
    const { revision, projected } = this.#read();
    if (revision === projected) return this.#timers.clear(timerKind);
    this.#hasUnsentChange = false;
    this.#timers.ensure(timerKind, this.#now() + retryAfterMs);
    await write(revision);
    this.#storage.sql.exec('UPDATE projection SET projected = max(projected, ?)', revision);
    const now = this.#read();
    if (now.revision === now.projected) this.#timers.clear(timerKind);
    // It changed while it was sent: whoever changed it sends again, and the timer only if that came to nothing.
    else this.#timers.set(timerKind, this.#now() + retryAfterMs);
  }

  revision(): number {
    return this.#read().revision;
  }

  /** Says that the row stands at the present revision by other means: what changes from now on is a later one. */
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
