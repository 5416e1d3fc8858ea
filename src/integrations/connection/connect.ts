import type { Context } from '../../accounts/context.ts';
import { parseIsoInstant } from '../../library/instants.ts';
import type { App, BrokerConnection } from '../../providers/broker/broker.ts';
import { connectionBroker } from '../../providers/broker/composio.ts';
import { knownProvider, ownerOf, type Integration } from '../contract.ts';
import { deactivate, findCurrent } from '../store.ts';
import { succeededAtBroker } from '../succeeded.ts';
import { noPlace } from './no-place.ts';
import { hasParams, readParams } from './params.ts';
import { findRequest, nameRequest, releasePlace, takePlace, type ConnectionRequest } from './store.ts';

/** Where the broker does not say when a request ends. */
const requestLivesMs = 10 * 60_000;

export interface Connecting {
  /** The broker's id of the connection, for finalize. */
  request_id: string;
  /** Where a person consents; null: somebody has already. */
  redirect_url: string | null;
}

/** Throws 400 for an unknown provider and beyond the plan's integrations, 422 for what the provider needs and was not given, 502. */
export async function connect(
  context: Context,
  userId: number,
  body: { provider: string; connection_params?: Record<string, unknown> | null | undefined },
): Promise<Connecting> {
  const { database, organization, clock } = context;
  const provider = knownProvider(body.provider);
  const params = readParams(provider, body.connection_params);
  const current = await findCurrent(database, organization.id, provider);
  if (current?.isActive && (await isAlive(context, current))) return { request_id: current.accountId, redirect_url: null };

  const earlier = await findRequest(database, organization.id, provider);
  const now = clock();
  const request = { id: `new:${crypto.randomUUID()}`, connectionParams: params, createdBy: userId, expiresAt: now + requestLivesMs };
  const limit = organization.plan.maxIntegrations;
  if (!(await takePlace(database, { organizationId: organization.id, provider, limit, now }, request))) throw noPlace(limit);
  try {
    return await open(context, provider, request, { current, earlier });
  } catch (error) {
    await releasePlace(database, organization.id, request.id);
    throw error;
  }
}

/** Asks the broker, which may know that a grant has ended before anybody has used it. */
async function isAlive({ settings, database, clock }: Context, integration: Integration): Promise<boolean> {
  const { connection } = succeededAtBroker(await connectionBroker(settings).get(integration.accountId));
  if (connection?.status === 'active') return true;
  const reason = connection === null ? 'the broker knows the connection no more' : `the connection is ${connection.status}`;
  await deactivate(database, integration, `${integration.provider}: ${reason}; connect it again`, clock());
  return false;
}

async function open(
  { settings, database, organization }: Context,
  provider: App,
  request: Pick<ConnectionRequest, 'id' | 'connectionParams' | 'expiresAt'>,
  before: { current: Integration | null; earlier: ConnectionRequest | null },
): Promise<Connecting> {
  const broker = connectionBroker(settings);
  const owner = ownerOf(organization.id);
  const { connection } = succeededAtBroker(await broker.findActive(owner, provider));
  if (connection !== null && isUsable(connection, request.connectionParams, before)) {
    await nameRequest(database, organization.id, { ...request, from: request.id, to: connection.id, redirectUrl: null });
    return { request_id: connection.id, redirect_url: null };
  }
  if (connection !== null) succeededAtBroker(await broker.revoke(connection.id));
  const started = succeededAtBroker(await broker.start(owner, provider, request.connectionParams));
  const expiresAt = parseIsoInstant(started.expiresAt ?? '') ?? request.expiresAt;
  const { requestId, redirectUrl } = started;
  await nameRequest(database, organization.id, { from: request.id, to: requestId, redirectUrl, expiresAt });
  return { request_id: requestId, redirect_url: redirectUrl };
}

/**
 * Whether a consent that was given and never finalized will do. Not when its grant has been found dead, whatever the broker thinks of it,
 * and not when it may be for another site or data centre.
 */
function isUsable(
  { id, app }: BrokerConnection,
  params: Record<string, string>,
  { current, earlier }: { current: Integration | null; earlier: ConnectionRequest | null },
): boolean {
  if (id === current?.accountId) return false;
  if (app === undefined || !hasParams(app)) return true;
  return earlier?.id === id && JSON.stringify(earlier.connectionParams) === JSON.stringify(params);
}
