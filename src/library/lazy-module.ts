const loads: (() => unknown)[] = [];

/**
 * A module that is evaluated when it is first asked for. Keeps the module, not the promise of it: a promise belongs to the request that made
 * it, and another request that waits for it may wait for ever.
 */
export function lazyModule<Module>(load: () => Promise<Module>): () => Promise<Module> | Module {
  let loaded: Module | undefined;
  const get = () => loaded ?? load().then((module) => (loaded = module));
  loads.push(get);
  return get;
}

/** Evaluates all lazy modules whose `lazyModule` was called, for tests: there, a module is fetched on behalf of the request that imports it. */
export const loadLazyModules = (): Promise<unknown> => Promise.all(loads.map((load) => load()));
