import { isNotInTransitSql } from '../../database/transit.ts';
import { isNotFailedSql } from '../../outbox/failed-messages.ts';
import type { Context } from '../../context.ts';
import type { Database } from '../../database/client.ts';

/** Stores by when the organization's call slots must have worked, epoch ms; null: they are idle. */
export async function saveSlotsWakeAt({ database, organization }: Context, wakeAt: number | null): Promise<void> {
  await database.all(
    database.prepare(
      'INSERT INTO call_slots (organization_id, wake_at) VALUES (?, ?) ON CONFLICT (organization_id) DO UPDATE SET wake_at = excluded.wake_at',
      organization.id,
      wakeAt,
    ),
    'call_slots.organization_id',
  );
}

/** Organizations whose call slots should have worked before `before` (epoch ms) and have not: their alarm is lost. */
export async function findStalledSlots(database: Database, before: number, limit: number): Promise<number[]> {
  const rows = await database.all(
    database.prepare<{ organization_id: number }>(
      `SELECT organization_id FROM call_slots WHERE wake_at IS NOT NULL AND wake_at < ? AND ${isNotFailedSql("'poke:call_slots:' || call_slots.organization_id")}
        AND ${isNotInTransitSql('organization_id')}
       ORDER BY wake_at LIMIT ?`,
      before,
      limit,
    ),
  );
  return rows.map(({ organization_id }) => organization_id);
}
