import type { Context } from '../../context.ts';
import { conflict } from '../../library/errors.ts';
import type { Broker } from '../../providers/broker/broker.ts';
import { createBroker } from '../../providers/broker/composio.ts';
import { enqueueCleanup } from '../../outbox/enqueue.ts';
import { publish } from '../../outbox/published-events.ts';
import { brokerOwnerId, type Integration } from '../contract.ts';
import { existingIntegration } from '../existing-integration.ts';
import { disconnectIntegration } from '../store.ts';
import { unwrapBrokerOutcome } from '../unwrap-outcome.ts';

/**
 * Revokes the grant, then removes the integration. Throws 404, 409 when it is connected again meanwhile, and 502 when the broker cannot
 * revoke the grant; then nothing changes.
 */
export async function disconnect(context: Context, id: number): Promise<void> {
  const { settings, database, clock, log } = context;
  const integration = await existingIntegration(context, id);
  const broker = createBroker(settings);
  const { isRevoked } = unwrapBrokerOutcome(await broker.revoke(integration.accountId));
  if (!isRevoked) log.warn('a grant may still stand at the provider', { integration_id: id, provider: integration.provider });
  await revokeOtherConnections(broker, integration);
  const cleanup = await disconnectIntegration(database, integration, clock());
  if (cleanup === null) throw conflict('The integration was connected or disconnected by another request meanwhile; look again');
  enqueueCleanup(context, cleanup);
  await publish(context, 'webhook_event.recorded', { type: 'integration.disconnected' });
}

/** People leave fewer unfinished connections behind. */
const maxOtherConnections = 10;

/** Revokes consents that were never finalized; the next connect would use one of them instead of asking the person. */
async function revokeOtherConnections(broker: Broker, { organizationId, provider }: Integration): Promise<void> {
  for (let count = 0; count < maxOtherConnections; count++) {
    const { connection } = unwrapBrokerOutcome(await broker.findActive(brokerOwnerId(organizationId), provider));
    if (connection === null) return;
    unwrapBrokerOutcome(await broker.revoke(connection.id));
  }
}
