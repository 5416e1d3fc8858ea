import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Inspector } from '../inspector.ts';
import { workerdId } from './processor-time.ts';

const sampleEveryMs = 10;

/**
 * How many MB workerd grew at most while `work` ran: its resident size, with all Workers, D1, queues and R2, read every 10 ms. NaN where there is no
 * /proc.
 */
export async function measureGrowth(work: () => Promise<unknown>): Promise<number> {
  const id = workerdId();
  const before = residentMegabytes(id);
  return (await measureMax(async () => residentMegabytes(id), work)) - before;
}

/** The most MB that an isolate held in its heap and in buffers while `work` ran, garbage included, as often as it answered. */
export const measureHeap = (inspector: Inspector, work: () => Promise<unknown>): Promise<number> =>
  measureMax(async () => (await inspector.heldBytes()) / 1e6, work);

async function measureMax(look: () => Promise<number>, work: () => Promise<unknown>): Promise<number> {
  const isDone = new AbortController();
  let most = await look();
  const looking = (async () => {
    for (; !isDone.signal.aborted; await sleep(sampleEveryMs)) most = Math.max(most, await look());
  })();
  try {
    await work();
  } finally {
    isDone.abort();
    await looking;
  }
  return most;
}

/** The resident size of the workerd that this program has started; NaN where there is no /proc. */
export const workerdMegabytes = (): number => residentMegabytes(workerdId());

/** The resident size of a process and all that descend from it; NaN where there is no /proc. */
export function residentMegabytesOfTree(root: number): number {
  const ids = listProcesses();
  const parents = new Map(ids.map((id) => [id, /^PPid:\s+(\d+)$/m.exec(readStatus(id))?.[1]]));
  const descends = (id: string | undefined): boolean => id !== undefined && (id === String(root) || descends(parents.get(id)));
  const sizes = ids.filter(descends).map(residentMegabytes);
  return sizes.length === 0 ? Number.NaN : sizes.reduce((sum, size) => sum + (size || 0), 0);
}

function listProcesses(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function residentMegabytes(id: string | null): number {
  if (id === null) return Number.NaN;
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readStatus(id)) ?? [];
  return (Number(kibibytes) * 1024) / 1e6;
}

/** Empty when the process has just ended; its user gets the error. */
function readStatus(id: string): string {
  try {
    return readFileSync(`/proc/${id}/status`, 'utf8');
  } catch {
    return '';
  }
}
