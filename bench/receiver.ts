import type { Bench } from './bench.ts';

/** Deletes the requests that the simulated receiver has recorded. */
export async function resetReceiver({ rig }: Bench): Promise<void> {
  await fetch(`${rig.outside}/__sim/reset?provider=receiver`, { method: 'POST' });
}

/** Throws unless the receiver was called so many times at the path, each time under another key. */
export async function requireReceiverCalls({ rig }: Bench, path: string, wanted: number): Promise<void> {
  const response = await fetch(`${rig.outside}/__sim/requests?provider=receiver&path=${path}`);
  const { requests } = (await response.json()) as { requests: { headers: Record<string, string> }[] };
  const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']));
  if (requests.length === wanted && keys.size === wanted) return;
  throw new Error(`${wanted} runs called ${path} ${requests.length} times with ${keys.size} keys`);
}
