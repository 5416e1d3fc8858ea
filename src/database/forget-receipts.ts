import type { Database } from './client.ts';
import { keptSince } from './receipts.ts';

/** Deletes receipts that no repeat will look for any more, some at a time. */
export async function forgetReceipts(database: Database, now: number): Promise<void> {
  await database.all(
    database.prepare('DELETE FROM write_receipt WHERE key IN (SELECT key FROM write_receipt WHERE key < ? LIMIT 5000)', keptSince(now)),
    'same values',
  );
}
