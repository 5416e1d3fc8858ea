/** Aborts a wait that takes too long. `signal` is aborted by the timeout, or together with the outer signal. */
export class IdleTimeout {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #abort = () => this.#controller.abort();
  isExpired = false;

  constructor(outer: AbortSignal) {
    this.#parent = outer;
    if (outer.aborted) this.#abort();
    else outer.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for `promise`. After `milliseconds` the signal is aborted, which should end the promise. */
  async within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.isExpired = true;
      this.#controller.abort();
    }, milliseconds);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Aborts running work and detaches from the outer signal. */
  stop(): void {
    this.#parent.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }
}
