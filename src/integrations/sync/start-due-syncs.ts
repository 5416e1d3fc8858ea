import type { Database } from '../../database/client.ts';
import { syncMessage } from './send-sync.ts';
import { everyMs } from './start-sync.ts';
import { insertDueSyncs, takeLapsedSyncs } from './sync-store.ts';

/** How many are begun, and how many are sent for again, in a tick. */
const dueAtOnce = 500;
const lapsedAtOnce = 100;

/** Begins to read the data sources that are due, and sends again for syncs that nobody holds since `lapsedBefore`. Answers how many of these. */
export async function startDueSyncs(bindings: Env, database: Database, now: number, lapsedBefore: number): Promise<number> {
  const lapsed = await takeLapsedSyncs(database, { before: lapsedBefore, now, limit: lapsedAtOnce });
  const due = await insertDueSyncs(database, { now, nextSyncAt: now + everyMs, limit: dueAtOnce });
  const messages = [...lapsed, ...due].map((sync) => ({ body: syncMessage(sync) }));
  for (let start = 0; start < messages.length; start += 100) await bindings.SYNCS_QUEUE.sendBatch(messages.slice(start, start + 100));
  return lapsed.length;
}
