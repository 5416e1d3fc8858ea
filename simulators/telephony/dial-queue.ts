/** Spaces the dialling of each account to its calls per second. */
export class DialQueue {
  readonly #nextAt = new Map<string, number>();

  /** Milliseconds that the next call of an account waits; 0 calls per second is no limit. `now` is epoch ms. */
  wait(account: string, callsPerSecond: number, now: number): number {
    if (callsPerSecond === 0) return 0;
    const at = Math.max(now, this.#nextAt.get(account) ?? 0);
    this.#nextAt.set(account, at + 1000 / callsPerSecond);
    return at - now;
  }
}
