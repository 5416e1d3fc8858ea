import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Miniflare } from 'miniflare';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { listen } from '../../simulators/listen.ts';
import { migrate } from './migrate.ts';
import { startModel, type Model } from './model.ts';
import { loadWrangler, newStateDirectory, startWorkers, workerdVersion } from './runtime.ts';
import { readWorkers, type WorkerOptions } from './workers.ts';

const workerNames = ['service', 'recording', 'floor'] as const;
export type WorkerName = (typeof workerNames)[number];
export type Database = Awaited<ReturnType<Miniflare['getD1Database']>>;

export interface Rig {
  origins: Record<WorkerName, URL>;
  databases: Record<WorkerName, Database>;
  /** The simulated outside, and the endpoint in it that takes anything at any path below. */
  outside: string;
  receiver: string;
  /** The language model that the service and the floor ask. */
  model: Model;
  /** How many lines the Workers have logged. */
  loggedLines(): number;
  /** How many of them are errors. */
  loggedErrors(): number;
  /** Does the service's minute tick. */
  tick(): Promise<unknown>;
  workerdVersion: string;
  compatibilityDate: string;
  /** Where a debugger finds the service, when it was asked for. */
  inspector: URL | undefined;
  stop(): Promise<void>;
}

export interface RigOptions {
  isInspected?: boolean;
  /** The service alone, as another program is: without its recording and the floor, which have no origins and databases then. */
  isAlone?: boolean;
  /** The most that the heap of an isolate may have. Absent: as much as it likes. */
  heapMegabytes?: number;
  /** The functions of the service keep their names, for a profile. */
  hasNames?: boolean;
}

/**
 * Starts the Workers in one workerd. Each has its own socket, without a router before it, and its own migrated D1 database. Their log lines are
 * counted and, but for errors, dropped. State is in a temporary folder until `stop`.
 */
export async function startRig({ isInspected = false, isAlone = false, heapMegabytes, hasNames = false }: RigOptions = {}): Promise<Rig> {
  const names = isAlone ? (['service'] as const) : workerNames;
  const wrangler = loadWrangler();
  const directory = newStateDirectory();
  const outside = await listen({ port: 0 });
  const model = await startModel();
  let miniflare: Miniflare | undefined;
  const stop = async () => {
    await miniflare?.dispose();
    await outside.close();
    await model.close();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const config = wrangler.unstable_readConfig({ config: join(projectDirectory, 'wrangler.toml') });
    // Another place for the config means no .dev.vars of this machine; without assets no router stands before the Worker.
    const standalone = { ...config, userConfigPath: join(directory, 'wrangler.toml'), assets: undefined };
    const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(standalone);
    let lines = 0;
    let errors = 0;
    const workers = await readWorkers(
      directory,
      workerOptions as unknown as WorkerOptions,
      { simulators: outside.url, model: model.url },
      hasNames,
    );
    const options = {
      workers: workers.filter(({ name }) => names.some((one) => one === name)),
      handleStructuredLogs: ({ message }: { message: string }) => {
        lines++;
        if (!message.includes('"level":"error"')) return;
        errors++;
        console.error(message.slice(0, 500));
      },
      ...(isInspected ? { inspectorPort: 0 } : {}),
    };
    miniflare = await startWorkers(directory, options, heapMegabytes);
    const databases = await forEach(names, (name) => miniflare!.getD1Database('DB', name));
    for (const name of names) await migrate(databases[name], name !== 'recording');
    return {
      origins: await forEach(names, (name) => miniflare!.unsafeGetDirectURL(name)),
      databases,
      outside: outside.url,
      receiver: `${outside.url}/receiver`,
      model,
      loggedLines: () => lines,
      loggedErrors: () => errors,
      tick: async () => (await miniflare!.getWorker('service')).scheduled({ cron: '* * * * *', scheduledTime: new Date() }),
      workerdVersion: workerdVersion(),
      compatibilityDate: (workerOptions as unknown as WorkerOptions).compatibilityDate,
      inspector: isInspected ? await miniflare.getInspectorURL() : undefined,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function forEach<T>(names: readonly WorkerName[], make: (name: WorkerName) => Promise<T>): Promise<Record<WorkerName, T>> {
  const entries = await Promise.all(names.map(async (name) => [name, await make(name)] as const));
  return Object.fromEntries(entries) as Record<WorkerName, T>;
}
