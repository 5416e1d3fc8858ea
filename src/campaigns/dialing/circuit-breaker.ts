import type { CircuitBreakerConfig } from '../configs/configs.ts';

/** A call that has ended. `key` names its attempt; `endedAt` in epoch ms. */
export interface EndedCall {
  key: string;
  endedAt: number;
  isFailure: boolean;
  /** Shown to people when the breaker trips. */
  rowNumber: number;
  outcome: string;
  reason: string | null;
}

export interface CircuitBreakerTrip {
  ended_calls: number;
  failed_calls: number;
  share: number;
  /** Newest first. */
  last_failures: { row_number: number; outcome: string; reason: string | null }[];
}

const maxFailuresShown = 5;
/** Only the last calls of a window count, so that memory stays bounded at any rate of calls. */
export const maxCountedCalls = 20_000;

/**
 * Counts the calls that ended in the last `window_seconds`, each once. Calls may be reported repeatedly, late and in any order. The breaker can be
 * rebuilt from stored calls. Calls that ended at or before `clearedAt` do not count.
 */
export class CircuitBreaker {
  #calls: EndedCall[] = [];
  #keys = new Set<string>();
  #failures = 0;
  #clearedAt: number;

  constructor(clearedAt = -Infinity) {
    this.#clearedAt = clearedAt;
  }

  count(call: EndedCall): void {
    if (call.endedAt <= this.#clearedAt || this.#keys.has(call.key)) return;
    this.#keys.add(call.key);
    if (call.isFailure) this.#failures += 1;
    let index = this.#calls.length;
    while (index > 0 && this.#calls[index - 1]!.endedAt > call.endedAt) index -= 1;
    this.#calls.splice(index, 0, call);
    if (this.#calls.length > maxCountedCalls) this.#dropFirst(1);
  }

  /** Why the breaker trips at `now` (epoch ms); null: it does not. A call that ended exactly one window ago no longer counts. */
  tripAt(now: number, config: CircuitBreakerConfig): CircuitBreakerTrip | null {
    this.#dropUntil(now - config.window_seconds * 1000);
    const ended = this.#calls.length;
    const isTripped =
      config.enabled && ended >= config.min_calls_in_window && this.#failures > 0 && this.#failures / ended >= config.failure_threshold;
    if (!isTripped) return null;
    const last = this.#calls.filter((call) => call.isFailure).slice(-maxFailuresShown);
    return {
      ended_calls: ended,
      failed_calls: this.#failures,
      share: this.#failures / ended,
      last_failures: last.toReversed().map(({ rowNumber, outcome, reason }) => ({ row_number: rowNumber, outcome, reason })),
    };
  }

  /** Forgets all calls, on resume. A call that ended until `now` does not count, even when it is reported again. */
  clear(now: number): void {
    this.#dropUntil(Infinity);
    this.#clearedAt = now;
  }

  #dropUntil(moment: number): void {
    const first = this.#calls.findIndex((call) => call.endedAt > moment);
    this.#dropFirst(first === -1 ? this.#calls.length : first);
  }

  #dropFirst(count: number): void {
    for (const call of this.#calls.splice(0, count)) {
      this.#keys.delete(call.key);
      if (call.isFailure) this.#failures -= 1;
    }
  }
}
