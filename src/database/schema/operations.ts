import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { moment } from './columns.ts';

/** The first answer to a request that carried an Idempotency-Key. `scope` is method and path. */
export const idempotencyKey = sqliteTable(
  'idempotency_key',
  {
    organizationId: integer('organization_id').notNull(),
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    requestHash: text('request_hash').notNull(),
    /** null while the first request is still running. */
    status: integer('status'),
    body: text('body'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.scope, table.key] }), index('idempotency_key_age').on(table.createdAt)],
);

/**
 * Cursors and measures of the minute tick in a shard: "every event up to this id is handled", "counted up to this id" and the like.
 * A cursor over the primary key replaces a partial index on `handled_at`: rows read cost a thousandth of rows written.
 */
export const progress = sqliteTable('progress', {
  name: text('name').primaryKey(),
  value: integer('value').notNull(),
});

export type CleanupKind =
  | 'contact_deleted'
  | 'list_deleted'
  | 'integration_disconnected'
  | 'workflow_archived'
  | 'workflow_resumed'
  | 'runs_marked'
  | 'run_ended';

/**
 * Work that follows from a stored change (a deleted contact, list or connection; an archived or resumed workflow, or its new settings) and
 * is done in pages. The last page deletes the row. A cleanup that was given up stays, with a note.
 */
export const cleanup = sqliteTable(
  'cleanup',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    kind: text('kind').$type<CleanupKind>().notNull(),
    subjectId: integer('subject_id').notNull(),
    /** For a workflow: the newest run at the time of the change. */
    upToId: integer('up_to_id'),
    createdAt: moment('created_at').notNull(),
    note: text('note'),
  },
  (table) => [
    index('cleanup_given_up')
      .on(table.createdAt)
      .where(sql`note IS NOT NULL`),
    index('cleanup_stuck')
      .on(table.organizationId)
      .where(sql`note IS NOT NULL`),
  ],
);

/**
 * A record whose message the queue gave up, or a part of a larger work that failed while the rest went on, with the moment of the next try.
 * The row stays until the record is handled, or until it has failed for GIVE_UP_AFTER_HOURS and ends in a named state. `key` names the
 * record: `event:{id}`, `schedule_fire:{trigger}:{moment}` ...
 */
export const failedMessage = sqliteTable(
  'failed_message',
  {
    key: text('key').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    /** The message itself, as JSON. */
    message: text('message').notNull(),
    tries: integer('tries').notNull(),
    firstFailedAt: moment('first_failed_at').notNull(),
    nextTryAt: moment('next_try_at').notNull(),
    /** Why the latest known try failed. */
    reason: text('reason'),
  },
  (table) => [
    index('failed_message_due').on(table.nextTryAt),
    index('failed_message_organization').on(table.organizationId, table.firstFailedAt),
  ],
);

/** The receipt of a write, written with it, for repeats after a lost answer (database/write-receipts.ts). `key` sorts by age. */
export const writeReceipt = sqliteTable('write_receipt', {
  key: text('key').primaryKey(),
  /** Rows changed by the last statement of the write, and the id that was inserted last. */
  changes: integer('changes').notNull(),
  rowId: integer('row_id').notNull(),
});

/**
 * In each shard: the organizations whose rows are moving out of it or into it. Beyond `copying` the minute tick leaves their rows alone.
 * `fenced` and `left`: triggers refuse every write to them.
 */
export const transit = sqliteTable('transit', {
  /** The organization's id. */
  subjectId: integer('subject_id').primaryKey(),
  stage: text('stage').$type<'copying' | 'fenced' | 'left' | 'clearing' | 'arriving' | 'arrived'>().notNull(),
  /** The `claim` of the worker that may write. */
  holder: integer('holder').notNull(),
});

/** A row of a moving organization that changed after its table began to be copied. Written by triggers. `seq` is never given again. */
export const transitChange = sqliteTable('transit_change', {
  seq: integer('seq').primaryKey({ autoIncrement: true }),
  /** The organization's id. */
  subjectId: integer('subject_id').notNull(),
  /** The table. */
  kind: text('kind').notNull(),
  /** The row's primary key, as a JSON list. */
  key: text('key').notNull(),
});

/** A file in R2 with rows that left the database. The row is written before the file, so that no file is unknown. */
export const archive = sqliteTable(
  'archive',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    /** The table of the rows. */
    kind: text('kind').notNull(),
    /** Its key in R2. */
    name: text('name').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [uniqueIndex('archive_name').on(table.organizationId, table.name), index('archive_age').on(table.createdAt)],
);

/** The contacts in a file of the archive, so that a contact's erasure finds the file. */
export const archiveContact = sqliteTable(
  'archive_contact',
  {
    contactId: integer('contact_id').notNull(),
    archiveId: integer('archive_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.contactId, table.archiveId] }), index('archive_contact_archive').on(table.archiveId)],
);

/** An issued upload address. A file that no record uses is deleted with its row. */
export const upload = sqliteTable(
  'upload',
  {
    /** The key of the file in R2, or the beginning of the key: `campaign_sources/...`, `knowledge_base_uploads/...`. */
    name: text('name').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [index('upload_age').on(table.createdAt), index('upload_organization').on(table.organizationId)],
);
