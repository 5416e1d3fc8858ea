/** Keeps the values used last, at most `capacity` of them. */
export class BoundedCache<Key, Value> {
  readonly #capacity: number;
  readonly #entries = new Map<Key, Value>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** The kept value, or the one that `make` gives; when it throws, nothing is kept. */
  get(key: Key, make: () => Value): Value {
    const value = this.#entries.has(key) ? (this.#entries.get(key) as Value) : make();
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#capacity) this.#entries.delete(this.#entries.keys().next().value as Key);
    return value;
  }
}
