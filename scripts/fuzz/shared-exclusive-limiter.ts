/** Runs work of several lanes at once, or one piece of work while all others rest. */
export class SharedExclusiveLimiter {
  readonly #most: number;
  #running = 0;
  #alone: Promise<void> | undefined;
  #wake: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  async runShared<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#alone !== undefined || this.#running >= this.#most) await (this.#alone ?? this.#change());
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
      this.#tell();
    }
  }

  async runExclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#alone !== undefined) await this.#alone;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#alone = promise;
    try {
      while (this.#running > 0) await this.#change();
      return await work();
    } finally {
      this.#alone = undefined;
      resolve();
      this.#tell();
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #tell(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
