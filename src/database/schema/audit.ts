import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { flag, moment } from './columns.ts';

const entryColumns = {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  /** One request has one, in all of its entries. */
  requestId: text('request_id').notNull(),
  /** The operationId of the OpenAPI document. */
  action: text('action').notNull(),
  userId: integer('user_id').notNull(),
  /** `key:{id}`, `session:{id}` or `link`. */
  credential: text('credential').notNull(),
  /** The network address of the caller; null: unknown. */
  address: text('address'),
  recordType: text('record_type').notNull(),
  recordId: text('record_id'),
  /** JSON: `before` and `after` of each changed field. Null: the entry stands for the whole request. */
  change: text('change'),
  createdAt: moment('created_at').notNull(),
};

/**
 * What people and keys have changed in the tables of a shard. Triggers of the changed tables write the entries in the transaction of the
 * change (`database/audit/`).
 */
export const auditEntry = sqliteTable('audit_entry', entryColumns, (table) => [
  index('audit_entry_organization').on(table.organizationId, table.createdAt),
  index('audit_entry_record').on(table.organizationId, table.recordType, table.recordId, table.createdAt),
  index('audit_entry_age').on(table.createdAt),
]);

/** The same of the tables of the catalog, which stay where they are when an organization moves to another shard. */
export const accountAuditEntry = sqliteTable('account_audit_entry', entryColumns, (table) => [
  index('account_audit_entry_organization').on(table.organizationId, table.createdAt),
  index('account_audit_entry_record').on(table.organizationId, table.recordType, table.recordId, table.createdAt),
  index('account_audit_entry_age').on(table.createdAt),
]);

/** Who makes the changes of the transaction that is under way. No row outlives its transaction. */
export const auditActor = sqliteTable('audit_actor', {
  /** 1. */
  id: integer('id').primaryKey(),
  /** The organization of the request; null: it has none. */
  forOrganization: integer('for_organization'),
  requestId: text('request_id').notNull(),
  action: text('action').notNull(),
  userId: integer('user_id').notNull(),
  credential: text('credential').notNull(),
  address: text('address'),
  at: moment('at').notNull(),
  /** The record of the request, for an entry that no trigger writes. */
  recordType: text('record_type').notNull(),
  recordId: text('record_id'),
  /** The request has one entry, not one for each record. */
  isSummary: flag('is_summary').notNull(),
  /** `total_changes()` before the transaction. */
  changesBefore: integer('changes_before').notNull(),
});
