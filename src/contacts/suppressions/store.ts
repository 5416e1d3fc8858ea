import type { Database, Statement } from '../../database/client.ts';
import type { suppression } from '../../database/schema/voice-agents.ts';
import type { StoredRow } from '../../database/stored-row.ts';
import { countLimit } from '../../http/pagination.ts';

/** `until` and `created_at` in epoch ms; `until` null: forever. */
export type SuppressionRow = Pick<StoredRow<typeof suppression>, 'id' | 'phone' | 'reason' | 'until' | 'created_at'>;

const columns = 'id, phone, reason, until, created_at';

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

/** Inserts a suppression or extends the existing one: the later `until` wins, with its reason. An expired one begins again at `now`. */
export async function upsertSuppression(
  database: Database,
  organizationId: number,
  { phone, reason, until }: Pick<SuppressionRow, 'phone' | 'reason' | 'until'>,
  now: number,
): Promise<SuppressionRow> {
  const row = await database.first(
    database.prepare<SuppressionRow>(
      `INSERT INTO suppression (organization_id, phone, reason, until, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (organization_id, phone) DO UPDATE SET
         until = CASE WHEN until IS NULL OR excluded.until IS NULL THEN NULL ELSE max(until, excluded.until) END,
         reason = CASE WHEN excluded.until IS NULL OR excluded.until >= until THEN excluded.reason ELSE reason END,
         created_at = CASE WHEN until <= excluded.created_at THEN excluded.created_at ELSE created_at END
       RETURNING ${columns}`,
      organizationId,
      phone,
      reason,
      until,
      now,
    ),
    'suppression.phone',
  );
  return row!;
}

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
