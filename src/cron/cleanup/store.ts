import { and, eq, isNull } from 'drizzle-orm';
import { isNotFailedSql } from '../../outbox/failed-messages.ts';
import type { Database } from '../../database/client.ts';
import { cleanup } from '../../database/schema/operations.ts';
import type { StoredRow } from '../../database/stored-row.ts';

export type CleanupRow = StoredRow<typeof cleanup>;

const isCleanup = (organizationId: number, id: number) => and(eq(cleanup.id, id), eq(cleanup.organizationId, organizationId));

export async function findOpenCleanup(database: Database, organizationId: number, id: number): Promise<CleanupRow | null> {
  const query = database.orm
    .select()
    .from(cleanup)
    .where(and(isCleanup(organizationId, id), isNull(cleanup.note)));
  return database.first(database.from<CleanupRow>(query));
}

export async function deleteCleanup(database: Database, organizationId: number, id: number): Promise<void> {
  await database.write(() => database.orm.delete(cleanup).where(isCleanup(organizationId, id)), 'idempotent');
}

export async function setCleanupNote(database: Database, organizationId: number, id: number, note: string): Promise<void> {
  await database.write(() => database.orm.update(cleanup).set({ note }).where(isCleanup(organizationId, id)), 'idempotent');
}

/** The table holds only unfinished work, so all of it is read. */
export async function findStaleCleanups(database: Database, before: number, limit: number): Promise<CleanupRow[]> {
  return database.all(
    database.prepare<CleanupRow>(
      `SELECT * FROM cleanup WHERE note IS NULL AND created_at < ? AND ${isNotFailedSql("'cleanup:' || cleanup.id")} ORDER BY id LIMIT ?`,
      before,
      limit,
    ),
  );
}
