import type { Context } from '../../context.ts';
import { publish } from '../../outbox/published-events.ts';
import { parseIsoInstant } from '../../library/time/instants.ts';
import type { App } from '../../library/connectable-apps.ts';
import type { BrokerConnection } from '../../providers/broker/broker.ts';
import { createBroker } from '../../providers/broker/composio.ts';
import { parseProvider, brokerOwnerId, type Integration } from '../contract.ts';
import { deactivate, findCurrent } from '../store.ts';
import { unwrapBrokerOutcome } from '../unwrap-outcome.ts';
import { integrationLimitReached } from './finalize.ts';
import { hasParams, parseParams } from './params.ts';
import { findRequest, setBrokerConnectionId, deleteRequest, insertRequestWithinQuota, type ConnectionRequest } from './store.ts';

/** The lifetime of a request when the broker does not give one. */
const requestTtlMs = 10 * 60_000;

export interface ConnectResult {
  /** The broker's id of the connection; `finalize` takes it. */
  request_id: string;
  /** The page where a person consents; null: a consent exists already. */
  redirect_url: string | null;
}

/**
 * Begins to connect a provider. Throws 400 for an unknown provider and beyond the plan's limit, 422 for missing or invalid parameters, and
 * 502.
 */
export async function connect(
  context: Context,
  userId: number,
  body: { provider: string; connection_params?: Record<string, unknown> | null | undefined },
): Promise<ConnectResult> {
  const { database, organization, clock } = context;
  const provider = parseProvider(body.provider);
  const params = parseParams(provider, body.connection_params);
  const current = await findCurrent(database, organization.id, provider);
  if (current?.isActive && (await isAlive(context, current))) return { request_id: current.accountId, redirect_url: null };

  const earlier = await findRequest(database, organization.id, provider);
  const now = clock();
  const request = { id: `new:${crypto.randomUUID()}`, connectionParams: params, createdBy: userId, expiresAt: now + requestTtlMs };
  const limit = organization.plan.maxIntegrations;
  if (!(await insertRequestWithinQuota(database, { organizationId: organization.id, provider, limit, now }, request)))
    throw integrationLimitReached(limit);
  try {
    return await openConnection(context, provider, request, { current, earlier });
  } catch (error) {
    await deleteRequest(database, organization.id, request.id);
    throw error;
  }
}

/** Asks the broker, which may know that a grant has ended before the first request fails. */
async function isAlive(context: Context, integration: Integration): Promise<boolean> {
  const { settings, database, clock } = context;
  const { connection } = unwrapBrokerOutcome(await createBroker(settings).get(integration.accountId));
  if (connection?.status === 'active') return true;
  const reason = connection === null ? 'the broker knows the connection no more' : `the connection is ${connection.status}`;
  await deactivate(database, integration, `${integration.provider}: ${reason}; connect it again`, clock());
  await publish(context, 'webhook_event.recorded', { type: 'integration.disconnected' });
  return false;
}

async function openConnection(
  { settings, database, organization }: Context,
  provider: App,
  request: Pick<ConnectionRequest, 'id' | 'connectionParams' | 'expiresAt'>,
  before: { current: Integration | null; earlier: ConnectionRequest | null },
): Promise<ConnectResult> {
  const broker = createBroker(settings);
  const owner = brokerOwnerId(organization.id);
  const { connection } = unwrapBrokerOutcome(await broker.findActive(owner, provider));
  if (connection !== null && isUsable(connection, request.connectionParams, before)) {
    await setBrokerConnectionId(database, organization.id, { ...request, from: request.id, to: connection.id, redirectUrl: null });
    return { request_id: connection.id, redirect_url: null };
  }
  if (connection !== null) unwrapBrokerOutcome(await broker.revoke(connection.id));
  const started = unwrapBrokerOutcome(await broker.start(owner, provider, request.connectionParams));
  const expiresAt = parseIsoInstant(started.expiresAt ?? '') ?? request.expiresAt;
  const { requestId, redirectUrl } = started;
  await setBrokerConnectionId(database, organization.id, { from: request.id, to: requestId, redirectUrl, expiresAt });
  return { request_id: requestId, redirect_url: redirectUrl };
}

/**
 * Whether an existing consent that was never finalized can be used. It cannot after its grant was found dead, or when it may be for
 * another site or data centre.
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
