/** Aborts work that takes too long. `signal` is aborted by the timeout, or together with the outer signal. */
export class IdleTimeout {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #abort = () => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;
  isExpired = false;

  constructor(outer?: AbortSignal) {
    this.#parent = outer;
    if (outer?.aborted) this.#abort();
    else outer?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the signal after `milliseconds`, unless `pause`, `stop` or another `start` comes first. */
  start(milliseconds: number): void {
    this.pause();
    this.#timer = setTimeout(() => {
      this.isExpired = true;
      this.#controller.abort();
    }, milliseconds);
  }

  /** Lets the work take any time. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Aborts running work and detaches from the outer signal. A pending timer would keep a Durable Object in memory. */
  stop(): void {
    this.pause();
    this.#parent?.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }
}
