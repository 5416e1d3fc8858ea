import { receiptKeyCutoff } from '../../database/write-receipts.ts';
import { isNoAnchorSql } from '../../database/shard-anchors.ts';
import { idempotencyTtlMs } from '../../http/idempotency-ttl.ts';
import { deleteExpiredRows, deleteExpiredGlobalRows, deleteUnseenEventTypes } from './expired-rows-store.ts';
import { retentionCutoff, type RetentionRule } from './rule.ts';
import { removeOldDecisions } from './old-decisions.ts';
import { removeUnusedUploads } from './unused-uploads.ts';

/** An expired request counts against no limit. It stays for an hour, so that a late finalization still finds what was requested. */
const requestTtlMs = 60 * 60_000;

/** An id must never be given twice: the newest row stays, and so does a shard's anchor. */
const isNotNewestSql = (table: string) => `spent.id < (SELECT max(id) FROM ${table}) AND ${isNoAnchorSql('spent.id')}`;

/** Rows that are deleted and not archived: nothing reads them any more. */
export const deletionRules: RetentionRule[] = [
  {
    table: 'schedule_fire',
    setting: 'SCHEDULE_FIRE_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        { table: 'schedule_fire', key: 'trigger_id, scheduled_at', order: 'handled_at', isExpired: 'true' },
        retentionCutoff(run, 'SCHEDULE_FIRE_DAYS'),
      ),
  },
  {
    table: 'contact',
    setting: 'RETENTION_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        {
          table: 'contact',
          key: 'id',
          order: 'deleted_at',
          isExpired: `${isNotNewestSql('contact')} AND NOT EXISTS (
            SELECT 1 FROM cleanup WHERE cleanup.organization_id = spent.organization_id AND kind = 'contact_deleted' AND subject_id = spent.id)`,
        },
        retentionCutoff(run, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'contact_list',
    setting: 'RETENTION_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        {
          table: 'contact_list',
          key: 'id',
          order: 'deleted_at',
          isExpired: `${isNotNewestSql('contact_list')} AND NOT EXISTS (SELECT 1 FROM contact_list_member m WHERE m.list_id = spent.id)`,
        },
        retentionCutoff(run, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'knowledge_document',
    setting: 'RETENTION_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        {
          table: 'knowledge_document',
          key: 'id',
          order: 'updated_at',
          isExpired: `spent.is_active = 0 AND spent.due_at IS NULL AND ${isNotNewestSql('knowledge_document')}
            AND NOT EXISTS (SELECT 1 FROM knowledge_chunk k WHERE k.document_id = spent.id)`,
        },
        retentionCutoff(run, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'suppression',
    setting: 'RETENTION_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        { table: 'suppression', key: 'id', order: 'until', isExpired: isNotNewestSql('suppression') },
        retentionCutoff(run, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'suppression_proposal',
    setting: 'CALL_RETENTION_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        { table: 'suppression_proposal', key: 'id', order: 'created_at', isExpired: isNotNewestSql('suppression_proposal') },
        retentionCutoff(run, 'CALL_RETENTION_DAYS'),
      ),
  },
  { table: 'contact_decision', setting: 'RETENTION_DAYS', removePage: removeOldDecisions },
  { table: 'upload', setting: 'UPLOAD_RETENTION_DAYS', removePage: removeUnusedUploads },
  {
    table: 'event_type',
    setting: 'RETENTION_DAYS',
    removePage: (run) => deleteUnseenEventTypes(run.database, retentionCutoff(run, 'RETENTION_DAYS'), run.now),
  },
  {
    table: 'cleanup',
    setting: 'RETENTION_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        // An unfinished erasure of a contact is never deleted.
        {
          table: 'cleanup',
          key: 'id',
          order: 'created_at',
          isExpired: `spent.note IS NOT NULL AND spent.kind <> 'contact_deleted' AND ${isNotNewestSql('cleanup')}`,
        },
        retentionCutoff(run, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'idempotency_key',
    removePage: ({ database, now }) =>
      deleteExpiredRows(
        database,
        { table: 'idempotency_key', key: 'organization_id, scope, key', order: 'created_at', isExpired: 'true' },
        now - idempotencyTtlMs,
      ),
  },
  {
    table: 'connection_request',
    removePage: ({ database, now }) =>
      deleteExpiredRows(database, { table: 'connection_request', key: 'id', order: 'expires_at', isExpired: 'true' }, now - requestTtlMs),
  },
  {
    table: 'write_receipt',
    removePage: ({ database, now }) =>
      deleteExpiredGlobalRows(database, { table: 'write_receipt', key: 'key', order: 'key', isExpired: 'true' }, receiptKeyCutoff(now)),
  },
  {
    table: 'session',
    removePage: ({ database, now }) =>
      deleteExpiredGlobalRows(database, { table: 'session', key: 'token_hash', order: 'expires_at', isExpired: 'true' }, now),
  },
  {
    table: 'audit_entry',
    setting: 'AUDIT_LOG_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        { table: 'audit_entry', key: 'id', order: 'created_at', isExpired: isNotNewestSql('audit_entry') },
        retentionCutoff(run, 'AUDIT_LOG_DAYS'),
      ),
  },
  {
    table: 'account_audit_entry',
    setting: 'AUDIT_LOG_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        { table: 'account_audit_entry', key: 'id', order: 'created_at', isExpired: isNotNewestSql('account_audit_entry') },
        retentionCutoff(run, 'AUDIT_LOG_DAYS'),
      ),
  },
  {
    table: 'invitation',
    setting: 'RETENTION_DAYS',
    removePage: (run) =>
      deleteExpiredRows(
        run.database,
        { table: 'invitation', key: 'id', order: 'expires_at', isExpired: isNotNewestSql('invitation') },
        retentionCutoff(run, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'deletion',
    setting: 'RETENTION_DAYS',
    removePage: (run) =>
      deleteExpiredGlobalRows(
        run.database,
        { table: 'deletion', key: 'id', order: 'finished_at', isExpired: 'finished_at IS NOT NULL' },
        retentionCutoff(run, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'password_reset',
    removePage: ({ database, now }) =>
      deleteExpiredGlobalRows(database, { table: 'password_reset', key: 'user_id', order: 'expires_at', isExpired: 'true' }, now),
  },
  {
    table: 'used_challenge',
    removePage: ({ database, now }) =>
      deleteExpiredGlobalRows(database, { table: 'used_challenge', key: 'hash', order: 'expires_at', isExpired: 'true' }, now),
  },
  {
    table: 'login_failure',
    removePage: ({ database, now }) =>
      deleteExpiredGlobalRows(database, { table: 'login_failure', key: 'subject', order: 'window_ends_at', isExpired: 'true' }, now),
  },
];
