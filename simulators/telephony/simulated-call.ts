import { setTimeout as sleep } from 'node:timers/promises';
import { durationSeconds, type CallRecord } from './call-record.ts';
import { CallbackShuffler } from './callback-shuffler.ts';
import type { RelaySession } from './relay-session.ts';
import { toScenario, type Scenario } from './scenario.ts';

/** A call of this process, live or ended: its record, its order, and its timers and socket. */
export class SimulatedCall<Order> {
  readonly record: CallRecord;
  readonly order: Order;
  readonly scenario: Scenario;
  readonly disorder = new CallbackShuffler();
  readonly #ending = new AbortController();
  /** How much an answering machine records. */
  machineUtterances = 2;
  session: RelaySession | undefined;
  /** Of status callbacks. */
  sequence = 0;

  constructor(record: CallRecord, order: Order) {
    this.record = record;
    this.order = order;
    // Of an inbound call the caller is the person.
    this.scenario = toScenario(record.direction === 'outbound' ? record.to : record.from);
  }

  /** Aborted when the line is down. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isLive(): boolean {
    return this.record.ended_at === null;
  }

  get durationSeconds(): number {
    return durationSeconds(this.record);
  }

  /** Rejects when the line goes down meanwhile. A call does not keep the process from ending. */
  sleep(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: this.signal, ref: false });
  }

  /** Resolves when the line is down. */
  get ended(): Promise<void> {
    if (!this.isLive) return Promise.resolve();
    return new Promise((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  /** Stops all work of this call. */
  close(): void {
    this.session?.hangUp();
    this.#ending.abort();
  }
}
