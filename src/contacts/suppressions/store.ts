import type { Database, Statement } from '../../database/client.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import type { suppression } from '../../database/schema/voice-agents.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { countLimit } from '../../http/pagination.ts';

/** `until`, `created_at` and `restored_at` in epoch ms; `until` null: forever. */
export type SuppressionRow = Omit<StoredRow<typeof suppression>, 'organization_id'>;

const columns = 'id, phone, reason, source, evidence, call_run_id, created_by, until, created_at, restored_at, restored_by, restore_reason';

/** The phones among `phones` that are suppressed at `now` (epoch ms), with the reason. */
export const selectSuppressed = (
  database: Database,
  organizationId: number,
  phones: string[],
  now: number,
): Statement<Pick<SuppressionRow, 'phone' | 'reason'>> =>
  database.prepare<Pick<SuppressionRow, 'phone' | 'reason'>>(
    `SELECT s.phone, s.reason FROM json_each(?1) p CROSS JOIN suppression s
     WHERE s.organization_id = ?2 AND s.phone = p.value AND (s.until IS NULL OR s.until > ?3)`,
    JSON.stringify(phones),
    organizationId,
    now,
  );

/** A suppression to write. `phone` in E.164; `until` in epoch ms, null: forever. */
export interface SuppressionToWrite extends Pick<SuppressionRow, 'phone' | 'reason' | 'source' | 'evidence' | 'until'> {
  callRunId: number | null;
  createdBy: number | null;
}

/**
 * Whether the new suppression takes the place of the stored one: it lasts longer, or as long and does not take evidence away. One that has
 * expired or was restored ends before every new one.
 */
const replacesSql = `((until IS NOT NULL AND (excluded.until IS NULL OR excluded.until > until))
  OR (until IS excluded.until AND (evidence IS NULL OR excluded.evidence IS NOT NULL)))`;

const replacedColumns = ['reason', 'source', 'evidence', 'call_run_id', 'created_by', 'restored_at', 'restored_by', 'restore_reason'];

/** Inserts the suppressions of a JSON list, each phone once, or extends the existing ones: the later `until` wins, with all that is known of it. */
const upsertSql = `INSERT INTO suppression (organization_id, phone, reason, source, evidence, call_run_id, created_by, until, created_at)
  SELECT ?1, value ->> 'phone', value ->> 'reason', value ->> 'source', value ->> 'evidence', value ->> 'callRunId', value ->> 'createdBy', value ->> 'until', ?3
  FROM json_each(?2)
  WHERE ?4 IS NULL OR EXISTS (
    SELECT 1 FROM suppression_proposal WHERE id = ?4 AND organization_id = ?1 AND state = 'confirmed' AND decided_at = ?3)
  ON CONFLICT (organization_id, phone) DO UPDATE SET
    ${replacedColumns.map((column) => `${column} = CASE WHEN ${replacesSql} THEN excluded.${column} ELSE ${column} END`).join(',\n    ')},
    until = CASE WHEN until IS NULL OR excluded.until IS NULL THEN NULL ELSE max(until, excluded.until) END,
    created_at = CASE WHEN until <= excluded.created_at THEN excluded.created_at ELSE created_at END
  RETURNING ${columns}`;

/**
 * The statements that write the suppressions, each phone once. With `proposalId` they write only if that proposal was confirmed at `now`.
 * Repeatable at the same `now`.
 */
export const upsertSuppressions = (
  database: Database,
  organizationId: number,
  suppressions: readonly SuppressionToWrite[],
  now: number,
  proposalId: number | null = null,
): Statement<SuppressionRow>[] =>
  jsonChunks([...suppressions]).map((rows) => database.prepare<SuppressionRow>(upsertSql, organizationId, rows, now, proposalId));

/** Writes one suppression, and answers how it is stored. Repeatable. */
export async function upsertSuppression(
  database: Database,
  organizationId: number,
  suppression: SuppressionToWrite,
  now: number,
): Promise<SuppressionRow> {
  const [statement] = upsertSuppressions(database, organizationId, [suppression], now);
  return (await database.first(statement!, 'suppression.phone'))!;
}

/**
 * Ends a suppression that is in force, and records by whom and why. Answers how it is stored then; undefined: there is none. One that has ended
 * before stays as it is.
 */
export async function restoreSuppression(
  database: Database,
  organizationId: number,
  { id, by, reason }: { id: number; by: number; reason: string },
  now: number,
): Promise<SuppressionRow | undefined> {
  const [, [row]] = await database.batch(
    [
      database.prepare(
        `UPDATE suppression SET until = ?3, restored_at = ?3, restored_by = ?4, restore_reason = ?5
         WHERE id = ?1 AND organization_id = ?2 AND (until IS NULL OR until > ?3)`,
        id,
        organizationId,
        now,
        by,
        reason,
      ),
      database.prepare<SuppressionRow>(`SELECT ${columns} FROM suppression WHERE id = ? AND organization_id = ?`, id, organizationId),
    ],
    'read-back',
  );
  return row;
}

/** A page of suppressions in the order of their ids, after `afterId`. `activeAt` as in `SuppressionFilter`. */
export const selectSuppressionsAfter = (
  database: Database,
  organizationId: number,
  { afterId, activeAt, limit }: { afterId: number; activeAt: number | undefined; limit: number },
): Statement<SuppressionRow> =>
  database.prepare<SuppressionRow>(
    `SELECT ${columns} FROM suppression
     WHERE organization_id = ?1 AND id > ?2 AND (?3 IS NULL OR until IS NULL OR until > ?3) ORDER BY id LIMIT ?4`,
    organizationId,
    afterId,
    activeAt ?? null,
    limit,
  );

export interface SuppressionFilter {
  phone: string | undefined;
  search: string | undefined;
  /** Epoch ms: suppressions that have expired by then are left out; undefined: they are shown. */
  activeAt: number | undefined;
  before: number | undefined;
  limit: number;
  offset: number;
}

/** A search reads this many of the newest suppressions: no index finds a part of a number or a reason. */
export const maxSearchedSuppressions = 10_000;

/** One page, newest first, with one row more than `limit` when another page follows. `isCapped`: there may be more than `total`. */
export async function listSuppressions(
  database: Database,
  organizationId: number,
  filter: SuppressionFilter,
): Promise<{ rows: SuppressionRow[]; total: number; isCapped: boolean }> {
  const { phone, search, activeAt } = filter;
  const all = `FROM suppression WHERE organization_id = ?1${phone === undefined ? '' : ' AND phone = ?2'}`;
  const searched = `(SELECT ${columns} ${all} ORDER BY id DESC LIMIT ${maxSearchedSuppressions})
    WHERE (instr(phone, ?3) > 0 OR instr(lower(reason), lower(?3)) > 0)`;
  const matching = `${search === undefined ? all : `FROM ${searched}`} AND (?4 IS NULL OR until IS NULL OR until > ?4)`;
  const parameters = [organizationId, phone ?? null, search ?? null, activeAt ?? null] as const;
  const [rows, counted, beyondSearched] = await database.batch([
    database.prepare<SuppressionRow>(
      `SELECT ${columns} ${matching} AND id < ?5 ORDER BY id DESC LIMIT ?6 OFFSET ?7`,
      ...parameters,
      filter.before ?? Number.MAX_SAFE_INTEGER,
      filter.limit + 1,
      filter.offset,
    ),
    database.prepare<{ total: number }>(`SELECT count(*) AS total FROM (SELECT 1 ${matching} LIMIT ${countLimit + 1})`, ...parameters),
    ...(search === undefined
      ? []
      : [
          database.prepare(
            `SELECT 1 ${all} LIMIT 1 OFFSET ${maxSearchedSuppressions}`,
            ...parameters.slice(0, phone === undefined ? 1 : 2),
          ),
        ]),
  ]);
  const { total } = counted[0]!;
  return {
    rows,
    total: Math.min(total, countLimit),
    isCapped: total > countLimit || !!beyondSearched?.length,
  };
}

/** Deletes a suppression; answers whether it existed. */
export async function deleteSuppression(database: Database, organizationId: number, id: number): Promise<boolean> {
  return deleteOnce(
    database,
    database.prepare('DELETE FROM suppression WHERE id = ? AND organization_id = ? RETURNING id', id, organizationId),
  );
}

/** Deletes the suppression of a phone number (E.164); answers whether it existed. */
export async function deleteSuppressionByPhone(database: Database, organizationId: number, phone: string): Promise<boolean> {
  return deleteOnce(
    database,
    database.prepare('DELETE FROM suppression WHERE organization_id = ? AND phone = ? RETURNING id', organizationId, phone),
  );
}

async function deleteOnce(database: Database, remove: Statement): Promise<boolean> {
  const [deleted] = await database.batchOnce([remove], async ({ changes }) => [changes ? [{}] : []]);
  return deleted!.length > 0;
}
