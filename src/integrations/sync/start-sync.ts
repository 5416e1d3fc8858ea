import type { Context } from '../../context.ts';
import type { Integration } from '../contract.ts';
import { enqueueSync } from './sync-message.ts';
import { insertSync } from './sync-store.ts';

/** How often a data source is read. */
export const syncIntervalMs = 15 * 60_000;

/**
 * Begins to read all of a data source, or finds the reading that is under way. When what is read has been changed since that began, it
 * begins anew under the same id.
 */
export async function startSync(context: Context, { id }: Pick<Integration, 'id'>): Promise<{ sync_id: number }> {
  const { database, organization, clock } = context;
  const now = clock();
  const integration = { organizationId: organization.id, integrationId: id };
  const syncId = await insertSync(database, integration, { now, nextSyncAt: now + syncIntervalMs, checkpoint: { everything: true } });
  enqueueSync(context, syncId);
  return { sync_id: syncId };
}
