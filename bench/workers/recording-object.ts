import type { Usage } from '../usage.ts';

/** Has `usage` count what an object's storage is billed for. As much of a cursor is there as the service uses. */
export function countStorage(storage: DurableObjectStorage, usage: Usage): void {
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  sql.exec = ((query: string, ...parameters: SqlStorageValue[]) => {
    const cursor = exec(query, ...parameters);
    const counted = { read: 0, written: 0 };
    // A cursor goes on reading and writing while its rows are taken.
    const count = () => {
      usage.objectRowsRead += cursor.rowsRead - counted.read;
      usage.objectRowsWritten += cursor.rowsWritten - counted.written;
      Object.assign(counted, { read: cursor.rowsRead, written: cursor.rowsWritten });
    };
    count();
    const taking = (take: 'one' | 'toArray') => () => {
      const rows = cursor[take]();
      count();
      return rows;
    };
    return { one: taking('one'), toArray: taking('toArray') };
  }) as SqlStorage['exec'];
  const setAlarm = storage.setAlarm.bind(storage);
  storage.setAlarm = (time, options) => {
    usage.alarmsSet++;
    return setAlarm(time, options);
  };
}

type Methods = Record<string | symbol, (...parameters: unknown[]) => Promise<unknown>>;

/** Adds how long an object was at work. */
export async function timed<Answer>(usage: Usage, work: () => Promise<Answer>): Promise<Answer> {
  const startedAt = Date.now();
  try {
    return await work();
  } finally {
    usage.objectMs += Date.now() - startedAt;
  }
}

/** The namespace of a class of objects, with each call of one of their methods counted. */
export const countCalls = <Branded extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<Branded>,
  usage: Usage,
): DurableObjectNamespace<Branded> =>
  ({
    getByName: (name: string) =>
      new Proxy(namespace.getByName(name), {
        get:
          (stub, method) =>
          (...parameters: unknown[]) => {
            usage.objectCalls++;
            return timed(usage, () => (stub as unknown as Methods)[method]!(...parameters));
          },
      }),
  }) as unknown as DurableObjectNamespace<Branded>;

/** The binding with some of its methods counted. */
export const countUses = <Binding extends object>(binding: Binding, method: keyof Binding, count: () => void): Binding =>
  new Proxy(binding, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...parameters: unknown[]) => {
        if (name === method) count();
        return (value as (...parameters: unknown[]) => unknown).apply(target, parameters);
      };
    },
  });
