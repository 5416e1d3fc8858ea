import type { Context } from '../../accounts/context.ts';
import { badRequest, conflict, notFound } from '../../library/errors.ts';
import type { App, BrokerConnection } from '../../providers/broker/broker.ts';
import { connectionBroker } from '../../providers/broker/composio.ts';
import { knownProvider, ownerOf, type Integration } from '../contract.ts';
import { findByAccount, findCurrent, findIntegration } from '../store.ts';
import { succeededAtBroker } from '../succeeded.ts';
import { noPlace } from './no-place.ts';
import { hasParams } from './params.ts';
import { activate, findRequest, releasePlace } from './store.ts';

/**
 * The integration of a connection to which somebody has consented. Throws 404 for a connection that the organization does not have, 409
 * while nobody has consented, 400 when it came to nothing or the plan has no place for it, 502.
 */
export async function finalize(
  context: Context,
  userId: number,
  { connected_account_id: accountId, provider: name }: { connected_account_id: string; provider: string },
): Promise<Integration> {
  const { database, organization, settings } = context;
  const provider = knownProvider(name);
  const known = await findByAccount(database, organization.id, accountId);
  if (known?.isActive) {
    refuseOther(provider, known.provider);
    return known;
  }
  const broker = connectionBroker(settings);
  const { connection } = succeededAtBroker(await broker.get(accountId));
  if (connection === null || connection.owner !== ownerOf(organization.id) || known?.disconnectedAt) throw notFound('Connection');
  refuseOther(provider, connection.app);
  await refuseUnconsented(context, connection);

  const before = await findCurrent(database, organization.id, provider);
  const id = await activateIt(context, userId, provider, accountId);
  // Nothing uses the earlier connection any more, so its grant is not left behind.
  if (before !== null && before.accountId !== accountId) context.defer(revokeQuietly(context, before.accountId));
  const integration = await findIntegration(database, organization.id, id);
  if (integration === null) throw notFound('Integration');
  return integration;
}

function refuseOther(provider: App, actual: App | undefined): void {
  if (actual === provider) return;
  throw badRequest(`This is a connection of ${actual ?? 'another provider'}, not of ${provider}; finalize it as what it is`);
}

async function refuseUnconsented({ database, organization }: Context, { id, status, reason }: BrokerConnection): Promise<void> {
  if (status === 'active') return;
  if (status === 'pending')
    throw conflict('The connection is pending and must be active: nobody has consented yet; open its redirect_url, then finalize again');
  await releasePlace(database, organization.id, id);
  const why = reason === undefined ? '' : ` (${reason.slice(0, 200)})`;
  throw badRequest(`The connection is ${status}${why}; begin again with POST /integration/connect`);
}

async function activateIt(context: Context, userId: number, provider: App, accountId: string): Promise<number> {
  const { database, organization, clock } = context;
  const params = await paramsOf(context, provider, accountId);
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
  if (id === null) throw noPlace(limit);
  return id;
}

/** What the connection is for: its request says it or, when another call has just finalized it, its integration. */
async function paramsOf({ database, organization }: Context, provider: App, accountId: string): Promise<Record<string, string>> {
  if (!hasParams(provider)) return {};
  const request = await findRequest(database, organization.id, provider);
  const known = request?.id === accountId ? request : await findByAccount(database, organization.id, accountId);
  if (known !== null) return known.connectionParams;
  throw badRequest('The request of this connection has expired or was replaced by a later one; begin again with POST /integration/connect');
}

async function revokeQuietly({ settings, log }: Context, accountId: string): Promise<void> {
  const revoked = await connectionBroker(settings).revoke(accountId);
  if ('failure' in revoked) log.warn('a replaced connection was not revoked', { account_id: accountId, failure: revoked.failure });
}
