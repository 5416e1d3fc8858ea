import { isWriteSql } from '../write-sql.ts';
import type { Actor } from './actor.ts';

/** What these tables hold is bookkeeping of requests, and no change that anybody looks for. */
const bookkeepingTables = new Set([
  'write_receipt',
  'login_failure',
  'idempotency_key',
  'failed_message',
  'progress',
  'session',
  'cleanup',
]);

const writtenTable = (sql: string): string => /\b(?:INTO|UPDATE|DELETE\s+FROM)\s+["`]?(\w+)/i.exec(sql)?.[1] ?? '';

/** A request that is recorded as a whole may be about any of these tables but the receipts. */
const isBookkeeping = (sql: string, { isSummary }: Actor): boolean => {
  const table = writtenTable(sql);
  return isWriteSql(sql) && (isSummary ? table === 'write_receipt' : bookkeepingTables.has(table));
};

/** Whether the statements of a transaction change something that the audit log has. */
export const isAudited = (statements: string[], actor: Actor): boolean =>
  statements.some((sql) => isWriteSql(sql) && !isBookkeeping(sql, actor));

const insertActorSql = `INSERT INTO audit_actor (id, for_organization, request_id, action, user_id, credential, address, at, record_type, record_id, is_summary, changes_before)
  VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, total_changes())`;

/** Entries of any organization count: a request that makes another organization than the caller's has entries in the new one. */
const isUnrecordedSql = (table: string): string =>
  `NOT EXISTS (SELECT 1 FROM ${table} e WHERE e.created_at = actor.at AND e.request_id = actor.request_id)`;

/**
 * The entry of a request whose change no trigger has recorded: of a table without triggers, or of thousands of records. It is written if a
 * statement of the transaction has changed a row (beyond the actor's own row and `?1` rows of bookkeeping), and once for a request.
 */
const insertEntrySql = (table: string): string => `INSERT INTO ${table}
    (organization_id, request_id, action, user_id, credential, address, record_type, record_id, change, created_at)
  SELECT actor.for_organization, actor.request_id, actor.action, actor.user_id, actor.credential, actor.address, actor.record_type, actor.record_id, NULL, actor.at FROM audit_actor actor
  WHERE actor.for_organization IS NOT NULL AND total_changes() > actor.changes_before + 1 + ?1
    AND ${isUnrecordedSql('audit_entry')} AND ${isUnrecordedSql('account_audit_entry')}`;

/**
 * The statements before and after those of a transaction that record it in the name of `actor`: the row by which the triggers know the actor,
 * the entry that they have not written, and the removal of the row. All stand in the transaction, so that an entry exists exactly when its
 * change does.
 */
export function attributionOf(
  binding: D1Database,
  actor: Actor,
  { statements, isCatalog }: { statements: string[]; isCatalog: boolean },
): { before: D1PreparedStatement[]; after: D1PreparedStatement[] } {
  const { record } = actor;
  return {
    before: [
      binding
        .prepare(insertActorSql)
        .bind(
          actor.organizationId,
          actor.requestId,
          actor.action,
          actor.userId,
          actor.credential,
          actor.address,
          actor.at,
          record.type,
          record.id,
          Number(actor.isSummary),
        ),
    ],
    after: [
      binding
        .prepare(insertEntrySql(isCatalog ? 'account_audit_entry' : 'audit_entry'))
        .bind(statements.filter((sql) => isBookkeeping(sql, actor)).length),
      binding.prepare('DELETE FROM audit_actor'),
    ],
  };
}
