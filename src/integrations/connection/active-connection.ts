import type { Context } from '../../context.ts';
import { ServiceError } from '../../library/errors.ts';
import type { AppConnection } from '../../providers/apps/app-client.ts';
import type { App } from '../../library/connectable-apps.ts';
import type { AppFailure } from '../../providers/broker/broker.ts';
import { createBroker } from '../../providers/broker/composio.ts';
import type { Integration } from '../contract.ts';
import { publish } from '../../outbox/published-events.ts';
import { deactivate, findCurrent } from '../store.ts';

/** The organization's active integration of a provider, with its connection. Throws 404 `not_connected`. */
export async function requireConnection(context: Context, provider: App): Promise<{ integration: Integration; connection: AppConnection }> {
  const integration = await findCurrent(context.database, context.organization.id, provider);
  if (!integration) throw notConnectedError(provider, 'connect it with POST /integration/connect');
  return { integration, connection: toAppConnection(context, integration) };
}

/** The connection of an integration. Throws 404 `not_connected` when its grant has ended. */
export function toAppConnection({ settings }: Context, integration: Integration): AppConnection {
  if (!integration.isActive) throw notConnectedError(integration.provider, integration.lastError ?? 'connect it again');
  return { broker: createBroker(settings), id: integration.accountId };
}

const notConnectedError = (provider: App, what: string) =>
  new ServiceError('not_found', `${provider} has no active connection; ${what}`, { word: 'not_connected' });

/** Makes the integration inactive, with the reason, when the failure shows that its connection is dead. */
export async function deactivateIfDisconnected(context: Context, integration: Integration, failure: AppFailure): Promise<void> {
  if (failure.failure !== 'not_connected') return;
  await deactivate(context.database, integration, failure.message, context.clock());
  await publish(context, 'webhook_event.recorded', { type: 'integration.disconnected' });
}
