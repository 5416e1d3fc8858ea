import type { Usage } from '../usage.ts';
import type { ActiveTimes } from './active-times.ts';

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
    const toArray = taking('toArray') as () => unknown[];
    return { one: taking('one'), toArray, [Symbol.iterator]: () => toArray()[Symbol.iterator]() };
  }) as unknown as SqlStorage['exec'];
  const setAlarm = storage.setAlarm.bind(storage);
  storage.setAlarm = (time, options) => {
    usage.alarmsSet++;
    return setAlarm(time, options);
  };
}

type Methods = Record<string | symbol, (...parameters: unknown[]) => Promise<unknown>>;

/** The namespace of a class of objects, with each call of one of their methods counted. `binding` names it in `active`. */
export const countCalls = <Branded extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<Branded>,
  binding: string,
  usage: Usage,
  active: ActiveTimes,
): DurableObjectNamespace<Branded> =>
  ({
    getByName: (name: string) =>
      new Proxy(namespace.getByName(name), {
        get:
          (stub, method) =>
          (...parameters: unknown[]) => {
            usage.objectCalls++;
            return active.during(`${binding} ${name}`, () => (stub as unknown as Methods)[method]!(...parameters));
          },
      }),
  }) as unknown as DurableObjectNamespace<Branded>;

/** The binding; each call of one of `methods` is recorded first. */
export const countUses = <Binding extends object>(
  binding: Binding,
  methods: { [Method in keyof Binding]?: (...parameters: Parameters<Extract<Binding[Method], (...given: never[]) => unknown>>) => void },
): Binding =>
  new Proxy(binding, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...parameters: unknown[]) => {
        (methods[name as keyof Binding] as ((...given: unknown[]) => void) | undefined)?.(...parameters);
        return (value as (...given: unknown[]) => unknown).apply(target, parameters);
      };
    },
  });
