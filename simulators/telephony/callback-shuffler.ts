import type { Callback } from './outbox.ts';

/**
 * Puts the status callbacks of a call into disorder: every one comes twice, neighbours change places, and the last one is followed by an
 * older one. Gives what is to be sent now, in this order.
 */
export class CallbackShuffler {
  #held: Callback | undefined;
  #previous: Callback | undefined;

  next(callback: Callback, isLast: boolean): Callback[] {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) {
      this.#previous = callback;
      return [callback, held, callback, held];
    }
    if (isLast) return [callback, callback, ...(this.#previous ? [this.#previous] : [])];
    this.#held = callback;
    return [];
  }
}
