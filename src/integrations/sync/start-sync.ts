import type { Context } from '../../context.ts';
import { dataSources, type Integration } from '../contract.ts';
import type { SyncsMessage } from '../../outbox/messages.ts';
import { conflict } from '../../library/errors.ts';
import { toAppConnection } from '../connection/active-connection.ts';
import { existingIntegration } from '../existing-integration.ts';
import { missingSyncConfig } from './missing-sync-config.ts';
import { insertSync } from './sync-store.ts';

/** The interval between the syncs of a data source. */
export const syncIntervalMs = 15 * 60_000;

/**
 * Starts a full sync of a data source, or returns the running one. When the source or mapping has changed since that began, it restarts
 * under the same id.
 */
export async function startSync(context: Context, { id }: Pick<Integration, 'id'>): Promise<{ sync_id: number }> {
  const { database, organization, clock } = context;
  const now = clock();
  const integration = { organizationId: organization.id, integrationId: id };
  const syncId = await insertSync(database, integration, { now, nextSyncAt: now + syncIntervalMs, checkpoint: { everything: true } });
  enqueueSync(context, syncId);
  return { sync_id: syncId };
}

/** Starts a full sync now, or returns the running one. Throws 404, 400, and 409 while a setting is missing. */
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

/** Sends the message after the response. The minute tick repeats a lost message. */
function enqueueSync({ bindings, organization, defer }: Context, id: number): void {
  defer(bindings.SYNCS_QUEUE.send(toSyncMessage({ id, organization_id: organization.id })));
}
