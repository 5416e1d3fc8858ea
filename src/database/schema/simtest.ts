import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { json, moment } from './columns.ts';

/** For lists. From its start on the session's object is the truth, until the object has written how the session ended. */
export const testSession = sqliteTable(
  'test_session',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    name: text('name').notNull(),
    status: text('status').$type<'pending' | 'running' | 'completed' | 'failed' | 'stopped'>().notNull(),
    actorAgentId: integer('actor_agent_id').notNull(),
    adversaryAgentId: integer('adversary_agent_id').notNull(),
    loadTestId: integer('load_test_id'),
    testIndex: integer('test_index'),
    /** Null: that of its load test. */
    config: json<Record<string, unknown>>('config'),
    /**
     * The changed definition of the actor that the session verifies before it is saved. Its secrets are sealed. Null: the saved definition.
     */
    candidate: json<Record<string, unknown>>('candidate'),
    results: json<Record<string, unknown>>('results'),
    error: text('error'),
    /** When the object's next work is due. Long after this moment, the object's alarm is lost. */
    wakeAt: moment('wake_at'),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    completedAt: moment('completed_at'),
  },
  (table) => [
    index('test_session_status').on(table.organizationId, table.status),
    index('test_session_load_test')
      .on(table.loadTestId, table.testIndex)
      .where(sql`load_test_id IS NOT NULL`),
    index('test_session_wake')
      .on(table.wakeAt)
      .where(sql`wake_at IS NOT NULL`),
  ],
);

/** Many sessions of one pairing. Its object is the truth until it has written the statistics of its end. */
export const loadTest = sqliteTable(
  'load_test',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    name: text('name').notNull(),
    status: text('status').$type<'running' | 'completed' | 'stopped'>().notNull(),
    actorAgentId: integer('actor_agent_id').notNull(),
    adversaryAgentId: integer('adversary_agent_id').notNull(),
    testCount: integer('test_count').notNull(),
    concurrency: integer('concurrency').notNull(),
    rampSeconds: integer('ramp_seconds').notNull(),
    config: json<Record<string, unknown>>('config').notNull(),
    /** Set when the load test has ended. */
    statistics: json<Record<string, unknown>>('statistics'),
    revision: integer('revision').notNull().default(0),
    wakeAt: moment('wake_at'),
    createdAt: moment('created_at').notNull(),
    completedAt: moment('completed_at'),
  },
  (table) => [
    index('load_test_organization').on(table.organizationId),
    index('load_test_wake')
      .on(table.wakeAt)
      .where(sql`wake_at IS NOT NULL`),
  ],
);
