import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Miniflare, V4MiniflareOptions } from 'miniflare';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { listen } from '../../simulators/listen.ts';
import { migrate } from './migrate.ts';
import { startModel, type Model } from './model.ts';
import { workersIn, type Configured } from './workers.ts';

const requireHere = createRequire(import.meta.url);
// The versions that wrangler brings along, wherever the package manager has put them.
const requireFromWrangler = createRequire(requireHere.resolve('wrangler'));
const requireFromMiniflare = createRequire(requireFromWrangler.resolve('miniflare'));

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
  workerdVersion: string;
  /** Where a debugger finds the service, when it was asked for. */
  inspector: URL | undefined;
  stop(): Promise<void>;
}

/** Where the state is: in memory if the system has such a folder and TMPDIR names no other, since no disk is to be measured. */
const stateParent = (): string => (process.env.TMPDIR === undefined && existsSync(inMemory) ? inMemory : tmpdir());
const inMemory = '/dev/shm';

/**
 * Starts the Workers in one workerd, each on a socket of its own that leads straight to it, with a D1 database of its own
 * that has the migrations applied. What they log is counted and discarded, but for errors. State is in a temporary folder until `stop`.
 */
export async function startRig(isInspected = false): Promise<Rig> {
  process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false';
  const { Miniflare: Runtime, convertV4MiniflareOptions } = requireFromWrangler('miniflare') as typeof import('miniflare');
  const wrangler = requireHere('wrangler') as typeof import('wrangler');
  const directory = mkdtempSync(join(stateParent(), 'voice-agents-bench-'));
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
    const options = {
      workers: await workersIn(directory, workerOptions as unknown as Configured, { simulators: outside.url, model: model.url }),
      handleStructuredLogs: ({ message }: { message: string }) => {
        lines++;
        if (message.includes('"level":"error"')) console.error(message.slice(0, 500));
      },
      ...(isInspected ? { inspectorPort: 0 } : {}),
    };
    miniflare = new Runtime(convertV4MiniflareOptions(options as unknown as V4MiniflareOptions));
    await miniflare.ready;
    const databases = await forEach((name) => miniflare!.getD1Database('DB', name));
    for (const name of workerNames) await migrate(databases[name], name !== 'recording');
    return {
      origins: await forEach((name) => miniflare!.unsafeGetDirectURL(name)),
      databases,
      outside: outside.url,
      receiver: `${outside.url}/receiver`,
      model,
      loggedLines: () => lines,
      workerdVersion: (requireFromMiniflare('workerd') as { version: string }).version,
      inspector: isInspected ? await miniflare.getInspectorURL() : undefined,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function forEach<T>(make: (name: WorkerName) => Promise<T>): Promise<Record<WorkerName, T>> {
  const entries = await Promise.all(workerNames.map(async (name) => [name, await make(name)] as const));
  return Object.fromEntries(entries) as Record<WorkerName, T>;
}
