import type { Clock } from '../../src/library/time/clock.ts';

/** A piece of due work. `subject` tells two timers of one kind apart. */
export interface Timer {
  kind: string;
  subject: string;
  due: number;
  attempts: number;
}

/** Work that is done at once also has a timer after this delay, which does the work when it failed. */
export const fallbackDelayMs = 1000;

const minRetryDelayMs = 1000;
const maxRetryDelayMs = 5 * 60_000;

/** The `timer` table of an object and the one alarm that serves it. */
export class Timers {
  readonly #storage: DurableObjectStorage;
  readonly #clock: Clock;

  constructor(storage: DurableObjectStorage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** Sets or moves a timer to an epoch millisecond, rounded up to a whole one as alarms are. Takes effect with `arm`. */
  set(kind: string, due: number, subject = ''): void {
    this.#storage.sql.exec(
      `INSERT INTO timer (kind, subject, due, attempts) VALUES (?, ?, ?, 0)
       ON CONFLICT (kind, subject) DO UPDATE SET due = excluded.due, attempts = 0`,
      kind,
      subject,
      Math.ceil(due),
    );
  }

  /** Sets a timer unless it is set already: an older one keeps its moment and its attempts. */
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

  /** Whether the timer stands as it was read. */
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
        'SELECT kind, subject, due, attempts FROM timer WHERE due <= ? ORDER BY due, rowid',
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

  /** Puts a timer whose work threw off by an exponential, jittered delay; its attempts stay in the row. */
  reschedule(timer: Timer, random: () => number): void {
    const delay = Math.min(maxRetryDelayMs, minRetryDelayMs * 2 ** timer.attempts) * (0.75 + random() / 2);
    this.#storage.sql.exec(
      'UPDATE timer SET attempts = attempts + 1, due = ? WHERE kind = ? AND subject = ? AND due = ?',
      Math.ceil(this.#clock() + delay),
      timer.kind,
      timer.subject,
      timer.due,
    );
  }

  /** Sets the alarm to the earliest timer, or removes it when there is none. */
  async arm(): Promise<void> {
    const earliest = this.earliest();
    if (earliest === null) return this.#storage.deleteAlarm();
    const current = await this.#storage.getAlarm();
    if (current === null || current !== earliest) await this.#storage.setAlarm(earliest);
  }
}
