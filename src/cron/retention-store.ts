import type { Database } from '../database/client.ts';

export type Retained = 'event' | 'webhook_delivery' | 'automation_run';

export interface RetainedRow extends Record<string, unknown> {
  id: number;
  organization_id: number;
}

/** What starts runs stays as long as a run of it is kept, since the run's context is kept with it. */
const unused = (kind: string) => `handled_at IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM automation_run r WHERE r.organization_id = old.organization_id
    AND r.dedup_key >= '${kind}:' || old.id || ':' AND r.dedup_key < '${kind}:' || old.id || ';')`;

const isDone: Record<Retained, string> = {
  automation_run: 'completed_at IS NOT NULL',
  event: unused('event'),
  webhook_delivery: unused('delivery'),
};

/** The oldest rows, along the primary key, as far as they are old and done. What still lives is stepped over, within bounds. */
export async function oldRows(database: Database, table: Retained, before: number, limit: number): Promise<RetainedRow[]> {
  return database.all(
    database.prepare(
      `SELECT * FROM (SELECT * FROM ${table} ORDER BY id LIMIT 5000) old WHERE created_at < ? AND ${isDone[table]} LIMIT ?`,
      before,
      limit,
    ),
  );
}

/** Counters keep step with the events that leave. The plus keeps SQLite on the ids: it would read the whole organization. */
export async function deleteArchived(database: Database, table: Retained, organizationId: number, ids: number[]): Promise<void> {
  const json = JSON.stringify(ids);
  const remove = database.prepare(
    `DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?)) AND +organization_id = ?`,
    json,
    organizationId,
  );
  const count = database.prepare(
    'UPDATE organization_usage SET events_count = events_count - changes() WHERE organization_id = ?',
    organizationId,
  );
  await database.batch(table === 'event' ? [remove, count] : [remove]);
}
