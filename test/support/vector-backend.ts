import { env } from 'cloudflare:workers';
import { getSettings } from '../../src/settings.ts';

/** The index that vectors of the organizations of this run are kept in: tests of the knowledge base run with both. */
export const vectorBackend = getSettings(env).VECTOR_BACKEND;

/** Until the index shows what it has taken. */
export async function waitForVectors(): Promise<void> {
  if (vectorBackend === 'vectorize') await (env.VECTORS as unknown as { settle(): Promise<void> }).settle();
}

type Calls = Record<string, (...given: any[]) => unknown>;

/** Replacements for calls to an index, by method name. */
export type IndexCalls = Partial<Record<'upsert' | 'areVisible', () => Promise<unknown>>>;

const bindingMethodNames = {
  embedded: { upsert: 'upsert', areVisible: 'hasAll' },
  vectorize: { upsert: 'upsert', areVisible: 'getByIds' },
};

/** Bindings with an index whose given methods are replaced. */
export function withIndexCalls(bindings: Env, calls: IndexCalls): Env {
  const answers = new Map(
    Object.entries(calls).map(([name, answer]) => [bindingMethodNames[vectorBackend][name as keyof IndexCalls], answer]),
  );
  const answering = (real: object) =>
    new Proxy({} as object, {
      get: (_target, name: string) => answers.get(name) ?? ((...given: unknown[]) => (real as Calls)[name]!(...given)),
    });
  const VECTOR_INDEX = { getByName: (name: string) => answering(bindings.VECTOR_INDEX.getByName(name)) };
  return { ...bindings, ...(vectorBackend === 'embedded' ? { VECTOR_INDEX } : { VECTORS: answering(bindings.VECTORS) }) } as unknown as Env;
}
