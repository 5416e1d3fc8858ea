/** Two full indexes. An isolate has 128 MB for everything, and may hold several objects of a class. */
const maxBytes = 64 * 1024 * 1024;

export interface MemoryHolder {
  /** Lets go of what it can load again. */
  forget(): void;
}

/** What the objects of an isolate hold in memory. It keeps none of them: an object that the platform dropped is gone from here, too. */
export class MemoryBudget {
  /** The least recently used first. */
  readonly #bytesByHolder = new Map<WeakRef<MemoryHolder>, number>();
  readonly #maxBytes: number;

  constructor(most = maxBytes) {
    this.#maxBytes = most;
  }

  /** Notes that `holder` is in use and holds `bytes`; others forget theirs, the longest unused first, until all of it fits. */
  use(holder: WeakRef<MemoryHolder>, bytes: number): void {
    this.#bytesByHolder.delete(holder);
    this.#bytesByHolder.set(holder, bytes);
    for (const other of this.#bytesByHolder.keys()) if (!other.deref()) this.#bytesByHolder.delete(other);
    let total = [...this.#bytesByHolder.values()].reduce((sum, held) => sum + held, 0);
    for (const [other, held] of this.#bytesByHolder) {
      if (total <= this.#maxBytes || other === holder) return;
      this.#bytesByHolder.delete(other);
      other.deref()?.forget();
      total -= held;
    }
  }
}
