import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { flag, moment } from './columns.ts';

/**
 * The columns of a counter that say when. `period` is the first epoch ms of a quarter of an hour, of which every time zone's days are made; in
 * a row with `isDay`, midnight UTC of a date of the organization's time zone. Quarters become days with age (`src/statistics/fold.ts`).
 */
const when = { isDay: flag('is_day').notNull(), period: moment('period').notNull() };
const count = (name: string) => integer(name).notNull().default(0);

/**
 * How many calls and chats that were asked for in a period have ended, by all that is asked for together. Triggers on `voice_agent_run` count
 * (migration `statistics`). An empty text and the id 0 mean: none. One row of a period, with the direction `run`, has the ended runs of all
 * journeys together (`calls` is their number), so that reading what was used does not grow with the number of journeys.
 */
export const callStatistic = sqliteTable(
  'call_statistic',
  {
    organizationId: integer('organization_id').notNull(),
    ...when,
    agentId: integer('agent_id').notNull(),
    campaignId: integer('campaign_id').notNull(),
    journeyId: integer('journey_id').notNull(),
    ownNumber: text('own_number').notNull(),
    direction: text('direction').$type<'inbound' | 'outbound' | 'chat' | 'run'>().notNull(),
    outcome: text('outcome').notNull(),
    disposition: text('disposition').notNull(),
    calls: count('calls'),
    talkSeconds: count('talk_seconds'),
    /** From the answer to the end of the line, whoever answered. */
    lineSeconds: count('line_seconds'),
    promptTokens: count('prompt_tokens'),
    completionTokens: count('completion_tokens'),
    /** Millionths of a US dollar. */
    costMicros: count('cost_micros'),
    /** Calls whose model has no known price. */
    unpricedCalls: count('unpriced_calls'),
    /** Searches of the agent in documents, and those that found nothing. */
    questions: count('questions'),
    unansweredQuestions: count('unanswered_questions'),
    /** How often callers were to be handed to a human, how often one took them, and for how long humans had them. */
    transfers: count('transfers'),
    transfersTaken: count('transfers_taken'),
    transferSeconds: count('transfer_seconds'),
  },
  (table) => [
    primaryKey({
      columns: [
        table.organizationId,
        table.isDay,
        table.period,
        table.agentId,
        table.campaignId,
        table.journeyId,
        table.ownNumber,
        table.direction,
        table.outcome,
        table.disposition,
      ],
    }),
  ],
);

/** How many runs of a journey that began in a period have ended, by their end and their trail. Triggers on `automation_run` count. */
export const journeyStatistic = sqliteTable(
  'journey_statistic',
  {
    organizationId: integer('organization_id').notNull(),
    workflowId: integer('workflow_id').notNull(),
    ...when,
    version: integer('version').notNull(),
    state: text('state').notNull(),
    outcome: text('outcome').notNull(),
    endNode: text('end_node').notNull(),
    /** `automation_run.trail` without its tokens; empty: the run ended before its first step, or before trails were stored. */
    trail: text('trail').notNull(),
    runs: count('runs'),
    promptTokens: count('prompt_tokens'),
    completionTokens: count('completion_tokens'),
  },
  (table) => [
    primaryKey({
      columns: [table.workflowId, table.isDay, table.period, table.version, table.state, table.outcome, table.endNode, table.trail],
    }),
  ],
);

/** How many messages a provider has accepted, and how many documents were read, of those made in a period. */
export const usageStatistic = sqliteTable(
  'usage_statistic',
  {
    organizationId: integer('organization_id').notNull(),
    ...when,
    kind: text('kind').$type<'message' | 'document'>().notNull(),
    /** The provider of messages. */
    name: text('name').notNull(),
    items: count('items'),
    /** The size of documents. */
    bytes: count('bytes'),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.isDay, table.period, table.kind, table.name] })],
);

/** A question of a call or chat to which the documents have no passage. It leaves with its call. */
export const unansweredQuestion = sqliteTable(
  'unanswered_question',
  {
    organizationId: integer('organization_id').notNull(),
    /** The moment at which the call was asked for. */
    createdAt: moment('created_at').notNull(),
    runId: integer('run_id').notNull(),
    /** Its place among the questions of the call, from 0. */
    place: integer('place').notNull(),
    agentId: integer('agent_id').notNull(),
    question: text('question').notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.createdAt, table.runId, table.place] })],
);
