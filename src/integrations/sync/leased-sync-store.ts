import { and, eq } from 'drizzle-orm';
import type { Database, Statement } from '../../database/client.ts';
import { integrationSync } from '../../database/schema/integrations.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { toCheckpoint, type Checkpoint, type SyncProgress, type SyncError } from './progress.ts';

/** A sync that this process holds. Earlier holders can no longer write it. */
export interface LeasedSync {
  id: number;
  organizationId: number;
  integrationId: number;
  /** Epoch ms until which the sync is held; also identifies the holder. */
  lease: number;
  /** The number of written steps. */
  pages: number;
}

export interface StoredSync extends LeasedSync {
  checkpoint: Checkpoint | null;
  changedSince: number | null;
  rowsSeen: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  errors: SyncError[];
}

type SyncRow = StoredRow<typeof integrationSync>;

const toStoredSync = (row: SyncRow): StoredSync => ({
  id: row.id,
  organizationId: row.organization_id,
  integrationId: row.integration_id,
  lease: row.lease_until!,
  pages: row.pages,
  checkpoint: row.checkpoint === null ? null : (JSON.parse(row.checkpoint) as Checkpoint),
  changedSince: row.changed_since,
  rowsSeen: row.rows_seen,
  created: row.created,
  updated: row.updated,
  unchanged: row.unchanged,
  failed: row.failed,
  errors: JSON.parse(row.errors) as SyncError[],
});

/** Acquires a sync that nobody holds, or that this process holds already (`mine`). Null: another process holds it, or it has ended. */
export async function acquireLease(
  database: Database,
  { id, organizationId }: { id: number; organizationId: number },
  { now, lease, mine }: { now: number; lease: number; mine: number | null },
): Promise<StoredSync | null> {
  const take = database.prepare<SyncRow>(
    `UPDATE integration_sync SET lease_until = ?4 WHERE id = ?1 AND organization_id = ?2 AND status = 'running'
         AND (coalesce(lease_until, 0) <= ?3 OR lease_until = ?5) RETURNING *`,
    id,
    organizationId,
    now,
    lease,
    mine,
  );
  const [rows] = await database.batchOnce([take], async ({ changes }) =>
    changes
      ? database.batch([
          database.from<SyncRow>(
            database.orm
              .select()
              .from(integrationSync)
              .where(and(eq(integrationSync.id, id), eq(integrationSync.organizationId, organizationId))),
          ),
        ])
      : [[]],
  );
  return rows[0] ? toStoredSync(rows[0]) : null;
}

/**
 * Whether this process still holds the sync at the same step, and its integration is unchanged. Otherwise the statement breaks its batch
 * (`isLeaseLost`). `leaseParameters` are its first parameters.
 */
const leaseCondition = `status = 'running' AND lease_until = ?3 AND pages = ?4
  AND EXISTS (SELECT 1 FROM integration i WHERE i.id = integration_sync.integration_id AND i.revision = ?5)`;
const leaseParameters = ({ id, organizationId, lease, pages }: LeasedSync, revision: number): [number, number, number, number, number] => [
  id,
  organizationId,
  lease,
  pages,
  revision,
];

export const isLeaseLost = (error: unknown): boolean =>
  /NOT NULL constraint failed: integration_sync\.pages/.test(String((error as Error).message));

/** Writes the next step's position. It breaks its batch also when a record of `keys` was pushed since `askedAt`. */
export const advanceStatement = (
  database: Database,
  held: LeasedSync,
  { revision, reading, lease, keys, askedAt }: { revision: number; reading: SyncProgress; lease: number; keys: string[]; askedAt: number },
): Statement =>
  database.prepare(
    `UPDATE integration_sync SET pages = CASE WHEN ${leaseCondition} AND NOT EXISTS (
         SELECT 1 FROM json_each(?15) j CROSS JOIN integration_contact l
         WHERE l.integration_id = integration_sync.integration_id AND l.external_id = j.value AND l.pushed_at >= ?16
       ) THEN pages + 1 END,
       lease_until = ?6, checkpoint = ?7, changed_since = ?8, rows_seen = ?9, created = ?10, updated = ?11, unchanged = ?12, failed = ?13,
       errors = ?14, reason = NULL
     WHERE id = ?1 AND organization_id = ?2`,
    ...leaseParameters(held, revision),
    lease,
    JSON.stringify(toCheckpoint(reading)),
    reading.changedSince,
    reading.tally.rowsSeen,
    reading.tally.created,
    reading.tally.updated,
    reading.tally.unchanged,
    reading.tally.failed,
    JSON.stringify(reading.errors),
    JSON.stringify(keys),
    askedAt,
  );

/** The number of kept syncs of an integration, and of older ones deleted at a time. */
const maxKeptSyncs = 200;
const deleteBatchSize = 20;

/** Ends a sync as completed or, with a reason, as failed, and records that in the integration. */
export async function endSync(
  database: Database,
  held: LeasedSync,
  {
    revision,
    reading,
    reason,
    now,
  }: { revision: number; reading: Pick<SyncProgress, 'source' | 'began'> | null; reason: string | null; now: number },
): Promise<void> {
  await database.batch(
    [
      database.prepare(
        `UPDATE integration_sync SET pages = CASE WHEN ${leaseCondition} THEN pages + 1 END, status = ?6, reason = ?7, finished_at = ?8,
         lease_until = NULL, checkpoint = coalesce(?9, checkpoint)
       WHERE id = ?1 AND organization_id = ?2`,
        ...leaseParameters(held, revision),
        reason === null ? 'completed' : 'failed',
        reason,
        now,
        reading && JSON.stringify({ source: reading.source, began: reading.began } satisfies Checkpoint),
      ),
      database.prepare(
        `UPDATE integration SET last_error = ?2, last_synced_at = CASE WHEN ?2 IS NULL THEN ?3 ELSE last_synced_at END WHERE id = ?1`,
        held.integrationId,
        reason,
        now,
      ),
      database.prepare(
        `DELETE FROM integration_sync WHERE id IN (
         SELECT id FROM integration_sync WHERE integration_id = ? AND status <> 'running' ORDER BY id DESC LIMIT ? OFFSET ?
       )`,
        held.integrationId,
        deleteBatchSize,
        maxKeptSyncs,
      ),
    ],
    'read-back',
  );
}

const isHeld = ({ id, lease }: LeasedSync) =>
  and(eq(integrationSync.id, id), eq(integrationSync.status, 'running'), eq(integrationSync.leaseUntil, lease));

/** Ends a sync without recording it in the integration, which is disconnected or inactive. */
export async function abandonSync(database: Database, held: LeasedSync, reason: string, now: number): Promise<void> {
  const query = database.orm
    .update(integrationSync)
    .set({ status: 'failed', reason, finishedAt: now, leaseUntil: null })
    .where(isHeld(held));
  await database.write(() => query, 'idempotent');
}

/** Releases a sync until `until`, with the reason why its step failed. */
export async function rescheduleSync(database: Database, held: LeasedSync, reason: string, until: number): Promise<void> {
  await database.write(() => database.orm.update(integrationSync).set({ leaseUntil: until, reason }).where(isHeld(held)), 'idempotent');
}

/** Releases a sync that continues at once. */
export async function releaseLease(database: Database, held: LeasedSync, now: number): Promise<void> {
  await database.write(() => database.orm.update(integrationSync).set({ leaseUntil: now }).where(isHeld(held)), 'idempotent');
}

/** Fails a sync that nobody holds, with the reason of its last try followed by `advice`. */
export async function failAfterRetries(
  database: Database,
  { id, organizationId }: { id: number; organizationId: number },
  { otherwise, advice, now }: { otherwise: string; advice: string; now: number },
): Promise<void> {
  const isLost = `id = ?1 AND organization_id = ?2 AND status = 'running' AND coalesce(lease_until, 0) <= ?3`;
  await database.batch(
    [
      database.prepare(
        `UPDATE integration SET last_error = (SELECT coalesce(reason, ?4) || ?5 FROM integration_sync WHERE ${isLost})
       WHERE id = (SELECT integration_id FROM integration_sync WHERE ${isLost})`,
        id,
        organizationId,
        now,
        otherwise,
        advice,
      ),
      database.prepare(
        `UPDATE integration_sync SET status = 'failed', reason = coalesce(reason, ?4) || ?5, finished_at = ?3, lease_until = NULL WHERE ${isLost}`,
        id,
        organizationId,
        now,
        otherwise,
        advice,
      ),
    ],
    'idempotent',
  );
}
