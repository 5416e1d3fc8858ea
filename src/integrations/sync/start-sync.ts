import type { Context } from '../../context.ts';
import { dataSources, type Integration } from '../contract.ts';
import type { SyncsMessage } from '../../outbox/messages.ts';
import { conflict } from '../../library/errors.ts';
import { toAppConnection } from '../connection/active-connection.ts';
import { existingIntegration } from '../existing-integration.ts';
import { missingSyncConfig } from './missing-sync-config.ts';
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

/** Begins to read a data source now, or finds the reading that is under way. Throws 409 while something is still to be chosen. */
export async function resync(context: Context, id: number): Promise<{ status: 'started'; sync_id: number }> {
  const integration = await existingIntegration(context, id, dataSources);
  toAppConnection(context, integration);
  const lacking = missingSyncConfig(integration);
  if (lacking !== null) throw conflict(`The integration cannot be read yet: ${lacking}`);
  const { sync_id } = await startSync(context, integration);
  return { status: 'started', sync_id };
}

export const toSyncMessage = ({ id, organization_id }: { id: number; organization_id: number }): SyncsMessage => ({
  v: 1,
  kind: 'sync',
  organization_id,
  id,
});

/** After the answer; a send that is lost is made good by the minute tick. */
function enqueueSync({ bindings, organization, defer }: Context, id: number): void {
  defer(bindings.SYNCS_QUEUE.send(toSyncMessage({ id, organization_id: organization.id })));
}
