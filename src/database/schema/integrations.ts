import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { flag, json, moment } from './columns.ts';

/**
 * A connection to an organization's tool. The broker has the tokens; the row has only the broker's name of the account. A connection whose
 * grant has died is inactive until it is connected again. A disconnected connection stays inactive for good, so that data that refers to it
 * can report the disconnection.
 */
export const integration = sqliteTable(
  'integration',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    provider: text('provider').$type<'chatapp' | 'tracker' | 'calendar' | 'books' | 'sheet'>().notNull(),
    /** The broker's name of the connected account; `integration_id` outside. */
    accountId: text('account_id').notNull(),
    accountLabel: text('account_label'),
    createdBy: integer('created_by').notNull(),
    isActive: flag('is_active').notNull(),
    /** The finished calls that are reported to an action target. */
    action: text('action').$type<'all_calls' | 'qualified_calls'>().notNull(),
    connectionParams: json<Record<string, string>>('connection_params').notNull(),
    providerData: json<Record<string, unknown>>('provider_data').notNull(),
    fieldMapping: json<Record<string, unknown>>('field_mapping').notNull(),
    lastError: text('last_error'),
    lastSyncedAt: moment('last_synced_at'),
    /** When a data source is read again; null: it has nothing to read. */
    nextSyncAt: moment('next_sync_at'),
    revision: integer('revision').notNull().default(1),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    disconnectedAt: moment('disconnected_at'),
  },
  (table) => [
    uniqueIndex('integration_current')
      .on(table.organizationId, table.provider)
      .where(sql`disconnected_at IS NULL`),
    index('integration_organization').on(table.organizationId),
    uniqueIndex('integration_account').on(table.accountId),
    index('integration_due')
      .on(table.nextSyncAt)
      .where(sql`next_sync_at IS NOT NULL AND is_active = 1`),
  ],
);

/** A connection that was requested and is not authorized yet. It counts against the plan until it expires. */
export const connectionRequest = sqliteTable(
  'connection_request',
  {
    /** The broker's name of the future account. Until the broker has answered, a name that the service chose. */
    id: text('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    provider: text('provider').notNull(),
    connectionParams: json<Record<string, string>>('connection_params').notNull(),
    redirectUrl: text('redirect_url'),
    createdBy: integer('created_by').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    uniqueIndex('connection_request_provider').on(table.organizationId, table.provider),
    index('connection_request_expiry').on(table.expiresAt),
  ],
);

/** One reading of a data source. The checkpoint is written in the batch that writes a page's contacts. */
export const integrationSync = sqliteTable(
  'integration_sync',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    integrationId: integer('integration_id').notNull(),
    status: text('status').$type<'running' | 'completed' | 'failed'>().notNull(),
    /** Until when a reader holds the source; null: no reader does. */
    leaseUntil: moment('lease_until'),
    /** The position of the next page; null: at the beginning. */
    checkpoint: json<Record<string, unknown>>('checkpoint'),
    /** The reading takes only records that changed at the provider after this moment; null: all records. */
    changedSince: moment('changed_since'),
    pages: integer('pages').notNull().default(0),
    rowsSeen: integer('rows_seen').notNull().default(0),
    created: integer('created').notNull().default(0),
    updated: integer('updated').notNull().default(0),
    unchanged: integer('unchanged').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    /** The first 20. */
    errors: json<Record<string, unknown>[]>('errors').notNull(),
    reason: text('reason'),
    startedAt: moment('started_at').notNull(),
    finishedAt: moment('finished_at'),
  },
  (table) => [
    uniqueIndex('integration_sync_running')
      .on(table.integrationId)
      .where(sql`status = 'running'`),
    index('integration_sync_integration').on(table.integrationId),
    index('integration_sync_lease')
      .on(table.leaseUntil)
      .where(sql`status = 'running'`),
  ],
);

/** The contact of each record of a tool. */
export const integrationContact = sqliteTable(
  'integration_contact',
  {
    integrationId: integer('integration_id').notNull(),
    externalId: text('external_id').notNull(),
    organizationId: integer('organization_id').notNull(),
    contactId: integer('contact_id').notNull(),
    /** Hash of the record's mapped fields as last read or pushed. The same hash again is no change. */
    seenHash: text('seen_hash').notNull(),
    /**
     * For each mapped field the value that both sides had last. The side whose value differs has changed the field. If a person has several rows in a
     * sheet, `rows` has the values of each, and `read` how many the last reading found.
     */
    seen: json<Record<string, unknown>>('seen').notNull(),
    /** The last full reading that found the record, for the list. */
    seenIn: integer('seen_in'),
    pushedAt: moment('pushed_at'),
  },
  (table) => [
    primaryKey({ columns: [table.integrationId, table.externalId] }),
    index('integration_contact_contact').on(table.contactId, table.integrationId),
  ],
);
