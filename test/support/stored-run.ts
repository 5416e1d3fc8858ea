import type { RunDocument } from '../../durable-objects/automation-run/run-document.ts';

/** What a run's object has stored; null: nothing. Call it in `runInDurableObject`. */
export function storedRun({ sql }: DurableObjectStorage): RunDocument | null {
  const isThere = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'run_record'").toArray().length > 0;
  return isThere ? (JSON.parse(sql.exec<{ record: string }>('SELECT record FROM run_record').one().record) as RunDocument) : null;
}

export const storedTimers = (storage: DurableObjectStorage) => storedRun(storage)?.timers ?? [];

/** All rows of all tables of an object. */
export const storedRows = ({ sql }: DurableObjectStorage): unknown[] =>
  sql
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'")
    .toArray()
    .flatMap(({ name }) => sql.exec(`SELECT * FROM ${name}`).toArray());
