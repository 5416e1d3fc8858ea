import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { flag, json, moment } from './columns.ts';

/** For lists. From its start on the campaign's object is the truth; it writes its own columns here, guarded by `revision`. */
export const campaign = sqliteTable(
  'campaign',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    name: text('name').notNull(),
    agentId: integer('agent_id').notNull(),
    /** The version of the agent that its calls have; null: the current one at the moment of each call. */
    definitionId: integer('definition_id'),
    state: text('state').$type<'draft' | 'syncing' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled'>().notNull(),
    stateReason: text('state_reason'),
    sourceType: text('source_type').$type<'csv' | 'contact_list' | 'sheet'>().notNull(),
    sourceId: text('source_id').notNull(),
    sourceOptions: json<Record<string, unknown>>('source_options').notNull(),
    maxConcurrency: integer('max_concurrency').notNull(),
    retryConfig: json<Record<string, unknown>>('retry_config').notNull(),
    scheduleConfig: json<Record<string, unknown>>('schedule_config').notNull(),
    circuitBreaker: json<Record<string, unknown>>('circuit_breaker').notNull(),
    totalRows: integer('total_rows').notNull().default(0),
    completedRows: integer('completed_rows').notNull().default(0),
    failedRows: integer('failed_rows').notNull().default(0),
    skippedRows: integer('skipped_rows').notNull().default(0),
    inFlight: integer('in_flight').notNull().default(0),
    revision: integer('revision').notNull().default(0),
    /** When the object's next work is due. Long after this moment, the object's alarm is lost. */
    wakeAt: moment('wake_at'),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    completedAt: moment('completed_at'),
    /** `{ parts, progress }` once the campaign's rows are in files of the archive. */
    archive: json<Record<string, unknown>>('archive'),
    /** The campaign's object may still exist. */
    isKept: flag('is_kept').notNull().default(true),
  },
  (table) => [
    index('campaign_organization').on(table.organizationId),
    index('campaign_live')
      .on(table.organizationId, table.agentId)
      .where(sql`state IN ('syncing', 'running', 'paused')`),
    index('campaign_kept')
      .on(table.organizationId)
      .where(sql`state <> 'draft' AND is_kept = 1`),
    index('campaign_ended')
      .on(table.completedAt)
      .where(sql`completed_at IS NOT NULL AND is_kept = 1`),
    index('campaign_blocked')
      .on(table.organizationId)
      .where(sql`is_kept = 1 AND (state = 'failed' OR (state_reason IS NOT NULL AND state IN ('syncing', 'running', 'paused')))`),
    index('campaign_wake')
      .on(table.wakeAt)
      .where(sql`wake_at IS NOT NULL`),
  ],
);
