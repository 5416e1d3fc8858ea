import { backoffMs } from '../../src/library/backoff.ts';

/** One piece of work and the epoch ms at which it is due. `subject` tells timers of one kind apart. */
export interface Timer {
  kind: string;
  subject: string;
  due: number;
  attempts: number;
}

/** Work that is done at once also has a timer after this delay, which does the work when it failed. */
export const fallbackDelayMs = 1000;

const retryBackoff = { baseMs: 1000, maxMs: 5 * 60_000, jitter: [0.75, 1.25] } as const;

/** How many ms after a timer is due the alarm fires. */
export type AlarmDelay = (due: number) => number;

/** The timers of an object. One alarm, set to the earliest timer or `alarmDelay` ms later, serves all of them. Moments in epoch ms. */
export abstract class Timers {
  protected readonly storage: DurableObjectStorage;
  readonly #alarmDelay: AlarmDelay;

  constructor(storage: DurableObjectStorage, alarmDelay: AlarmDelay) {
    this.storage = storage;
    this.#alarmDelay = alarmDelay;
  }

  /** Sets or moves a timer, rounded up to a whole ms. Takes effect with `arm`. */
  abstract set(kind: string, due: number, subject?: string): void;
  /** Sets a timer unless it is set already: an existing timer keeps its moment and its attempts. */
  abstract ensure(kind: string, due: number, subject?: string): void;
  abstract clear(kind: string, subject?: string): void;
  /** Whether the timer is the same as when it was read. */
  abstract isUnchanged(timer: Timer): boolean;
  /** Due timers, earliest first. */
  abstract due(now: number): Timer[];
  /** When a timer is due; null: it is not set. */
  abstract dueAt(kind: string): number | null;
  /** When the first timer of another kind is due. */
  abstract earliestExcept(kind: string): number | null;
  abstract earliest(): number | null;
  /** Moves a timer that is the same as when it was read, and counts the attempt. */
  protected abstract moveFailed(timer: Timer, due: number): void;

  /** Sets a timer whose work threw to a later moment, with exponential backoff and jitter, and counts the attempt. */
  reschedule(timer: Timer, now: number, random: () => number): void {
    this.moveFailed(timer, Math.ceil(now + backoffMs(retryBackoff, timer.attempts + 1, random)));
  }

  /** Sets the alarm for the earliest timer, or removes it when there is none. */
  async arm(): Promise<void> {
    const earliest = this.earliest();
    if (earliest === null) return this.storage.deleteAlarm();
    const alarm = earliest + this.#alarmDelay(earliest);
    if ((await this.storage.getAlarm()) !== alarm) await this.storage.setAlarm(alarm);
  }
}
