import { and, eq } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { connectionRequest } from '../../database/schema/integrations.ts';
import type { App } from '../../library/connectable-apps.ts';

export type ConnectionRequest = typeof connectionRequest.$inferSelect;

/** The number of integrations of other providers than `?2` that are active, or requested and not expired at `?3`. */
const countOfOthers = `(SELECT count(*) FROM (
     SELECT provider FROM integration
     WHERE organization_id = ?1 AND disconnected_at IS NULL AND is_active = 1 AND provider <> ?2
     UNION SELECT provider FROM connection_request WHERE organization_id = ?1 AND expires_at > ?3 AND provider <> ?2))`;

export interface IntegrationQuota {
  organizationId: number;
  provider: App;
  /** The maximum of integrations in the plan. */
  limit: number;
  now: number;
}

/**
 * Stores a connection request if the plan has room, or replaces an earlier request for the same provider. False: there is no room. One
 * statement counts and inserts, so two simultaneous requests cannot both take the last place.
 */
export async function insertRequestWithinQuota(
  database: Database,
  { organizationId, provider, limit, now }: IntegrationQuota,
  request: Pick<ConnectionRequest, 'id' | 'connectionParams' | 'createdBy' | 'expiresAt'>,
): Promise<boolean> {
  const taken = await database.first(
    database.prepare(
      `INSERT INTO connection_request (organization_id, provider, created_at, id, connection_params, created_by, expires_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE ${countOfOthers} < ?8
       ON CONFLICT (organization_id, provider) DO UPDATE SET id = excluded.id, connection_params = excluded.connection_params,
         redirect_url = NULL, created_by = excluded.created_by, created_at = excluded.created_at, expires_at = excluded.expires_at
       RETURNING id`,
      organizationId,
      provider,
      now,
      request.id,
      JSON.stringify(request.connectionParams),
      request.createdBy,
      request.expiresAt,
      limit,
    ),
    'connection_request.provider',
  );
  return taken !== null;
}

/** Stores the broker's id of the request, unless a later request has replaced it. */
export async function setBrokerConnectionId(
  database: Database,
  organizationId: number,
  { from, to, redirectUrl, expiresAt }: { from: string; to: string; redirectUrl: string | null; expiresAt: number },
): Promise<void> {
  const query = database.orm
    .update(connectionRequest)
    .set({ id: to, redirectUrl, expiresAt })
    .where(and(eq(connectionRequest.id, from), eq(connectionRequest.organizationId, organizationId)));
  await database.all(database.from(query), 'idempotent');
}

export async function deleteRequest(database: Database, organizationId: number, id: string): Promise<void> {
  const query = database.orm
    .delete(connectionRequest)
    .where(and(eq(connectionRequest.id, id), eq(connectionRequest.organizationId, organizationId)));
  await database.all(database.from(query), 'idempotent');
}

export async function findRequest(database: Database, organizationId: number, provider: App): Promise<ConnectionRequest | null> {
  const query = database.orm
    .select()
    .from(connectionRequest)
    .where(and(eq(connectionRequest.organizationId, organizationId), eq(connectionRequest.provider, provider)));
  return (await database.run(() => query))[0] ?? null;
}

export interface Activation {
  accountId: string;
  accountLabel: string | null;
  createdBy: number;
  connectionParams: Record<string, string>;
}

/**
 * Makes a connection the provider's integration, or gives it to the provider's current integration, whose id and settings stay. Returns
 * the integration's id; null: the plan has no room.
 */
export async function activate(
  database: Database,
  { organizationId, provider, limit, now }: IntegrationQuota,
  { accountId, accountLabel, createdBy, connectionParams }: Activation,
): Promise<number | null> {
  const [rows] = await database.batch(
    [
      database.prepare<{ id: number }>(
        `INSERT INTO integration (organization_id, provider, created_at, updated_at, account_id, account_label, created_by, is_active, action,
         connection_params, provider_data, field_mapping)
       SELECT ?1, ?2, ?3, ?3, ?4, ?5, ?6, 1, 'all_calls', ?7, '{}', '{}' WHERE ${countOfOthers} < ?8
       ON CONFLICT (organization_id, provider) WHERE disconnected_at IS NULL DO UPDATE SET account_id = excluded.account_id,
         account_label = coalesce(excluded.account_label, account_label), is_active = 1, last_error = NULL,
         connection_params = excluded.connection_params, revision = revision + 1, updated_at = excluded.updated_at
       RETURNING id`,
        organizationId,
        provider,
        now,
        accountId,
        accountLabel,
        createdBy,
        JSON.stringify(connectionParams),
        limit,
      ),
      database.prepare(
        `DELETE FROM connection_request WHERE organization_id = ?1 AND provider = ?2
       AND EXISTS (SELECT 1 FROM integration WHERE account_id = ?3 AND is_active = 1)`,
        organizationId,
        provider,
        accountId,
      ),
    ],
    'integration.provider',
  );
  return rows[0]?.id ?? null;
}
