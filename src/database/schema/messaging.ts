import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { json, moment } from './columns.ts';

/** An organization's messaging channel: the credentials of each provider, and the provider that sends. */
export const messagingConfig = sqliteTable('messaging_config', {
  organizationId: integer('organization_id').primaryKey(),
  /** Empty: none. */
  provider: text('provider').notNull(),
  /** By provider; secrets in it are sealed. */
  credentials: json<Record<string, Record<string, unknown> | null>>('credentials').notNull(),
  /** Under which origin callers reached the API when it was written: providers call back there where PUBLIC_URL is empty. */
  callbackOrigin: text('callback_origin').notNull(),
  revision: integer('revision').notNull(),
  updatedAt: moment('updated_at').notNull(),
});

/**
 * One message to a person. It is written before the provider is asked, under a name that is there once, so that nothing is sent twice:
 * `sending` for longer than a request lasts means that nobody can say whether it was sent.
 */
export const message = sqliteTable(
  'message',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    /** `step:{run}:{node}:{visit}:{attempt}`, or `request:{name}`. */
    sendKey: text('send_key').notNull(),
    provider: text('provider').notNull(),
    kind: text('kind').$type<'template' | 'text'>().notNull(),
    recipient: text('recipient').notNull(),
    contactId: integer('contact_id'),
    templateName: text('template_name'),
    language: text('language'),
    /** sending | accepted | sent | delivered | read | failed | unknown, or as the provider calls what comes before `sent`. */
    status: text('status').notNull(),
    /** `{try}:{uuid}`: which try of its key asks the provider. */
    asking: text('asking'),
    /** How far it has come: a status of a lower rank changes nothing. */
    statusRank: integer('status_rank').notNull(),
    error: text('error'),
    failureClass: text('failure_class'),
    /** The provider's own code, as text. */
    failureCode: text('failure_code'),
    /** The provider's name of it. */
    messageId: text('message_id'),
    automationRunId: integer('automation_run_id'),
    /** `[{ status, at, error? }]`, oldest first. */
    history: json<Record<string, unknown>[]>('history').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [
    uniqueIndex('message_send_key').on(table.organizationId, table.sendKey),
    index('message_organization').on(table.organizationId),
    index('message_provider').on(table.organizationId, table.provider),
    index('message_contact')
      .on(table.contactId)
      .where(sql`contact_id IS NOT NULL`),
    index('message_provider_id')
      .on(table.organizationId, table.messageId)
      .where(sql`message_id IS NOT NULL`),
    index('message_status').on(table.organizationId, table.status),
    index('message_recipient').on(table.organizationId, table.recipient),
    index('message_run')
      .on(table.automationRunId)
      .where(sql`automation_run_id IS NOT NULL`),
  ],
);
