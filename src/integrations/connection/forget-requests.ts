import type { Database } from '../../database/client.ts';
import { deleteRequests } from './store.ts';

/** An expired request takes no place, but says for an hour what was asked for, to whoever finalizes late. */
const keptAfterExpiryMs = 60 * 60_000;

export const forgetExpiredRequests = (database: Database, now: number): Promise<void> => deleteRequests(database, now - keptAfterExpiryMs);
