/** Before the call is made, or after its answer came. */
export type Moment = 'before' | 'after';

export interface Watch {
  calls: number;
  /** Nothing is called any more. */
  isDead: boolean;
}

type Calls = Record<string, (...given: unknown[]) => unknown>;

/** Bindings of an isolate in which `interrupt` happens at its n-th call to storage, the database, the index or a queue. */
export function interruptedAt(
  bindings: Env,
  n: number,
  moment: Moment,
  interrupt: (watch: Watch) => Promise<void>,
): { bindings: Env; watch: Watch; counted: <Answer>(call: () => Answer | Promise<Answer>) => Promise<Answer> } {
  const watch: Watch = { calls: 0, isDead: false };
  /** Counts a call that the test itself makes for the isolate, as its `fetch` does. */
  const counted = async <Answer>(call: () => Answer | Promise<Answer>): Promise<Answer> => {
    if (watch.isDead) throw new Error('the isolate is dead');
    const isNth = ++watch.calls === n;
    if (isNth && moment === 'before') await interrupt(watch);
    const answer = await call();
    if (isNth && moment === 'after') await interrupt(watch);
    return answer;
  };
  const watched = <Binding>(binding: Binding): Binding =>
    new Proxy({} as object, {
      get:
        (_target, method: string) =>
        (...given: unknown[]) =>
          counted(() => (binding as Calls)[method]!(...given)),
    }) as Binding;

  const originals = new WeakMap<object, D1PreparedStatement>();
  const statement = (original: D1PreparedStatement): D1PreparedStatement => {
    const wrapper = {
      bind: (...values: unknown[]) => statement(original.bind(...values)),
      all: () => counted(() => original.all()),
      raw: () => counted(() => original.raw()),
      run: () => counted(() => original.run()),
    } as unknown as D1PreparedStatement;
    originals.set(wrapper, original);
    return wrapper;
  };
  return {
    watch,
    counted,
    bindings: {
      ...bindings,
      DB: {
        prepare: (sql: string) => statement(bindings.DB.prepare(sql)),
        batch: (statements: D1PreparedStatement[]) => counted(() => bindings.DB.batch(statements.map((one) => originals.get(one)!))),
      } as unknown as D1Database,
      FILES: watched(bindings.FILES),
      DOCUMENTS_QUEUE: watched(bindings.DOCUMENTS_QUEUE),
      LARGE_DOCUMENTS_QUEUE: watched(bindings.LARGE_DOCUMENTS_QUEUE),
      SYNCS_QUEUE: watched(bindings.SYNCS_QUEUE),
      VECTORS: watched(bindings.VECTORS),
      VECTOR_INDEX: { getByName: (name: string) => watched(bindings.VECTOR_INDEX.getByName(name)) } as unknown as Env['VECTOR_INDEX'],
    },
  };
}

/** Bindings of an isolate that dies there, and does nothing afterwards. */
export const dyingAt = (bindings: Env, n: number, moment: Moment) =>
  interruptedAt(bindings, n, moment, async (watch) => {
    watch.isDead = true;
    throw new Error('the isolate died');
  });
