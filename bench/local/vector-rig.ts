import { rmSync } from 'node:fs';
import { Inspector } from '../inspector.ts';
import { bundle } from './bundle.ts';
import { newStateDirectory, startWorkers } from './runtime.ts';

/** The embedded index and a plain scan, in a workerd with nothing else. */
export interface VectorRig {
  origin: URL;
  inspector: Inspector;
  stop(): Promise<void>;
}

const name = 'vectors';

export async function startVectorRig(compatibilityDate: string): Promise<VectorRig> {
  const directory = newStateDirectory();
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    const worker = {
      ...(await bundle(directory, name, 'bench/workers/vector-worker.ts', compatibilityDate)),
      name,
      compatibilityDate,
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
      durableObjects: {
        INDEX: { className: 'MeasuredIndexObject', useSQLite: true, unsafePreventEviction: true },
        SCAN: { className: 'FloatScanObject', useSQLite: true, unsafePreventEviction: true },
      },
    };
    const runtime = await startWorkers(directory, { workers: [worker], inspectorPort: 0 });
    const inspector = await Inspector.attach(await runtime.getInspectorURL(), `core:user:${name}`);
    return {
      origin: await runtime.unsafeGetDirectURL(name),
      inspector,
      stop: async () => {
        inspector.close();
        await runtime.dispose();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}
