import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { json, moment } from './columns.ts';

/** An organization's messaging channel: the credentials of each provider, and the provider that sends. */
export const messagingConfig = sqliteTable('messaging_config', {
  organizationId: integer('organization_id').primaryKey(),
  /** Empty: none. */
  provider: text('provider').notNull(),
  /** The credentials by provider. Their secrets are sealed. */
  credentials: json<Record<string, Record<string, unknown> | null>>('credentials').notNull(),
  /** The origin under which callers reached the API when this was written. Providers call back there when PUBLIC_URL is empty. */
  callbackOrigin: text('callback_origin').notNull(),
  revision: integer('revision').notNull(),
  updatedAt: moment('updated_at').notNull(),
});

/**
 * One message to a person. The row is written before the provider is called, under a unique key, so that nothing is sent twice. When a row
 * is `sending` for longer than a request lasts, nobody can say whether the message was sent.
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
    /** sending | accepted | sent | delivered | read | failed | unknown, or the provider's word for a state before `sent`. */
    status: text('status').notNull(),
    /** `{try}:{uuid}`: the try of the key that calls the provider. */
    asking: text('asking'),
    /** The rank of the status. A status of a lower rank changes nothing. */
    statusRank: integer('status_rank').notNull(),
    error: text('error'),
    failureClass: text('failure_class'),
    /** The provider's own code, as text. */
    failureCode: text('failure_code'),
    /** The provider's id of the message. */
    messageId: text('message_id'),
    automationRunId: integer('automation_run_id'),
    /** `[{ status, at, error? }]`, oldest first. */
    history: json<Record<string, unknown>[]>('history').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [
    uniqueIndex('message_send_key').on(table.organizationId, table.sendKey),
    index('message_provider').on(table.organizationId, table.provider),
    index('message_contact')
      .on(table.contactId)
      .where(sql`contact_id IS NOT NULL`),
    index('message_provider_id')
      .on(table.organizationId, table.messageId)
      .where(sql`message_id IS NOT NULL`),
    index('message_status').on(table.organizationId, table.status),
    index('message_recipient').on(table.organizationId, table.recipient),
  ],
);
