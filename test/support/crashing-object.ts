import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { vi } from 'vitest';
import type { AutomationRunObject } from '../../durable-objects/automation-run/automation-run-object.ts';

type Stub = DurableObjectStub<AutomationRunObject>;
/** Aborted before a call or after it, or evicted while it is under way. */
export type CrashPoint = 'before' | 'after' | 'during';

export interface CrashWatch {
  calls: number;
  died: boolean;
  /** Set by the test once it evicts the object, which then waits for the call under way. */
  isEvicting: boolean;
  /** Counts a call that the test itself makes for the object, as its `fetch` does. */
  watched<T>(call: () => Promise<T>): Promise<T>;
}

/**
 * Makes the object die at its n-th call to the outside (D1, R2, the vector index and, through `watched`, `fetch`), before the call is made or after its answer came.
 * The object that takes its place is sound.
 */
export async function crashAtCall(stub: Stub, n: number, moment: CrashPoint): Promise<CrashWatch> {
  const seen: CrashWatch = { calls: 0, died: false, isEvicting: false, watched: (call) => call() };
  await runInDurableObject(stub, (instance, state) => {
    const object = instance as unknown as { env: Env };
    const watched = async <T>(call: () => Promise<T>): Promise<T> => {
      seen.calls++;
      const isLast = seen.calls === n && !seen.died;
      if (isLast && moment === 'before') await die();
      if (isLast && moment === 'during') await untilEvicting();
      const answer = await call();
      if (isLast && moment === 'after') await die();
      return answer;
    };
    // Only the test may evict, so the call is held until it does.
    const untilEvicting = async () => {
      seen.died = true;
      while (!seen.isEvicting) await new Promise((resolve) => setTimeout(resolve, 2));
    };
    const die = async () => {
      seen.died = true;
      // The test runner would have everybody wait for ever for a module that dies with the object that loads it.
      await vi.dynamicImportSettled();
      state.abort('the object dies here');
      throw new Error('the object died');
    };
    const real = object.env;
    const database = {
      prepare: (sql: string) => watchedStatement(real.DB.prepare(sql)),
      batch: (statements: { real?: D1PreparedStatement }[]) =>
        watched(() => real.DB.batch(statements.map((statement) => statement.real ?? (statement as unknown as D1PreparedStatement)))),
    };
    const watchedStatement = (statement: D1PreparedStatement): object => ({
      real: statement,
      bind: (...values: unknown[]) => watchedStatement(statement.bind(...values)),
      all: () => watched(() => statement.all()),
      raw: () => watched(() => statement.raw()),
      run: () => watched(() => statement.run()),
    });
    const files = {
      put: (key: string, value: string, options: R2PutOptions) => watched(() => real.FILES.put(key, value, options)),
      get: (key: string) => watched(() => real.FILES.get(key)),
    };
    const index = {
      getByName: (name: string) => {
        const vectors = real.VECTOR_INDEX.getByName(name);
        return { query: (...asked: Parameters<typeof vectors.query>) => watched(async () => vectors.query(...asked)) };
      },
    };
    const vectorize = new Proxy(
      {},
      {
        get:
          (_target, method: string) =>
          (...asked: unknown[]) =>
            watched(() =>
              copyAndDispose((real.VECTORS as unknown as Record<string, (...given: unknown[]) => Promise<object>>)[method]!(...asked)),
            ),
      },
    );
    const bindings: Record<string | symbol, object> = { DB: database, FILES: files, VECTOR_INDEX: index, VECTORS: vectorize };
    object.env = new Proxy(real, { get: (target, name) => bindings[name] ?? Reflect.get(target, name) });
    seen.watched = watched;
  });
  return seen;
}

/** Copies the answer of another Worker and disposes of it: an answer that is not disposed of prevents the eviction. */
export async function copyAndDispose(asked: Promise<object>): Promise<object> {
  const answer = (await asked) as object & Partial<Disposable>;
  const { [Symbol.dispose]: dispose, ...copy } = answer;
  dispose?.call(answer);
  return Array.isArray(answer) ? [...answer] : copy;
}

/** Evicts the object in the middle of the chosen call, unless the run ends before that call. */
export async function evictWhenReached(watch: CrashWatch, stub: Stub): Promise<void> {
  for (let tries = 0; tries < 500 && !watch.died; tries++) await new Promise((resolve) => setTimeout(resolve, 2));
  const evicted = watch.died ? evictDurableObject(stub) : undefined;
  watch.isEvicting = true;
  await evicted;
}
