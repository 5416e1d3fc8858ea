import type { Context } from '../../accounts/context.ts';
import { conflict } from '../../library/errors.ts';
import type { Broker } from '../../providers/broker/broker.ts';
import { connectionBroker } from '../../providers/broker/composio.ts';
import { announceCleanup } from '../../queues/announce.ts';
import { ownerOf, type Integration } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { disconnectIntegration } from '../store.ts';
import { succeededAtBroker } from '../succeeded.ts';

/**
 * Ends the grant, then removes the integration. Throws 404, 409 when it is connected again meanwhile, and 502 when the broker cannot end the
 * grant: then nothing has changed.
 */
export async function disconnect(context: Context, id: number): Promise<void> {
  const { settings, database, clock, log } = context;
  const integration = await existingIntegration(context, id);
  const broker = connectionBroker(settings);
  const { isRevoked } = succeededAtBroker(await broker.revoke(integration.accountId));
  if (!isRevoked) log.warn('a grant may still stand at the provider', { integration_id: id, provider: integration.provider });
  await revokeOthers(broker, integration);
  const cleanup = await disconnectIntegration(database, integration, clock());
  if (cleanup === null) throw conflict('The integration was connected or disconnected by another request meanwhile; look again');
  announceCleanup(context, cleanup);
}

/** More than people leave behind. */
const mostOthers = 10;

/** A consent that was given and never finalized would spare the next connect the consent that the person then means to give. */
async function revokeOthers(broker: Broker, { organizationId, provider }: Integration): Promise<void> {
  for (let count = 0; count < mostOthers; count++) {
    const { connection } = succeededAtBroker(await broker.findActive(ownerOf(organizationId), provider));
    if (connection === null) return;
    succeededAtBroker(await broker.revoke(connection.id));
  }
}
