/** Two full indexes. An isolate has 128 MB for everything, and may hold several objects of a class. */
const mostBytes = 64 * 1024 * 1024;

export interface Holder {
  /** Lets go of what it can load again. */
  forget(): void;
}

/** What the objects of an isolate hold in memory. It keeps none of them: an object that the platform dropped is gone from here, too. */
export class MemoryBudget {
  /** The least recently used first. */
  readonly #held = new Map<WeakRef<Holder>, number>();
  readonly #most: number;

  constructor(most = mostBytes) {
    this.#most = most;
  }

  /** Notes that `holder` is in use and holds `bytes`; others forget theirs, the longest unused first, until all of it fits. */
  use(holder: WeakRef<Holder>, bytes: number): void {
    this.#held.delete(holder);
    this.#held.set(holder, bytes);
    for (const other of this.#held.keys()) if (!other.deref()) this.#held.delete(other);
    let total = [...this.#held.values()].reduce((sum, held) => sum + held, 0);
    for (const [other, held] of this.#held) {
      if (total <= this.#most || other === holder) return;
      this.#held.delete(other);
      other.deref()?.forget();
      total -= held;
    }
  }
}
