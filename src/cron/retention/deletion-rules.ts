import { receiptKeyCutoff as receiptsSince } from '../../database/write-receipts.ts';
import { idempotencyTtlMs as answersKeptMs } from '../../http/idempotency-ttl.ts';
import { deleteExpiredRows, deleteExpiredGlobalRows } from './expired-rows-store.ts';
import { deleteUnseenEventTypes } from './event-type-store.ts';
import { retentionCutoff, type RetentionRule } from './rule.ts';
import { removeUnusedUploads } from './unused-uploads.ts';

/** An expired request takes no place, but says for an hour what was asked for, to whoever finalizes late. */
const requestTtlMs = 60 * 60_000;

/** An id must never be given twice: the newest row stays. */
const isNotNewestSql = (table: string) => `spent.id < (SELECT max(id) FROM ${table})`;

/** What is over and goes for good: nobody asks for it any more. */
export const deletionRules: RetentionRule[] = [
  {
    table: 'schedule_fire',
    setting: 'SCHEDULE_FIRE_DAYS',
    removePage: (sweeping) =>
      deleteExpiredRows(
        sweeping.database,
        { table: 'schedule_fire', key: 'trigger_id, scheduled_at', order: 'handled_at', isExpired: 'true' },
        retentionCutoff(sweeping, 'SCHEDULE_FIRE_DAYS'),
      ),
  },
  {
    table: 'contact',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteExpiredRows(
        sweeping.database,
        {
          table: 'contact',
          key: 'id',
          order: 'deleted_at',
          isExpired: `${isNotNewestSql('contact')} AND NOT EXISTS (
            SELECT 1 FROM cleanup WHERE cleanup.organization_id = spent.organization_id AND kind = 'contact_deleted' AND subject_id = spent.id)`,
        },
        retentionCutoff(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'contact_list',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteExpiredRows(
        sweeping.database,
        {
          table: 'contact_list',
          key: 'id',
          order: 'deleted_at',
          isExpired: `${isNotNewestSql('contact_list')} AND NOT EXISTS (SELECT 1 FROM contact_list_member m WHERE m.list_id = spent.id)`,
        },
        retentionCutoff(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'knowledge_document',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteExpiredRows(
        sweeping.database,
        {
          table: 'knowledge_document',
          key: 'id',
          order: 'updated_at',
          isExpired: `spent.is_active = 0 AND spent.due_at IS NULL AND ${isNotNewestSql('knowledge_document')}
            AND NOT EXISTS (SELECT 1 FROM knowledge_chunk k WHERE k.document_id = spent.id)`,
        },
        retentionCutoff(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'suppression',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteExpiredRows(
        sweeping.database,
        { table: 'suppression', key: 'id', order: 'until', isExpired: isNotNewestSql('suppression') },
        retentionCutoff(sweeping, 'RETENTION_DAYS'),
      ),
  },
  { table: 'upload', setting: 'UPLOAD_RETENTION_DAYS', removePage: removeUnusedUploads },
  {
    table: 'event_type',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) => deleteUnseenEventTypes(sweeping.database, retentionCutoff(sweeping, 'RETENTION_DAYS'), sweeping.now),
  },
  {
    table: 'cleanup',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteExpiredRows(
        sweeping.database,
        // What is left of a contact's erasure is never forgotten.
        {
          table: 'cleanup',
          key: 'id',
          order: 'created_at',
          isExpired: `spent.note IS NOT NULL AND spent.kind <> 'contact_deleted' AND ${isNotNewestSql('cleanup')}`,
        },
        retentionCutoff(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'idempotency_key',
    removePage: ({ database, now }) =>
      deleteExpiredRows(
        database,
        { table: 'idempotency_key', key: 'organization_id, scope, key', order: 'created_at', isExpired: 'true' },
        now - answersKeptMs,
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
      deleteExpiredGlobalRows(database, { table: 'write_receipt', key: 'key', order: 'key', isExpired: 'true' }, receiptsSince(now)),
  },
  {
    table: 'session',
    removePage: ({ database, now }) =>
      deleteExpiredGlobalRows(database, { table: 'session', key: 'token_hash', order: 'expires_at', isExpired: 'true' }, now),
  },
  {
    table: 'deletion',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteExpiredGlobalRows(
        sweeping.database,
        { table: 'deletion', key: 'id', order: 'finished_at', isExpired: 'finished_at IS NOT NULL' },
        retentionCutoff(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'password_reset',
    removePage: ({ database, now }) =>
      deleteExpiredGlobalRows(database, { table: 'password_reset', key: 'user_id', order: 'expires_at', isExpired: 'true' }, now),
  },
  {
    table: 'login_failure',
    removePage: ({ database, now }) =>
      deleteExpiredGlobalRows(database, { table: 'login_failure', key: 'subject', order: 'window_ends_at', isExpired: 'true' }, now),
  },
];
