import type { Database } from '../../database/client.ts';
import { roundRobinQuery } from '../../database/round-robin-query.ts';

export interface StoredArchive {
  id: number;
  organization_id: number;
  kind: string;
  /** Its key in R2. */
  name: string;
}

/** Archives written before `before`, of organizations in turns. */
export const findOldArchives = (database: Database, before: number, limit: number): Promise<StoredArchive[]> =>
  database.all(
    database.prepare(roundRobinQuery('id, organization_id, kind, name', 'archive WHERE created_at < ?', 'created_at'), before, limit),
  );

export async function deleteArchives(database: Database, ids: number[]): Promise<void> {
  const json = JSON.stringify(ids);
  await database.batch(
    [
      database.prepare('DELETE FROM archive_contact WHERE archive_id IN (SELECT value FROM json_each(?))', json),
      database.prepare('DELETE FROM archive WHERE id IN (SELECT value FROM json_each(?))', json),
    ],
    'idempotent',
  );
}
