import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { CallObject } from '../../durable-objects/call/call-object.ts';
import { crashAtCall, copyAndDispose, type CrashPoint, type CrashWatch } from './crashing-object.ts';

/** Objects of any class, whose methods are called by name. */
interface Objects {
  getByName(name: string): unknown;
}

const watchedNames = ['CALL_SLOTS', 'AUTOMATION_RUN', 'VECTOR_INDEX'] as const;
const isWatched = (name: string | symbol): name is (typeof watchedNames)[number] => watchedNames.some((watched) => watched === name);

/** `crashAtCall` for the object of a call, which also calls other objects: those calls count, too. */
export async function crashCallObjectAt(stub: DurableObjectStub<CallObject>, n: number, moment: CrashPoint): Promise<CrashWatch> {
  const watch = await crashAtCall(stub as unknown as Parameters<typeof crashAtCall>[0], n, moment);
  const watchedCalls = (target: () => unknown) =>
    new Proxy(
      {},
      {
        get:
          (_target, method: string) =>
          (...parameters: unknown[]) =>
            watch.watched(() => (target() as Record<string, (...given: unknown[]) => Promise<unknown>>)[method]!(...parameters)),
      },
    );
  const watchedObjects = (namespace: Objects) => ({ getByName: (name: string) => watchedCalls(() => namespace.getByName(name)) });
  const vectorize = new Proxy(
    {},
    {
      get:
        (_target, method: string) =>
        (...asked: unknown[]) =>
          watch.watched(() =>
            copyAndDispose((env.VECTORS as unknown as Record<string, (...given: unknown[]) => Promise<object>>)[method]!(...asked)),
          ),
    },
  );
  await runInDurableObject(stub, (instance) => {
    const object = instance as unknown as { env: Env };
    const watched = object.env;
    object.env = new Proxy(watched, {
      get: (target, name) => {
        if (name === 'VECTORS') return vectorize;
        return isWatched(name) ? watchedObjects(env[name]) : Reflect.get(target, name);
      },
    });
  });
  return watch;
}
