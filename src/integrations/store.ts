import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Database } from '../database/client.ts';
import { integration, integrationSync } from '../database/schema/integrations.ts';
import type { App } from '../library/connectable-apps.ts';
import type { Integration } from './contract.ts';

export type Sync = typeof integrationSync.$inferSelect;

// Each provider has at most one current integration, which may be inactive. Disconnected integrations are not current.
const currentIntegrations = (organizationId: number) =>
  and(eq(integration.organizationId, organizationId), isNull(integration.disconnectedAt));

export async function findIntegration(database: Database, organizationId: number, id: number): Promise<Integration | null> {
  const query = database.orm
    .select()
    .from(integration)
    .where(and(currentIntegrations(organizationId), eq(integration.id, id)));
  return (await database.run(() => query))[0] ?? null;
}

/** Finds an integration, also a disconnected one, for references that outlive it. */
export async function findIncludingDisconnected(database: Database, organizationId: number, id: number): Promise<Integration | null> {
  const query = database.orm
    .select()
    .from(integration)
    .where(and(eq(integration.id, id), eq(integration.organizationId, organizationId)));
  return (await database.run(() => query))[0] ?? null;
}

export async function findCurrent(database: Database, organizationId: number, provider: App): Promise<Integration | null> {
  const query = database.orm
    .select()
    .from(integration)
    .where(and(currentIntegrations(organizationId), eq(integration.provider, provider)));
  return (await database.run(() => query))[0] ?? null;
}

/** The current integrations that can receive summaries of calls. */
export async function findSummaryTargets(database: Database, organizationId: number): Promise<Integration[]> {
  const query = database.orm
    .select()
    .from(integration)
    .where(and(currentIntegrations(organizationId), inArray(integration.provider, ['chatapp', 'tracker'])));
  return database.run(() => query);
}

/** Finds an integration by its connection, also a disconnected one. */
export async function findByAccount(database: Database, organizationId: number, accountId: string): Promise<Integration | null> {
  const query = database.orm
    .select()
    .from(integration)
    .where(and(eq(integration.accountId, accountId), eq(integration.organizationId, organizationId)));
  return (await database.run(() => query))[0] ?? null;
}

/** The current integrations in the order of their creation, each with its last sync. */
export async function listIntegrations(
  database: Database,
  organizationId: number,
): Promise<{ integration: Integration; lastSync: Sync | null }[]> {
  const last = sql`(SELECT max(id) FROM integration_sync WHERE integration_id = ${integration.id})`;
  const query = database.orm
    .select({ integration, lastSync: integrationSync })
    .from(integration)
    .leftJoin(integrationSync, eq(integrationSync.id, last))
    .where(currentIntegrations(organizationId))
    .orderBy(asc(integration.id));
  return database.run(() => query);
}

export async function findLastSync(database: Database, integrationId: number): Promise<Sync | null> {
  const last = sql`(SELECT max(id) FROM integration_sync WHERE integration_id = ${integrationId})`;
  const query = database.orm.select().from(integrationSync).where(eq(integrationSync.id, last));
  return (await database.run(() => query))[0] ?? null;
}

export interface IntegrationChange {
  action?: Integration['action'] | undefined;
  accountLabel?: string | undefined;
  lastError?: string | null;
  /** Merged into the stored data; null removes a key. */
  providerData?: Record<string, string | null>;
  /** Replaces the stored mapping. */
  fieldMapping?: Record<string, unknown>;
  nextSyncAt?: number | null;
}

/** Changes an integration and returns its new row; null: it was disconnected meanwhile. */
export async function changeIntegration(
  database: Database,
  { id, organizationId }: Integration,
  { providerData, ...columns }: IntegrationChange,
  now: number,
): Promise<Integration | null> {
  const query = database.orm
    .update(integration)
    .set({
      ...Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)),
      ...(providerData && { providerData: sql`json_patch(${integration.providerData}, ${JSON.stringify(providerData)})` }),
      revision: sql`${integration.revision} + 1`,
      updatedAt: now,
    })
    .where(and(currentIntegrations(organizationId), eq(integration.id, id)))
    .returning();
  return (await database.write(() => query, 'idempotent'))[0] ?? null;
}

/** Makes an integration inactive, unless it has been connected again since it was read. */
export async function deactivate(
  database: Database,
  { id, organizationId, accountId }: Integration,
  reason: string,
  now: number,
): Promise<void> {
  const query = database.orm
    .update(integration)
    .set({ isActive: false, lastError: reason, revision: sql`${integration.revision} + 1`, updatedAt: now })
    .where(
      and(
        currentIntegrations(organizationId),
        eq(integration.id, id),
        eq(integration.accountId, accountId),
        eq(integration.isActive, true),
      ),
    );
  await database.all(database.from(query), 'idempotent');
}

/**
 * Disconnects an integration and returns the id of the cleanup of its links; null: it was disconnected already, or connected again since
 * it was read.
 */
export async function disconnectIntegration(
  database: Database,
  { id, organizationId, accountId }: Integration,
  now: number,
): Promise<number | null> {
  const isIt = 'id = ?1 AND organization_id = ?2 AND account_id = ?3 AND disconnected_at IS NULL';
  const statements = [
    database.prepare<Pick<Integration, 'id'>>(
      `INSERT INTO cleanup (organization_id, kind, subject_id, created_at)
       SELECT organization_id, 'integration_disconnected', id, ?4 FROM integration WHERE ${isIt} RETURNING id`,
      id,
      organizationId,
      accountId,
      now,
    ),
    database.prepare(
      `UPDATE integration SET is_active = 0, disconnected_at = ?4, next_sync_at = NULL, revision = revision + 1, updated_at = ?4 WHERE ${isIt}`,
      id,
      organizationId,
      accountId,
      now,
    ),
  ] as const;
  const results = await database.batchOnce(statements, async ({ changes, rowId }) => [changes ? [{ id: rowId }] : []], 1);
  return results[0][0]?.id ?? null;
}
