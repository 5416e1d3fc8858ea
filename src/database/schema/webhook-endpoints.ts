import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { json, moment } from './columns.ts';

/** An address of a customer that is told what ends or breaks. Its object sends the messages, and alone changes what it finds out about the receiver. */
export const webhookEndpoint = sqliteTable(
  'webhook_endpoint',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    url: text('url').notNull(),
    description: text('description').notNull(),
    /** The types of events that it wants; null: all. */
    events: json<string[]>('events'),
    /** Sealed. */
    secret: text('secret').notNull(),
    /** The secret before the last rotation, sealed, which signs as well until `previousSecretUntil`. */
    previousSecret: text('previous_secret'),
    previousSecretUntil: moment('previous_secret_until'),
    status: text('status').$type<'active' | 'paused' | 'disabled' | 'deleted'>().notNull(),
    /** Why the service has disabled it. */
    disabledReason: text('disabled_reason'),
    disabledAt: moment('disabled_at'),
    /** The first failure since the last success; null: the last attempt succeeded, or there was none. */
    failingSince: moment('failing_since'),
    lastFailureAt: moment('last_failure_at'),
    /** The receiver asked (Retry-After) that nothing is sent before this moment. */
    holdUntil: moment('hold_until'),
    /** When the object has work: a message is due, or one is to be deleted. Null: there are no messages. */
    wakeAt: moment('wake_at'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [
    index('webhook_endpoint_organization').on(table.organizationId),
    index('webhook_endpoint_wake')
      .on(table.wakeAt)
      .where(sql`wake_at IS NOT NULL`),
  ],
);

/**
 * One event for one endpoint, written by triggers in the transaction of the change that it tells of (migration `webhook_endpoints`), with the
 * log of its delivery. `sequence` is about the epoch ms of the event and grows with each event of an endpoint, also from shard to shard.
 */
export const webhookMessage = sqliteTable(
  'webhook_message',
  {
    organizationId: integer('organization_id').notNull(),
    endpointId: integer('endpoint_id').notNull(),
    sequence: integer('sequence').notNull(),
    /** The same for all endpoints and all attempts; sent as `webhook-id`. */
    eventId: text('event_id').notNull(),
    type: text('type').notNull(),
    /** The record that the event is of, such as `campaign:7`. Events of one subject are sent in order. */
    subject: text('subject').notNull(),
    /** The facts of the event. Moments in it are epoch ms under names that end in `_at`. */
    data: json<Record<string, unknown>>('data').notNull(),
    status: text('status').$type<'pending' | 'delivered' | 'failed'>().notNull(),
    /** When it is sent next; null: it has ended, or waits for an earlier one of its subject. */
    dueAt: moment('due_at'),
    /** Attempts since it was recorded or replayed: how far it is in the retry schedule. */
    tries: integer('tries').notNull().default(0),
    /** The latest attempts, oldest first: `{ at, status, error, body, latency_ms }`. */
    attempts: json<Record<string, unknown>[]>('attempts').notNull().default([]),
    createdAt: moment('created_at').notNull(),
    endedAt: moment('ended_at'),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.endpointId, table.sequence] }),
    index('webhook_message_due')
      .on(table.organizationId, table.endpointId, table.dueAt)
      .where(sql`due_at IS NOT NULL`),
    index('webhook_message_pending')
      .on(table.organizationId, table.endpointId, table.subject)
      .where(sql`status = 'pending'`),
  ],
);
