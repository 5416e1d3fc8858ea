/** Two full indexes. An isolate has 128 MB in total and may hold several objects of a class. */
const maxBytes = 64 * 1024 * 1024;

export interface MemoryHolder {
  /** Drops the memory that can be loaded again. */
  forget(): void;
}

/** Bounds the memory of an isolate's objects. Holds objects weakly, so the platform can still drop them. */
export class MemoryBudget {
  /** Ordered from the least to the most recently used. */
  readonly #bytesByHolder = new Map<WeakRef<MemoryHolder>, number>();
  readonly #maxBytes: number;

  constructor(limit = maxBytes) {
    this.#maxBytes = limit;
  }

  /** Records that `holder` is in use and holds `bytes`. The least recently used others forget theirs until the total fits. */
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
