import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { moment } from './columns.ts';

/** An accepted inbound event, and its own outbox: `handled_at` is set by the consumer after its work. */
export const event = sqliteTable(
  'event',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    eventType: text('event_type').notNull(),
    /** E.164 when it parsed, as received when it did not, null when absent. */
    phone: text('phone'),
    contactId: integer('contact_id'),
    /** JSON text, or a pointer into R2 (see database/payload.ts). */
    data: text('data').notNull(),
    /** The sender's own id, or the key of the journey step that emitted the event. */
    senderId: text('sender_id'),
    depth: integer('depth').notNull().default(0),
    occurredAt: moment('occurred_at'),
    createdAt: moment('created_at').notNull(),
    handledAt: moment('handled_at'),
    /** Why the event triggered nothing although accepted, or null. */
    note: text('note'),
    /** Why the event started no runs of triggers that listen to it (`EventHandling`), written with `handled_at`. Null: there is nothing to tell. */
    handling: text('handling'),
  },
  (table) => [
    index('event_organization').on(table.organizationId, table.createdAt),
    index('event_organization_type').on(table.organizationId, table.eventType, table.createdAt),
    index('event_phone')
      .on(table.organizationId, table.phone, table.createdAt)
      .where(sql`phone IS NOT NULL`),
    index('event_contact')
      .on(table.contactId, table.createdAt)
      .where(sql`contact_id IS NOT NULL`),
    uniqueIndex('event_sender_id')
      .on(table.organizationId, table.senderId)
      .where(sql`sender_id IS NOT NULL`),
    index('event_given_up')
      .on(table.organizationId)
      .where(sql`substr(note, 1, 9) = 'given_up:'`),
  ],
);

/** Event types an organization has sent, for search and for trigger forms. */
export const eventType = sqliteTable(
  'event_type',
  {
    organizationId: integer('organization_id').notNull(),
    eventType: text('event_type').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.eventType] }), index('event_type_age').on(table.createdAt)],
);
