import type { Timers } from './timers.ts';

/** The timer tries a projection again after this. */
const retryAfterMs = 5000;
const timerKind = 'project';

/** How often the state has changed that an object's D1 row shows, and the revision that the row has. */
export interface Revisions {
  read(): { revision: number; projected: number };
  raise(): void;
  /** Records that the row has at least this revision. */
  markProjected(revision: number): void;
  /** What `write` changes is stored together, or not at all. */
  transaction<Result>(write: () => Result): Result;
  /** Stores what is in memory only. */
  flush(): void;
}

/**
 * Keeps an object's D1 row up to date. The revision grows in the transaction that changes the state. The row keeps the highest revision, so
 * a projection may arrive twice or late. While the row is behind, a timer sends the projection again.
 */
export class Projection {
  readonly #revisions: Revisions;
  readonly #timers: Timers;
  readonly #now: () => number;
  /** Whether the state has changed since the last projection began. */
  #hasUnsentChange = false;

  constructor(revisions: Revisions, timers: Timers, now: () => number) {
    this.#revisions = revisions;
    this.#timers = timers;
    this.#now = now;
  }

  /**
   * Runs a transaction that changes a state which the row shows. The first change after a projection began, or after the object was loaded,
   * raises the revision; later changes cost no write.
   */
  change<Result>(transaction: () => Result): Result {
    const isFirst = !this.#hasUnsentChange;
    const result = this.#revisions.transaction(() => {
      if (isFirst) this.#revisions.raise();
      return transaction();
    });
    this.#hasUnsentChange = true;
    return result;
  }

  /**
   * Runs a transaction whose state the row shows at a revision of its own, although the state changes again before. Within the transaction
   * `revision` answers it. The next change raises the revision once more.
   */
  changeAlone<Result>(transaction: () => Result): Result {
    const result = this.#revisions.transaction(() => {
      this.#revisions.raise();
      return transaction();
    });
    this.#hasUnsentChange = false;
    return result;
  }

  /** Calls `write` if the row is behind. When `write` throws, the timer tries again, or one of the kinds that project, which is due by then. */
  async send(write: (revision: number) => Promise<void>, kindsThatProject: readonly string[] = []): Promise<void> {
    const { revision, projected } = this.#revisions.read();
    if (revision === projected) return this.#timers.clear(timerKind);
    this.#hasUnsentChange = false;
    const retryAt = this.#now() + retryAfterMs;
    if (!kindsThatProject.some((kind) => (this.#timers.dueAt(kind) ?? Infinity) <= retryAt)) this.#timers.ensure(timerKind, retryAt);
    this.#revisions.flush();
    await write(revision);
    this.#revisions.markProjected(revision);
    const now = this.#revisions.read();
    if (now.revision === now.projected) this.#timers.clear(timerKind);
    // The state changed during the write. The code that changed it sends again; the timer is the fallback.
    else this.#timers.set(timerKind, this.#now() + retryAfterMs);
    this.#revisions.flush();
  }

  revision(): number {
    return this.#revisions.read().revision;
  }

  /** Records that another statement has brought the row to the present revision. */
  markProjected(): void {
    this.#hasUnsentChange = false;
    this.#revisions.markProjected(this.revision());
  }

  isTimer(kind: string): boolean {
    return kind === timerKind;
  }
}
