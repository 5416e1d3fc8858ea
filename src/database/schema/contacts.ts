import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { caselessText, json, moment } from './columns.ts';

/**
 * A deleted contact stays as a tombstone without personal data, so that its id is never given again.
 * Full-text tables and the triggers that feed them are in the migration `contact_search`.
 */
export const contact = sqliteTable(
  'contact',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    externalId: text('external_id'),
    phone: text('phone'),
    email: text('email'),
    firstName: text('first_name'),
    lastName: text('last_name'),
    company: text('company'),
    title: text('title'),
    tags: json<string[]>('tags').notNull(),
    customFields: json<Record<string, unknown>>('custom_fields').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    /** Grows with each write. A writer that read an older revision starts again. */
    revision: integer('revision').notNull().default(1),
    /** How many journeys deep the last write was: 0 from outside, one more than the run's when a journey wrote. */
    depth: integer('depth').notNull().default(0),
    deletedAt: moment('deleted_at'),
  },
  (table) => [
    uniqueIndex('contact_phone')
      .on(table.organizationId, table.phone)
      .where(sql`phone IS NOT NULL`),
    uniqueIndex('contact_external_id')
      .on(table.organizationId, table.externalId)
      .where(sql`external_id IS NOT NULL`),
    index('contact_created')
      .on(table.organizationId, table.createdAt)
      .where(sql`deleted_at IS NULL`),
    index('contact_updated')
      .on(table.organizationId, table.updatedAt)
      .where(sql`deleted_at IS NULL`),
    index('contact_last_name')
      .on(table.organizationId, table.lastName)
      .where(sql`deleted_at IS NULL`),
    index('contact_email')
      .on(table.organizationId, sql`lower(email)`)
      .where(sql`email IS NOT NULL`),
    index('contact_deleted')
      .on(table.organizationId, table.deletedAt)
      .where(sql`deleted_at IS NOT NULL`),
    index('contact_deletion')
      .on(table.deletedAt)
      .where(sql`deleted_at IS NOT NULL`),
  ],
);

export const contactList = sqliteTable(
  'contact_list',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    name: caselessText('name').notNull(),
    description: text('description'),
    metadata: json<Record<string, unknown>>('metadata').notNull(),
    columnSchema: json<unknown[]>('column_schema').notNull(),
    contactsCount: integer('contacts_count').notNull().default(0),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    /** Set when the list is deleted. The name is free at once; the memberships are removed in pages. */
    deletedAt: moment('deleted_at'),
  },
  (table) => [
    uniqueIndex('contact_list_name')
      .on(table.organizationId, table.name)
      .where(sql`deleted_at IS NULL`),
    index('contact_list_deleted')
      .on(table.organizationId, table.deletedAt)
      .where(sql`deleted_at IS NOT NULL`),
    index('contact_list_deletion')
      .on(table.deletedAt)
      .where(sql`deleted_at IS NOT NULL`),
  ],
);

/** The primary key is the order in which members are listed. */
export const contactListMember = sqliteTable(
  'contact_list_member',
  {
    listId: integer('list_id').notNull(),
    contactId: integer('contact_id').notNull(),
    addedAt: moment('added_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.listId, table.contactId] }), index('contact_list_member_contact').on(table.contactId)],
);

/** Every custom field key that an organization ever wrote, with the type first seen. */
export const customFieldKey = sqliteTable(
  'custom_field_key',
  {
    organizationId: integer('organization_id').notNull(),
    key: text('key').notNull(),
    type: text('type').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.key] })],
);

/** Counters that totals and plan limits read instead of counting rows. */
export const organizationUsage = sqliteTable('organization_usage', {
  organizationId: integer('organization_id').primaryKey(),
  contactsCount: integer('contacts_count').notNull().default(0),
  /** Events with an id up to `progress.events_counted`; the few newer ones are counted when asked. */
  eventsCount: integer('events_count').notNull().default(0),
});

/**
 * A contact write made while a journey watches contacts: the contact as it was before (null: created).
 * What it became is the next change's `before`, or the contact as it is now. Rows are written by triggers on `contact`
 * (migration `contact_changes`), so that no writer can forget them, and leave when they are handled.
 */
export const contactChange = sqliteTable(
  'contact_change',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    contactId: integer('contact_id').notNull(),
    before: text('before'),
    depth: integer('depth').notNull().default(0),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [index('contact_change_organization').on(table.organizationId), index('contact_change_contact').on(table.contactId)],
);
