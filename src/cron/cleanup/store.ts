import { isNotFailedSql } from '../../outbox/failed-messages.ts';
import type { Database } from '../../database/client.ts';
import type { CleanupKind } from '../../database/schema/operations.ts';

export interface CleanupRow {
  id: number;
  organization_id: number;
  kind: CleanupKind;
  subject_id: number;
  up_to_id: number | null;
  created_at: number;
}

export async function findOpenCleanup(database: Database, organizationId: number, id: number): Promise<CleanupRow | null> {
  return database.first(
    database.prepare('SELECT * FROM cleanup WHERE id = ? AND organization_id = ? AND note IS NULL', id, organizationId),
  );
}

export async function deleteCleanup(database: Database, organizationId: number, id: number): Promise<void> {
  await database.all(database.prepare('DELETE FROM cleanup WHERE id = ? AND organization_id = ?', id, organizationId), 'idempotent');
}

export async function setCleanupNote(database: Database, organizationId: number, id: number, note: string): Promise<void> {
  await database.all(
    database.prepare('UPDATE cleanup SET note = ? WHERE id = ? AND organization_id = ?', note, id, organizationId),
    'idempotent',
  );
}

/** The table holds only unfinished work, so all of it is read. */
export async function findStaleCleanups(database: Database, before: number, limit: number): Promise<CleanupRow[]> {
  return database.all(
    database.prepare(
      `SELECT * FROM cleanup WHERE note IS NULL AND created_at < ? AND ${isNotFailedSql("'cleanup:' || cleanup.id")} ORDER BY id LIMIT ?`,
      before,
      limit,
    ),
  );
}
