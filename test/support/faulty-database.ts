import { runInDurableObject } from 'cloudflare:test';
import { vi } from 'vitest';
import type { AutomationRunObject } from '../../durable-objects/automation-run/automation-run-object.ts';

/** `refused`: the call is not made. `lost`: it is made, and its answer is lost. `died`: it is made, and the object dies then. */
export type DatabaseFault = 'refused' | 'lost' | 'died' | null;

const overloadedMessage = 'D1_ERROR: D1 DB is overloaded. Requests queued for too long.';
const connectionLostMessage = 'D1_ERROR: Network connection lost.';

/** A D1 that fails calls by the text of their statements. */
export function faultyDatabase(real: D1Database, troubling: (sql: string) => DatabaseFault, die = async () => {}): D1Database {
  const texts = new WeakMap<object, { text: string; real: D1PreparedStatement }>();
  const through = async <T>(sql: string, call: () => Promise<T>): Promise<T> => {
    const trouble = troubling(sql);
    if (trouble === 'refused') throw new Error(overloadedMessage);
    const answer = await call();
    if (trouble === 'died') await die();
    if (trouble !== null) throw new Error(connectionLostMessage);
    return answer;
  };
  const wrapped = (text: string, statement: D1PreparedStatement): D1PreparedStatement => {
    const own = {
      bind: (...values: unknown[]) => wrapped(text, statement.bind(...values)),
      all: () => through(text, () => statement.all()),
      raw: () => through(text, () => statement.raw()),
      run: () => through(text, () => statement.run()),
    } as unknown as D1PreparedStatement;
    texts.set(own, { text, real: statement });
    return own;
  };
  return {
    prepare: (sql: string) => wrapped(sql, real.prepare(sql)),
    batch: (statements: D1PreparedStatement[]) => {
      const all = statements.map((statement) => texts.get(statement)!);
      return through(all.map(({ text }) => text).join('\n'), () => real.batch(all.map((one) => one.real)));
    },
  } as unknown as D1Database;
}

/** Makes the D1 calls of a run's object fail, until the object is created again. */
export const injectRunDatabaseFaults = (
  stub: DurableObjectStub<AutomationRunObject>,
  troubling: (sql: string) => DatabaseFault,
): Promise<void> =>
  runInDurableObject(stub, (instance, state) => {
    const object = instance as unknown as { env: Env };
    const { env } = object;
    const DB = faultyDatabase(env.DB, troubling, async () => {
      // The test runner would have everybody wait for ever for a module that dies with the object that loads it.
      await vi.dynamicImportSettled();
      state.abort('the object dies here');
    });
    object.env = new Proxy(env, { get: (target, name) => (name === 'DB' ? DB : Reflect.get(target, name)) });
  });
