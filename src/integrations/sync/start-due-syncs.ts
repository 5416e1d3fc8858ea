import type { Database } from '../../database/client.ts';
import { syncIntervalMs, toSyncMessage } from './start-sync.ts';
import { insertDueSyncs, claimLapsedSyncs } from './sync-store.ts';

/** The maximum of new syncs, and of resent messages, in one tick. */
const dueBatchSize = 500;
const lapsedBatchSize = 100;

/**
 * Starts the syncs of due data sources, and resends the messages of syncs that nobody has held since `lapsedBefore`. Returns the number of
 * resent messages.
 */
export async function startDueSyncs(bindings: Env, database: Database, now: number, lapsedBefore: number): Promise<number> {
  const lapsed = await claimLapsedSyncs(database, { before: lapsedBefore, now, limit: lapsedBatchSize });
  const due = await insertDueSyncs(database, { now, nextSyncAt: now + syncIntervalMs, limit: dueBatchSize });
  const messages = [...lapsed, ...due].map((sync) => ({ body: toSyncMessage(sync) }));
  for (let start = 0; start < messages.length; start += 100) await bindings.SYNCS_QUEUE.sendBatch(messages.slice(start, start + 100));
  return lapsed.length;
}
