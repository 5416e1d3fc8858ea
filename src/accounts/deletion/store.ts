import { and, eq, isNotNull, lt, sql } from 'drizzle-orm';
import type { Database } from '../../database/client.ts';
import { deletion, organization, session } from '../../database/schema/accounts.ts';

/** `subjectId` is the organization's. */
export type Deletion = Pick<typeof deletion.$inferSelect, 'id' | 'subjectId' | 'step' | 'removed' | 'createdAt' | 'finishedAt'>;

const columns = 'id, subject_id AS subjectId, step, removed, created_at AS createdAt, finished_at AS finishedAt';

/** Marks the organization as being deleted, so that no lookup finds it, and ends its sessions. Returns the deletion, an earlier one if there is one. */
export async function insertDeletion(
  catalog: Database,
  { id, organizationId, userId, now }: { id: string; organizationId: number; userId: number; now: number },
): Promise<Deletion> {
  const [, , , rows] = await catalog.batch(
    [
      catalog.prepare('UPDATE organization SET deleting_at = coalesce(deleting_at, ?) WHERE id = ?', now, organizationId),
      catalog.from(catalog.orm.delete(session).where(eq(session.organizationId, organizationId))),
      catalog.prepare(
        `INSERT INTO deletion (id, subject_id, requested_by, step, removed, due_at, created_at)
         SELECT ?1, id, ?3, 0, 0, ?4, ?4 FROM organization WHERE id = ?2 ON CONFLICT (subject_id) DO NOTHING`,
        id,
        organizationId,
        userId,
        now,
      ),
      catalog.prepare<Deletion>(`SELECT ${columns} FROM deletion WHERE subject_id = ?`, organizationId),
    ],
    'deletion.subject_id',
  );
  return rows[0]!;
}

export const findDeletion = (catalog: Database, id: string): Promise<Deletion | null> =>
  catalog.first(catalog.prepare<Deletion>(`SELECT ${columns} FROM deletion WHERE id = ?`, id));

export const findOpenDeletion = (catalog: Database, organizationId: number): Promise<Deletion | null> =>
  catalog.first(catalog.prepare<Deletion>(`SELECT ${columns} FROM deletion WHERE subject_id = ? AND finished_at IS NULL`, organizationId));

/** Moves the step from `from` only, so that a late worker moves it back nowhere. */
export async function advanceDeletion(
  catalog: Database,
  { id }: Deletion,
  { from, to, removed, dueAt }: { from: number; to: number; removed: number; dueAt: number },
): Promise<void> {
  await catalog.batchOnce(
    [
      catalog.prepare(
        'UPDATE deletion SET step = CASE WHEN step = ?2 THEN ?3 ELSE step END, removed = removed + ?4, due_at = ?5 WHERE id = ?1 AND finished_at IS NULL',
        id,
        from,
        to,
        removed,
        dueAt,
      ),
    ],
    async () => [],
  );
}

export async function finishDeletion(catalog: Database, { id }: Deletion, now: number): Promise<void> {
  const finishedAt = sql`coalesce(${deletion.finishedAt}, ${now})`;
  await catalog.write(() => catalog.orm.update(deletion).set({ finishedAt, dueAt: null }).where(eq(deletion.id, id)), 'idempotent');
}

/** Blanks the organization's row. */
export async function anonymizeOrganization(catalog: Database, id: number): Promise<void> {
  const blank = {
    name: '',
    defaultCountry: 'US',
    timezone: 'UTC',
    minHoursBetweenCalls: 0,
    planLimits: null,
    planMaxIntegrations: null,
    planMaxContacts: null,
    planConcurrentCalls: null,
  };
  const isDeleted = and(eq(organization.id, id), isNotNull(organization.deletingAt));
  await catalog.write(() => catalog.orm.update(organization).set(blank).where(isDeleted), 'idempotent');
}

/** Organizations whose deletion was due before `before`. */
export async function findOverdueDeletions(catalog: Database, before: number, limit: number): Promise<number[]> {
  const query = catalog.orm
    .select({ id: deletion.subjectId })
    .from(deletion)
    .where(lt(deletion.dueAt, before))
    .orderBy(deletion.dueAt)
    .limit(limit);
  return (await catalog.run(() => query)).map(({ id }) => id);
}
