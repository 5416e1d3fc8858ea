import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../simulators/vectorize');
const entry = 'worker.ts';

/** The Worker that plays Vectorize, as options of a test pool. Search finds an accepted vector after half a second, or after `settle`. */
export function simulatedVectorize() {
  const others = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== entry);
  const modules = [entry, ...others].map((name) => ({
    type: 'ESModule' as const,
    path: join(folder, name),
    contents: stripTypeScriptTypes(readFileSync(join(folder, name), 'utf8')),
  }));
  return {
    name: 'simulated-vectorize',
    compatibilityDate: '2026-11-01',
    modules,
    modulesRoot: folder,
    bindings: { VISIBLE_AFTER_MS: '500' },
    durableObjects: { INDEX: { className: 'SimulatedIndexObject', useSQLite: true } },
  };
}
