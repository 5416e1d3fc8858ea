import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { json, moment } from './columns.ts';

/** The rules by which an organization contacts a person. No row: there are none. */
export const contactPolicy = sqliteTable('contact_policy', {
  organizationId: integer('organization_id').primaryKey(),
  policy: json<Record<string, unknown>>('policy').notNull(),
  updatedAt: moment('updated_at').notNull(),
});

/**
 * What the contact policy decided about one attempt to contact a person. A `reserved` one counts against the limits. It is written before
 * the call or message begins, and `released` when that never reached the carrier or provider. It outlives the contact, since a person who is
 * imported again must not be contacted more often.
 */
export const contactDecision = sqliteTable(
  'contact_decision',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    /** The one spelling of the number, as suppressions have it. */
    phone: text('phone').notNull(),
    /** The key of the call's attempt, or of the message. */
    key: text('key').notNull(),
    channel: text('channel', { enum: ['call', 'message'] }).notNull(),
    source: text('source', { enum: ['single', 'journey', 'campaign'] }).notNull(),
    /** The id of the campaign or of the journey's run; 0: a single call. */
    sourceId: integer('source_id').notNull(),
    state: text('state', { enum: ['reserved', 'released', 'held', 'skipped'] }).notNull(),
    /** The name of the rule that did not allow it; null: it was allowed. */
    rule: text('rule'),
    detail: text('detail'),
    /** When the rules allow it; null: it was allowed, or they never do. */
    until: moment('until'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [index('contact_decision_person').on(table.organizationId, table.phone, table.createdAt)],
);

/**
 * What a person said about being contacted, with its proof. The newest of a channel counts. A withdrawal in force outlives its contact, with
 * contact 0 and neither source nor text, since a person who is imported again must not be contacted.
 */
export const contactConsent = sqliteTable(
  'contact_consent',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    phone: text('phone').notNull(),
    contactId: integer('contact_id').notNull(),
    channel: text('channel', { enum: ['call', 'message', 'any'] }).notNull(),
    isGiven: integer('is_given', { mode: 'boolean' }).notNull(),
    source: text('source').notNull(),
    text: text('text').notNull(),
    /** When the person said it. */
    at: moment('at').notNull(),
    createdBy: integer('created_by').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    index('contact_consent_person').on(table.organizationId, table.phone, table.at),
    index('contact_consent_contact').on(table.contactId),
  ],
);
