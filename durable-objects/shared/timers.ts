import { backoffMs } from '../../src/library/backoff.ts';
import type { Clock } from '../../src/library/time/clock.ts';

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

/** The `timer` table of an object. One alarm, set to the earliest timer or `alarmDelay` ms later, serves all of them. */
export class Timers {
  readonly #storage: DurableObjectStorage;
  readonly #clock: Clock;
  readonly #alarmDelay: (due: number) => number;

  constructor(storage: DurableObjectStorage, clock: Clock, alarmDelay: (due: number) => number = () => 0) {
    this.#storage = storage;
    this.#clock = clock;
    this.#alarmDelay = alarmDelay;
  }

  /** Sets or moves a timer to an epoch ms, rounded up to a whole one. Takes effect with `arm`. */
  set(kind: string, due: number, subject = ''): void {
    this.#storage.sql.exec(
      `INSERT INTO timer (kind, subject, due, attempts) VALUES (?, ?, ?, 0)
       ON CONFLICT (kind, subject) DO UPDATE SET due = excluded.due, attempts = 0`,
      kind,
      subject,
      Math.ceil(due),
    );
  }

  /** Sets a timer unless it is set already: an existing timer keeps its moment and its attempts. */
  ensure(kind: string, due: number, subject = ''): void {
    this.#storage.sql.exec(
      'INSERT INTO timer (kind, subject, due, attempts) VALUES (?, ?, ?, 0) ON CONFLICT (kind, subject) DO NOTHING',
      kind,
      subject,
      Math.ceil(due),
    );
  }

  clear(kind: string, subject = ''): void {
    this.#storage.sql.exec('DELETE FROM timer WHERE kind = ? AND subject = ?', kind, subject);
  }

  /** Whether the timer's row is the same as when it was read. */
  isUnchanged({ kind, subject, due, attempts }: Timer): boolean {
    return (
      this.#storage.sql
        .exec('SELECT 1 FROM timer WHERE kind = ? AND subject = ? AND due = ? AND attempts = ?', kind, subject, due, attempts)
        .toArray().length > 0
    );
  }

  /** Due timers, earliest first. */
  due(now: number): Timer[] {
    return this.#storage.sql
      .exec<Timer & Record<string, SqlStorageValue>>(
        'SELECT kind, subject, due, attempts FROM timer WHERE due <= ? ORDER BY due, kind, subject',
        now,
      )
      .toArray();
  }

  /** When a timer is due (epoch ms); null: it is not set. */
  dueAt(kind: string): number | null {
    return this.#storage.sql.exec<{ due: number }>('SELECT due FROM timer WHERE kind = ?', kind).toArray()[0]?.due ?? null;
  }

  /** When the first timer of another kind is due. */
  earliestExcept(kind: string): number | null {
    return this.#storage.sql.exec<{ due: number | null }>('SELECT min(due) AS due FROM timer WHERE kind <> ?', kind).one().due;
  }

  earliest(): number | null {
    return this.#storage.sql.exec<{ due: number | null }>('SELECT min(due) AS due FROM timer').one().due;
  }

  /** Sets a timer whose work threw to a later moment, with exponential backoff and jitter, and counts the attempt. */
  reschedule(timer: Timer, random: () => number): void {
    const delay = backoffMs(retryBackoff, timer.attempts + 1, random);
    this.#storage.sql.exec(
      'UPDATE timer SET attempts = attempts + 1, due = ? WHERE kind = ? AND subject = ? AND due = ?',
      Math.ceil(this.#clock() + delay),
      timer.kind,
      timer.subject,
      timer.due,
    );
  }

  /** Sets the alarm for the earliest timer, or removes it when there is none. */
  async arm(): Promise<void> {
    const earliest = this.earliest();
    if (earliest === null) return this.#storage.deleteAlarm();
    const alarm = earliest + this.#alarmDelay(earliest);
    if ((await this.#storage.getAlarm()) !== alarm) await this.#storage.setAlarm(alarm);
  }
}
