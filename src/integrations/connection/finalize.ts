import type { Context } from '../../context.ts';
import { badRequest, conflict, notFound, type ServiceError } from '../../library/errors.ts';
import type { App } from '../../library/connectable-apps.ts';
import type { BrokerConnection } from '../../providers/broker/broker.ts';
import { createBroker } from '../../providers/broker/composio.ts';
import { parseProvider, brokerOwnerId, type Integration } from '../contract.ts';
import { findByAccount, findCurrent, findIntegration } from '../store.ts';
import { unwrapBrokerOutcome } from '../unwrap-outcome.ts';
import { hasParams } from './params.ts';
import { activate, findRequest, deleteRequest } from './store.ts';

/**
 * Makes a connection with consent the organization's integration. Throws 404 for an unknown connection, 409 while the consent is pending,
 * 400 when the connection failed or the plan has no room, and 502.
 */
export async function finalize(
  context: Context,
  userId: number,
  { connected_account_id: accountId, provider: name }: { connected_account_id: string; provider: string },
): Promise<Integration> {
  const { database, organization, settings } = context;
  const provider = parseProvider(name);
  const known = await findByAccount(database, organization.id, accountId);
  if (known?.isActive) {
    requireSameProvider(provider, known.provider);
    return known;
  }
  const broker = createBroker(settings);
  const { connection } = unwrapBrokerOutcome(await broker.get(accountId));
  if (connection === null || connection.owner !== brokerOwnerId(organization.id) || known?.disconnectedAt) throw notFound('Connection');
  requireSameProvider(provider, connection.app);
  await requireConsent(context, connection);

  const before = await findCurrent(database, organization.id, provider);
  const id = await activateIntegration(context, userId, provider, accountId);
  // Nothing uses the earlier connection any more, so its grant is revoked.
  if (before !== null && before.accountId !== accountId) context.defer(revokeQuietly(context, before.accountId));
  const integration = await findIntegration(database, organization.id, id);
  if (integration === null) throw notFound('Integration');
  return integration;
}

function requireSameProvider(provider: App, actual: App | undefined): void {
  if (actual === provider) return;
  throw badRequest(`This is a connection of ${actual ?? 'another provider'}, not of ${provider}; finalize it as what it is`);
}

async function requireConsent({ database, organization }: Context, { id, status, reason }: BrokerConnection): Promise<void> {
  if (status === 'active') return;
  if (status === 'pending')
    throw conflict('The connection is pending and must be active: nobody has consented yet; open its redirect_url, then finalize again');
  await deleteRequest(database, organization.id, id);
  const why = reason === undefined ? '' : ` (${reason.slice(0, 200)})`;
  throw badRequest(`The connection is ${status}${why}; begin again with POST /integration/connect`);
}

async function activateIntegration(context: Context, userId: number, provider: App, accountId: string): Promise<number> {
  const { database, organization, clock } = context;
  const params = await findConnectionParams(context, provider, accountId);
  const limit = organization.plan.maxIntegrations;
  const id = await activate(
    database,
    { organizationId: organization.id, provider, limit, now: clock() },
    {
      accountId,
      accountLabel: params['subdomain'] === undefined ? null : `${params['subdomain']}.atlassian.net`,
      createdBy: userId,
      connectionParams: params,
    },
  );
  if (id === null) throw integrationLimitReached(limit);
  return id;
}

/** The parameters of the connection, from its request or, after another call has finalized it, from its integration. */
async function findConnectionParams(
  { database, organization }: Context,
  provider: App,
  accountId: string,
): Promise<Record<string, string>> {
  if (!hasParams(provider)) return {};
  const request = await findRequest(database, organization.id, provider);
  const known = request?.id === accountId ? request : await findByAccount(database, organization.id, accountId);
  if (known !== null) return known.connectionParams;
  throw badRequest('The request of this connection has expired or was replaced by a later one; begin again with POST /integration/connect');
}

async function revokeQuietly({ settings, log }: Context, accountId: string): Promise<void> {
  const revoked = await createBroker(settings).revoke(accountId);
  if ('failure' in revoked) log.warn('a replaced connection was not revoked', { account_id: accountId, failure: revoked.failure });
}

/** The refusal when the plan has no room for another integration. */
export const integrationLimitReached = (limit: number): ServiceError =>
  badRequest(
    `The plan allows ${limit} ${limit === 1 ? 'integration' : 'integrations'}, and no place is left beside those that are connected or being connected; ` +
      'disconnect one or have the plan raised',
  );
