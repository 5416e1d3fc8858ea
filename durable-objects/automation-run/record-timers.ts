import { Timers, type AlarmDelay, type Timer } from '../shared/timers.ts';

/** A record that has timers among what it stores. */
export interface TimerRecord {
  find(): { readonly timers: readonly Timer[] } | null;
  change(change: { timers: Timer[] }): void;
  flush(): void;
}

/** The timers in a run's record. A change is stored with the record, and by `arm`. */
export class RecordTimers extends Timers {
  readonly #record: TimerRecord;

  constructor(storage: DurableObjectStorage, record: TimerRecord, alarmDelay: AlarmDelay) {
    super(storage, alarmDelay);
    this.#record = record;
  }

  set(kind: string, due: number, subject = ''): void {
    const timer = { kind, subject, due: Math.ceil(due), attempts: 0 };
    if (!this.isUnchanged(timer)) this.#put(timer);
  }

  ensure(kind: string, due: number, subject = ''): void {
    if (!this.#find(kind, subject)) this.set(kind, due, subject);
  }

  clear(kind: string, subject = ''): void {
    if (this.#find(kind, subject)) this.#record.change({ timers: this.#others(kind, subject) });
  }

  isUnchanged({ kind, subject, due, attempts }: Timer): boolean {
    const timer = this.#find(kind, subject);
    return timer?.due === due && timer.attempts === attempts;
  }

  due(now: number): Timer[] {
    return this.#all()
      .filter(({ due }) => due <= now)
      .toSorted((one, other) => one.due - other.due);
  }

  dueAt(kind: string): number | null {
    return this.#find(kind)?.due ?? null;
  }

  earliestExcept(kind: string): number | null {
    return earliestOf(this.#all().filter((timer) => timer.kind !== kind));
  }

  earliest(): number | null {
    return earliestOf(this.#all());
  }

  override arm(): Promise<void> {
    this.#record.flush();
    return super.arm();
  }

  protected moveFailed(timer: Timer, due: number): void {
    if (this.#find(timer.kind, timer.subject)?.due === timer.due) this.#put({ ...timer, due, attempts: timer.attempts + 1 });
  }

  #put(timer: Timer): void {
    this.#record.change({ timers: [...this.#others(timer.kind, timer.subject), timer] });
  }

  #all(): readonly Timer[] {
    return this.#record.find()?.timers ?? [];
  }

  #find(kind: string, subject = ''): Timer | undefined {
    return this.#all().find((timer) => timer.kind === kind && timer.subject === subject);
  }

  #others(kind: string, subject: string): Timer[] {
    return this.#all().filter((timer) => timer.kind !== kind || timer.subject !== subject);
  }
}

const earliestOf = (timers: readonly Timer[]): number | null => (timers.length ? Math.min(...timers.map(({ due }) => due)) : null);
