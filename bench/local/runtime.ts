import { existsSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Miniflare, V4MiniflareOptions } from 'miniflare';

const requireHere = createRequire(import.meta.url);
// The versions that wrangler brings along, wherever the package manager has put them.
const requireFromWrangler = createRequire(requireHere.resolve('wrangler'));
const requireFromMiniflare = createRequire(requireFromWrangler.resolve('miniflare'));

/** Where the state is: in memory if the system has such a folder and TMPDIR names no other, since no disk is to be measured. */
const stateParent = (): string => (process.env.TMPDIR === undefined && existsSync(inMemory) ? inMemory : tmpdir());
const inMemory = '/dev/shm';

export const newStateDirectory = (): string => mkdtempSync(join(stateParent(), 'voice-agents-bench-'));

/**
 * Starts Workers in a workerd of their own; their options are those that wrangler makes. All that they store is in `directory`. `heapMegabytes`:
 * the most that the heap of an isolate may have; workerd ends when one needs more.
 */
export async function startWorkers(
  directory: string,
  options: { workers: object[] } & Record<string, unknown>,
  heapMegabytes?: number,
): Promise<Miniflare> {
  process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false';
  process.env.MINIFLARE_WORKERD_V8_FLAGS = heapMegabytes === undefined ? '' : `--max-heap-size=${heapMegabytes}`;
  const { Miniflare: Runtime, convertV4MiniflareOptions } = requireFromWrangler('miniflare') as typeof import('miniflare');
  const converted = convertV4MiniflareOptions(options as unknown as V4MiniflareOptions);
  const runtime = new Runtime({ ...converted, resourcePersistencePath: join(directory, 'state') });
  await runtime.ready;
  return runtime;
}

export const loadWrangler = () => requireHere('wrangler') as typeof import('wrangler');

export const workerdVersion = (): string => (requireFromMiniflare('workerd') as { version: string }).version;
