/** Ends what is waited for too long. Its signal is aborted by that, or with the one it was made of. */
export class SilenceWatch {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #pass = () => this.#controller.abort();
  isSilent = false;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    if (outer.aborted) this.#pass();
    else outer.addEventListener('abort', this.#pass, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What `promise` gives; once `milliseconds` have passed the signal is aborted, which is to end it. */
  async within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.isSilent = true;
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
    this.#outer.removeEventListener('abort', this.#pass);
    this.#controller.abort();
  }
}
