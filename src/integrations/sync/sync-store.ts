import { isNotInTransitSql } from '../../database/transit.ts';
import { and, eq } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { integration, type integrationSync } from '../../database/schema/integrations.ts';
import type { Checkpoint, PreviousSyncs } from './progress.ts';
import type { StoredRow } from '../../database/stored-row.ts';

type SyncId = Pick<StoredRow<typeof integrationSync>, 'id'>;
type SyncOfOrganization = Pick<StoredRow<typeof integrationSync>, 'id' | 'organization_id'>;

/** Begins a sync unless one is running, and makes the integration due again at `nextSyncAt` (epoch ms). Returns the id of the running sync. */
export async function insertSync(
  database: Database,
  { organizationId, integrationId }: { organizationId: number; integrationId: number },
  { now, nextSyncAt, checkpoint }: { now: number; nextSyncAt: number; checkpoint: Checkpoint | null },
): Promise<number> {
  const [, , running] = await database.batch(
    [
      database.prepare(
        `INSERT INTO integration_sync (organization_id, integration_id, status, lease_until, checkpoint, errors, started_at)
       VALUES (?1, ?2, 'running', ?3, ?4, '[]', ?3) ON CONFLICT DO NOTHING`,
        organizationId,
        integrationId,
        now,
        checkpoint && JSON.stringify(checkpoint),
      ),
      database.from(
        database.orm
          .update(integration)
          .set({ nextSyncAt })
          .where(and(eq(integration.id, integrationId), eq(integration.organizationId, organizationId))),
      ),
      database.prepare<SyncId>(`SELECT id FROM integration_sync WHERE integration_id = ? AND status = 'running'`, integrationId),
    ],
    'integration_sync.integration_id',
  );
  return running[0]!.id;
}

/** Begins a sync of each due integration, at most `limit`. An integration with a running sync is only made due later, at `nextSyncAt`. */
export async function insertDueSyncs(
  database: Database,
  { now, nextSyncAt, limit }: { now: number; nextSyncAt: number; limit: number },
): Promise<SyncOfOrganization[]> {
  const due = `SELECT id FROM integration WHERE next_sync_at <= ?1 AND next_sync_at IS NOT NULL AND is_active = 1 AND ${isNotInTransitSql('organization_id')} ORDER BY next_sync_at, id LIMIT ?2`;
  const [begun] = await database.batch(
    [
      database.prepare<SyncOfOrganization>(
        `INSERT INTO integration_sync (organization_id, integration_id, status, lease_until, errors, started_at)
       SELECT i.organization_id, i.id, 'running', ?1, '[]', ?1 FROM integration i WHERE i.id IN (${due})
       ON CONFLICT DO NOTHING RETURNING id, organization_id`,
        now,
        limit,
      ),
      database.prepare(`UPDATE integration SET next_sync_at = ?3 WHERE id IN (${due})`, now, limit, nextSyncAt),
    ],
    'read-back',
  );
  return begun;
}

/** Running syncs whose lease ended before `before`, because their message was lost; the oldest first. Their lease is renewed to `now`. */
export async function claimLapsedSyncs(
  database: Database,
  { before, now, limit }: { before: number; now: number; limit: number },
): Promise<SyncOfOrganization[]> {
  return database.all(
    database.prepare<SyncOfOrganization>(
      `UPDATE integration_sync SET lease_until = ?2 WHERE id IN (
         SELECT id FROM integration_sync WHERE status = 'running' AND lease_until < ?1 AND ${isNotInTransitSql('organization_id')} ORDER BY lease_until LIMIT ?3
       ) RETURNING id, organization_id`,
      before,
      now,
      limit,
    ),
    'read-back',
  );
}

/** The last completed sync of an integration, and the last one that read all records. */
export async function findPreviousSyncs(database: Database, integrationId: number): Promise<PreviousSyncs> {
  const completed = (condition: string) =>
    database.prepare<NonNullable<PreviousSyncs['last']>>(
      `SELECT checkpoint ->> 'source' AS source, checkpoint ->> 'began' AS began FROM integration_sync
       WHERE integration_id = ? AND status = 'completed' ${condition} ORDER BY id DESC LIMIT 1`,
      integrationId,
    );
  const [last, lastFull] = await database.batch([completed(''), completed('AND changed_since IS NULL')]);
  return {
    last: last[0] ?? null,
    lastFull: lastFull[0] ?? null,
  };
}
