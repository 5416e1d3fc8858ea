import { Timers, type Timer } from './timers.ts';

/** Without a rowid, each timer is one written row. Objects of earlier versions have a rowid, too. */
export const timerSchema =
  'CREATE TABLE timer (kind TEXT NOT NULL, subject TEXT NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL, PRIMARY KEY (kind, subject)) WITHOUT ROWID';

/** Timers as rows of a table, so that an object may have many. */
export class TimerTable extends Timers {
  set(kind: string, due: number, subject = ''): void {
    this.storage.sql.exec(
      `INSERT INTO timer (kind, subject, due, attempts) VALUES (?, ?, ?, 0)
       ON CONFLICT (kind, subject) DO UPDATE SET due = excluded.due, attempts = 0`,
      kind,
      subject,
      Math.ceil(due),
    );
  }

  ensure(kind: string, due: number, subject = ''): void {
    this.storage.sql.exec(
      'INSERT INTO timer (kind, subject, due, attempts) VALUES (?, ?, ?, 0) ON CONFLICT (kind, subject) DO NOTHING',
      kind,
      subject,
      Math.ceil(due),
    );
  }

  clear(kind: string, subject = ''): void {
    this.storage.sql.exec('DELETE FROM timer WHERE kind = ? AND subject = ?', kind, subject);
  }

  isUnchanged({ kind, subject, due, attempts }: Timer): boolean {
    return (
      this.storage.sql
        .exec('SELECT 1 FROM timer WHERE kind = ? AND subject = ? AND due = ? AND attempts = ?', kind, subject, due, attempts)
        .toArray().length > 0
    );
  }

  due(now: number): Timer[] {
    return this.storage.sql
      .exec<Timer & Record<string, SqlStorageValue>>(
        'SELECT kind, subject, due, attempts FROM timer WHERE due <= ? ORDER BY due, kind, subject',
        now,
      )
      .toArray();
  }

  dueAt(kind: string): number | null {
    return this.storage.sql.exec<{ due: number }>('SELECT due FROM timer WHERE kind = ?', kind).toArray()[0]?.due ?? null;
  }

  earliestExcept(kind: string): number | null {
    return this.storage.sql.exec<{ due: number | null }>('SELECT min(due) AS due FROM timer WHERE kind <> ?', kind).one().due;
  }

  earliest(): number | null {
    return this.storage.sql.exec<{ due: number | null }>('SELECT min(due) AS due FROM timer').one().due;
  }

  protected moveFailed(timer: Timer, due: number): void {
    this.storage.sql.exec(
      'UPDATE timer SET attempts = attempts + 1, due = ? WHERE kind = ? AND subject = ? AND due = ?',
      due,
      timer.kind,
      timer.subject,
      timer.due,
    );
  }
}
