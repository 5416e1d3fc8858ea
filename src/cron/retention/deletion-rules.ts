import { keptSince as receiptsSince } from '../../database/receipts.ts';
import { keptMs as answersKeptMs } from '../../http/idempotency-store.ts';
import { deleteOver, deleteOverOfNobody } from './delete-store.ts';
import { forgetUnseenTypes } from './event-type-store.ts';
import { keptSince, type RetentionRule } from './rule.ts';
import { removeUnusedUploads } from './unused-uploads.ts';

/** An expired request takes no place, but says for an hour what was asked for, to whoever finalizes late. */
const requestsKeptMs = 60 * 60_000;

/** An id must never be given twice: the newest row stays. */
const isNotNewest = (table: string) => `spent.id < (SELECT max(id) FROM ${table})`;

/** What is over and goes for good: nobody asks for it any more. */
export const deletionRules: RetentionRule[] = [
  {
    table: 'schedule_fire',
    setting: 'SCHEDULE_FIRE_DAYS',
    removePage: (sweeping) =>
      deleteOver(
        sweeping.database,
        { table: 'schedule_fire', key: 'trigger_id, scheduled_at', order: 'handled_at', isOver: 'true' },
        keptSince(sweeping, 'SCHEDULE_FIRE_DAYS'),
      ),
  },
  {
    table: 'contact',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteOver(
        sweeping.database,
        {
          table: 'contact',
          key: 'id',
          order: 'deleted_at',
          isOver: `${isNotNewest('contact')} AND NOT EXISTS (
            SELECT 1 FROM cleanup WHERE cleanup.organization_id = spent.organization_id AND kind = 'contact_deleted' AND subject_id = spent.id)`,
        },
        keptSince(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'contact_list',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteOver(
        sweeping.database,
        {
          table: 'contact_list',
          key: 'id',
          order: 'deleted_at',
          isOver: `${isNotNewest('contact_list')} AND NOT EXISTS (SELECT 1 FROM contact_list_member m WHERE m.list_id = spent.id)`,
        },
        keptSince(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'knowledge_document',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteOver(
        sweeping.database,
        {
          table: 'knowledge_document',
          key: 'id',
          order: 'updated_at',
          isOver: `spent.is_active = 0 AND spent.due_at IS NULL AND ${isNotNewest('knowledge_document')}
            AND NOT EXISTS (SELECT 1 FROM knowledge_chunk k WHERE k.document_id = spent.id)`,
        },
        keptSince(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'suppression',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteOver(
        sweeping.database,
        { table: 'suppression', key: 'id', order: 'until', isOver: isNotNewest('suppression') },
        keptSince(sweeping, 'RETENTION_DAYS'),
      ),
  },
  { table: 'upload', setting: 'UPLOAD_RETENTION_DAYS', removePage: removeUnusedUploads },
  {
    table: 'event_type',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) => forgetUnseenTypes(sweeping.database, keptSince(sweeping, 'RETENTION_DAYS'), sweeping.now),
  },
  {
    table: 'cleanup',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteOver(
        sweeping.database,
        // What is left of a contact's erasure is never forgotten.
        {
          table: 'cleanup',
          key: 'id',
          order: 'created_at',
          isOver: `spent.note IS NOT NULL AND spent.kind <> 'contact_deleted' AND ${isNotNewest('cleanup')}`,
        },
        keptSince(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'idempotency_key',
    removePage: ({ database, now }) =>
      deleteOver(
        database,
        { table: 'idempotency_key', key: 'organization_id, scope, key', order: 'created_at', isOver: 'true' },
        now - answersKeptMs,
      ),
  },
  {
    table: 'connection_request',
    removePage: ({ database, now }) =>
      deleteOver(database, { table: 'connection_request', key: 'id', order: 'expires_at', isOver: 'true' }, now - requestsKeptMs),
  },
  {
    table: 'write_receipt',
    removePage: ({ database, now }) =>
      deleteOverOfNobody(database, { table: 'write_receipt', key: 'key', order: 'key', isOver: 'true' }, receiptsSince(now)),
  },
  {
    table: 'session',
    removePage: ({ database, now }) =>
      deleteOverOfNobody(database, { table: 'session', key: 'token_hash', order: 'expires_at', isOver: 'true' }, now),
  },
  {
    table: 'deletion',
    setting: 'RETENTION_DAYS',
    removePage: (sweeping) =>
      deleteOverOfNobody(
        sweeping.database,
        { table: 'deletion', key: 'id', order: 'finished_at', isOver: 'finished_at IS NOT NULL' },
        keptSince(sweeping, 'RETENTION_DAYS'),
      ),
  },
  {
    table: 'password_reset',
    removePage: ({ database, now }) =>
      deleteOverOfNobody(database, { table: 'password_reset', key: 'user_id', order: 'expires_at', isOver: 'true' }, now),
  },
  {
    table: 'login_failure',
    removePage: ({ database, now }) =>
      deleteOverOfNobody(database, { table: 'login_failure', key: 'subject', order: 'window_ends_at', isOver: 'true' }, now),
  },
];
