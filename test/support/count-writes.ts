import { recordedDatabase, rowsWritten, type Recording } from './recorded-database.ts';

type Instrument = (object: { env: Env }, state: DurableObjectState) => void;

/** Counts the rows that an object writes from now on, and its D1 calls. Each alarm counts, since it is billed as a row. */
export async function countWrites(inside: (look: Instrument) => Promise<unknown>) {
  const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
  const counts = { alarms: 0 };
  const recording: Recording = { statements: [], calls: 0 };
  await inside((object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    Object.defineProperty(storage.sql, 'exec', {
      value: (query: string, ...values: SqlStorageValue[]) => {
        const cursor = exec(query, ...values);
        cursors.push(cursor);
        return cursor;
      },
    });
    const setAlarm = storage.setAlarm.bind(storage);
    Object.defineProperty(storage, 'setAlarm', {
      value: (...parameters: Parameters<typeof setAlarm>) => {
        counts.alarms++;
        return setAlarm(...parameters);
      },
    });
    const real = object.env;
    const DB = recordedDatabase(real.DB, recording);
    object.env = new Proxy(real, { get: (target, name) => (name === 'DB' ? DB : Reflect.get(target, name)) });
  });
  return () => ({
    object: cursors.reduce((sum, cursor) => sum + cursor.rowsWritten, 0) + counts.alarms,
    d1Rows: rowsWritten(recording),
    d1Calls: recording.calls,
  });
}
