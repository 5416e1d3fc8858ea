/** Ends what is waited for too long. Its signal is aborted by that, or with the one it was made of. */
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

  /** What `promise` gives; once `milliseconds` have passed the signal is aborted, which is to end it. */
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

  /** Ends what is still under way, and lets go of the outer signal. */
  stop(): void {
    this.#parent.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }
}
