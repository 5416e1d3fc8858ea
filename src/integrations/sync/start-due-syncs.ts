import type { Database } from '../../database/client.ts';
import { syncIntervalMs, toSyncMessage } from './start-sync.ts';
import { insertDueSyncs, claimLapsedSyncs } from './sync-store.ts';

/** How many are begun, and how many are sent for again, in a tick. */
const dueBatchSize = 500;
const lapsedBatchSize = 100;

/** Begins to read the data sources that are due, and sends again for syncs that nobody holds since `lapsedBefore`. Answers how many of these. */
export async function startDueSyncs(bindings: Env, database: Database, now: number, lapsedBefore: number): Promise<number> {
  const lapsed = await claimLapsedSyncs(database, { before: lapsedBefore, now, limit: lapsedBatchSize });
  const due = await insertDueSyncs(database, { now, nextSyncAt: now + syncIntervalMs, limit: dueBatchSize });
  const messages = [...lapsed, ...due].map((sync) => ({ body: toSyncMessage(sync) }));
  for (let start = 0; start < messages.length; start += 100) await bindings.SYNCS_QUEUE.sendBatch(messages.slice(start, start + 100));
  return lapsed.length;
}
