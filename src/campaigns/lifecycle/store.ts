import type { Database } from '../../database/client.ts';
import type { LiveCampaign } from '../rpc.ts';

/** A draft becomes a campaign that is syncing, before its object is made: from now on its settings are no longer changed in the row. */
export async function markCampaignSyncing(database: Database, organizationId: number, id: number, now: number): Promise<void> {
  await database.batch(
    [
      database.prepare(
        `UPDATE campaign SET state = 'syncing', started_at = ?, wake_at = ? WHERE id = ? AND organization_id = ? AND state = 'draft'`,
        now,
        now,
        id,
        organizationId,
      ),
    ],
    'idempotent',
  );
}

/** What an object writes into its campaign's row. Moments in epoch ms. */
export type CampaignProjection = LiveCampaign & { wake_at: number | null; revision: number };

/** Brings the row up to date, unless it shows a later revision. */
export async function projectCampaign(database: Database, organizationId: number, id: number, live: CampaignProjection): Promise<void> {
  const { configs } = live;
  await database.batch(
    [
      database.prepare(
        `UPDATE campaign SET name = ?, max_concurrency = ?, retry_config = ?, schedule_config = ?, circuit_breaker = ?, state = ?,
         state_reason = ?, total_rows = ?, completed_rows = ?, failed_rows = ?, skipped_rows = ?, in_flight = ?, started_at = ?,
         completed_at = ?, wake_at = ?, revision = ?
       WHERE id = ? AND organization_id = ? AND revision < ?`,
        live.name,
        configs.max_concurrency,
        JSON.stringify(configs.retry_config),
        JSON.stringify(configs.schedule_config),
        JSON.stringify(configs.circuit_breaker),
        live.state,
        live.state_reason,
        live.total_rows,
        live.completed_rows,
        live.failed_rows,
        live.skipped_rows,
        live.in_flight,
        live.started_at,
        live.completed_at,
        live.wake_at,
        live.revision,
        id,
        organizationId,
        live.revision,
      ),
    ],
    'idempotent',
  );
}
