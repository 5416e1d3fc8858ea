import type { Database, Statement } from '../../database/client.ts';

export interface Deletion {
  id: string;
  /** The organization's. */
  subjectId: number;
  step: number;
  removed: number;
  createdAt: number;
  finishedAt: number | null;
}

const columns = 'id, subject_id AS subjectId, step, removed, created_at AS createdAt, finished_at AS finishedAt';

/** Marks the organization, from when on nobody finds it, and ends its sessions. Answers the deletion, that of before when there is one. */
export async function insertDeletion(
  catalog: Database,
  { id, organizationId, userId, now }: { id: string; organizationId: number; userId: number; now: number },
): Promise<Deletion> {
  const [, , , rows] = await catalog.batch(
    [
      catalog.prepare('UPDATE organization SET deleting_at = coalesce(deleting_at, ?) WHERE id = ?', now, organizationId),
      catalog.prepare('DELETE FROM session WHERE organization_id = ?', organizationId),
      catalog.prepare(
        `INSERT INTO deletion (id, subject_id, requested_by, step, removed, due_at, created_at)
         SELECT ?1, id, ?3, 0, 0, ?4, ?4 FROM organization WHERE id = ?2 ON CONFLICT (subject_id) DO NOTHING`,
        id,
        organizationId,
        userId,
        now,
      ),
      catalog.prepare(`SELECT ${columns} FROM deletion WHERE subject_id = ?`, organizationId),
    ],
    'deletion.subject_id',
  );
  return rows![0] as unknown as Deletion;
}

export const findDeletion = (catalog: Database, id: string): Promise<Deletion | null> =>
  catalog.first(catalog.prepare(`SELECT ${columns} FROM deletion WHERE id = ?`, id));

export const findOpenDeletion = (catalog: Database, organizationId: number): Promise<Deletion | null> =>
  catalog.first(catalog.prepare(`SELECT ${columns} FROM deletion WHERE subject_id = ? AND finished_at IS NULL`, organizationId));

/** The step moves only from where it was: whoever comes late moves nothing back. */
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
  const finish: Statement = catalog.prepare(
    'UPDATE deletion SET finished_at = coalesce(finished_at, ?), due_at = NULL WHERE id = ?',
    now,
    id,
  );
  await catalog.all(finish, 'idempotent');
}

/** Takes from the organization's row all that was its own. */
export async function anonymizeOrganization(catalog: Database, id: number): Promise<void> {
  const blank = "name = '', default_country = 'US', timezone = 'UTC', min_hours_between_calls = 0, plan_limits = NULL";
  await catalog.all(
    catalog.prepare(
      `UPDATE organization SET ${blank}, plan_max_integrations = NULL, plan_max_contacts = NULL, plan_concurrent_calls = NULL
       WHERE id = ? AND deleting_at IS NOT NULL`,
      id,
    ),
    'idempotent',
  );
}

/** Organizations whose deletion should have gone on before `before`. */
export async function findOverdueDeletions(catalog: Database, before: number, limit: number): Promise<number[]> {
  const rows = await catalog.all<{ id: number }>(
    catalog.prepare('SELECT subject_id AS id FROM deletion WHERE due_at < ? ORDER BY due_at LIMIT ?', before, limit),
  );
  return rows.map(({ id }) => id);
}
