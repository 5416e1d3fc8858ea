import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { flag, json, moment } from './columns.ts';

export const automationWorkflow = sqliteTable(
  'automation_workflow',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    name: text('name').notNull(),
    description: text('description').notNull(),
    version: integer('version').notNull(),
    status: text('status').$type<'draft' | 'active' | 'paused' | 'archived'>().notNull(),
    definition: json<Record<string, unknown>>('definition').notNull(),
    trigger: json<Record<string, unknown>>('trigger').notNull(),
    contextSchema: json<Record<string, unknown>>('context_schema').notNull(),
    settings: json<Record<string, unknown>>('settings').notNull(),
    /** Kept by triggers on automation_run (migration `automation_counters`). Test runs do not count. */
    runsCount: integer('runs_count').notNull().default(0),
    activeRunsCount: integer('active_runs_count').notNull().default(0),
    /** How many of the active runs are held (`hold` is `max_active`). Also kept by triggers (migration `journey_policies`). */
    heldRunsCount: integer('held_runs_count').notNull().default(0),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at'),
  },
  (table) => [
    index('automation_workflow_organization').on(table.organizationId, table.status),
    index('automation_workflow_held')
      .on(table.id)
      .where(sql`held_runs_count > 0`),
  ],
);

/** One row for each definition that was saved or ran. A run stays on the version with which it began. */
export const automationVersion = sqliteTable(
  'automation_version',
  {
    workflowId: integer('workflow_id').notNull(),
    version: integer('version').notNull(),
    organizationId: integer('organization_id').notNull(),
    definition: json<Record<string, unknown>>('definition').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workflowId, table.version] })],
);

export const automationTrigger = sqliteTable(
  'automation_trigger',
  {
    id: integer('id').primaryKey(),
    /** A version 8 UUID that contains the organization's id, so that a webhook finds its shard without a query. */
    uuid: text('uuid').notNull(),
    organizationId: integer('organization_id').notNull(),
    workflowId: integer('workflow_id').notNull(),
    type: text('type').notNull(),
    name: text('name').notNull(),
    /** Secrets in it are sealed (library/encryption.ts). */
    config: json<Record<string, unknown>>('config').notNull(),
    state: text('state').$type<'active' | 'paused' | 'archived'>().notNull(),
    isPrimary: flag('is_primary').notNull().default(false),
    nextFireAt: moment('next_fire_at'),
    lastFiredAt: moment('last_fired_at'),
    fireCount: integer('fire_count').notNull().default(0),
    lastError: text('last_error'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [
    uniqueIndex('automation_trigger_uuid').on(table.uuid),
    index('automation_trigger_workflow').on(table.workflowId),
    index('automation_trigger_live')
      .on(table.organizationId, table.type)
      .where(sql`state <> 'archived'`),
    index('automation_trigger_due')
      .on(table.nextFireAt)
      .where(sql`next_fire_at IS NOT NULL`),
    uniqueIndex('automation_trigger_primary')
      .on(table.workflowId)
      .where(sql`is_primary = 1 AND state <> 'archived'`),
    index('automation_trigger_failing')
      .on(table.organizationId)
      .where(sql`last_error IS NOT NULL AND state <> 'archived'`),
  ],
);

/** The topics of a trigger: `contact_event:<type>`, `event:<internal event>`, `change:created`, `change:updated`. */
export const triggerTopic = sqliteTable(
  'trigger_topic',
  {
    organizationId: integer('organization_id').notNull(),
    topic: text('topic').notNull(),
    triggerId: integer('trigger_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organizationId, table.topic, table.triggerId] }),
    index('trigger_topic_trigger').on(table.triggerId),
  ],
);

/** One firing of a schedule. A firing for an audience is handled in pages; `cursor` is the last contact id that was handled. */
export const scheduleFire = sqliteTable(
  'schedule_fire',
  {
    triggerId: integer('trigger_id').notNull(),
    scheduledAt: moment('scheduled_at').notNull(),
    organizationId: integer('organization_id').notNull(),
    cursor: integer('cursor').notNull().default(0),
    handledAt: moment('handled_at'),
    note: text('note'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.triggerId, table.scheduledAt] }),
    index('schedule_fire_open')
      .on(table.createdAt)
      .where(sql`handled_at IS NULL`),
    index('schedule_fire_handled')
      .on(table.handledAt)
      .where(sql`handled_at IS NOT NULL`),
    index('schedule_fire_given_up')
      .on(table.organizationId, table.createdAt)
      .where(sql`substr(note, 1, 9) = 'given_up:'`),
  ],
);

/** An accepted webhook. Like an event it is its own outbox. */
export const webhookDelivery = sqliteTable(
  'webhook_delivery',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    triggerId: integer('trigger_id').notNull(),
    deliveryId: text('delivery_id'),
    contactId: integer('contact_id'),
    /** JSON text `{ body, raw?, headers, query }`, or a pointer into R2. */
    payload: text('payload').notNull(),
    createdAt: moment('created_at').notNull(),
    handledAt: moment('handled_at'),
    note: text('note'),
  },
  (table) => [
    uniqueIndex('webhook_delivery_id')
      .on(table.triggerId, table.deliveryId)
      .where(sql`delivery_id IS NOT NULL`),
    index('webhook_delivery_contact')
      .on(table.contactId)
      .where(sql`contact_id IS NOT NULL`),
    // A trigger lists its deliveries, newest first.
    index('webhook_delivery_trigger').on(table.triggerId),
    index('webhook_delivery_given_up')
      .on(table.organizationId)
      .where(sql`substr(note, 1, 9) = 'given_up:'`),
  ],
);

/**
 * One run, for lists and filters. The run's object is the truth while the run lives and writes only its own columns
 * here, guarded by `revision`. `source` says where the initial context is kept: the run itself, an event or a delivery.
 */
export const automationRun = sqliteTable(
  'automation_run',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    workflowId: integer('workflow_id').notNull(),
    workflowVersion: integer('workflow_version').notNull(),
    triggerId: integer('trigger_id'),
    contactId: integer('contact_id'),
    state: text('state').notNull(),
    currentNodeId: text('current_node_id'),
    outcome: text('outcome'),
    error: text('error'),
    dedupKey: text('dedup_key').notNull(),
    entryKey: text('entry_key'),
    isTest: flag('is_test').notNull().default(false),
    /** The run's lineage: its depth in a chain of journeys, and the run that began the chain (library/lineage.ts). */
    depth: integer('depth').notNull().default(0),
    /** How many runs the run has started, with all that those have started. Kept by a trigger (migration `chained_runs`). */
    chainedRuns: integer('chained_runs').notNull().default(0),
    /** Why a live run stands still although it could go on: its workflow has `max_active_runs` of them, or is paused. */
    hold: text('hold').$type<'max_active' | 'paused'>(),
    /** While the run lives, it is the only one of its workflow with this entry key. */
    isSole: flag('is_sole').notNull().default(false),
    /** Whether the workflow's `exit_on` may end the run while it lives. Events find the run by contact or entry key. */
    isExitable: flag('is_exitable').notNull().default(false),
    /** The run that waits for this one. */
    parentRunId: integer('parent_run_id'),
    /** The latest call that the run placed. */
    voiceCallRunId: integer('voice_call_run_id'),
    source: text('source').$type<'run' | 'event' | 'delivery'>().notNull(),
    sourceId: integer('source_id'),
    /** JSON text or a pointer into R2; null: `source` stores the context. */
    initialContext: text('initial_context'),
    /** The values that the steps added to the initial context. */
    contextChanges: text('context_changes'),
    /** `toTrail`: the nodes that the run has reached, for statistics. Null: it has not begun. */
    trail: text('trail'),
    /** A short history of an ended run (`packHistory`); null: the history is with the run's object or in R2. */
    history: text('history'),
    revision: integer('revision').notNull().default(0),
    wakeAt: moment('wake_at'),
    startedAt: moment('started_at'),
    completedAt: moment('completed_at'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('automation_run_dedup').on(table.organizationId, table.dedupKey),
    // A trigger, a workflow and an organization list their runs along this one index: see `newestRows`.
    index('automation_run_workflow').on(table.workflowId, table.triggerId, table.isTest),
    // Nearly all runs are completed, and the lists above find those. People filter for the others.
    index('automation_run_workflow_state')
      .on(table.workflowId, table.state)
      .where(sql`state <> 'completed'`),
    index('automation_run_contact')
      .on(table.contactId)
      .where(sql`contact_id IS NOT NULL`),
    index('automation_run_wake')
      .on(table.wakeAt)
      .where(sql`wake_at IS NOT NULL`),
    index('automation_run_hold')
      .on(table.workflowId, table.hold)
      .where(sql`hold IS NOT NULL`),
    uniqueIndex('automation_run_sole')
      .on(table.workflowId, table.entryKey)
      .where(sql`is_sole = 1`),
    index('automation_run_exit_key')
      .on(table.workflowId, table.entryKey)
      .where(sql`is_exitable = 1`),
    index('automation_run_exit_contact')
      .on(table.workflowId, table.contactId)
      .where(sql`is_exitable = 1`),
  ],
);

/** Runs that are moved to another version of their workflow, a page at a time, in the order of their ids. One open move a workflow. */
export const runMove = sqliteTable(
  'run_move',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    workflowId: integer('workflow_id').notNull(),
    /** The version that the runs continue with. */
    version: integer('version').notNull(),
    /** The newest run when the move was asked for; later ones stay on their version. */
    upToId: integer('up_to_id').notNull(),
    /** The last run that was looked at. */
    cursor: integer('cursor').notNull().default(0),
    moved: integer('moved').notNull().default(0),
    /** How many runs stay on their version. */
    kept: integer('kept').notNull().default(0),
    /** `{ reason: { count, run_ids } }` of those, with the first runs of each reason. */
    reasons: json<Record<string, { count: number; run_ids: number[] }>>('reasons').notNull().default({}),
    /** When the next page is due. Long after this moment, its message is lost. Null: the move has finished. */
    dueAt: moment('due_at'),
    createdAt: moment('created_at').notNull(),
    finishedAt: moment('finished_at'),
  },
  (table) => [
    index('run_move_workflow').on(table.workflowId),
    uniqueIndex('run_move_open')
      .on(table.workflowId)
      .where(sql`finished_at IS NULL`),
    index('run_move_due')
      .on(table.dueAt)
      .where(sql`due_at IS NOT NULL`),
  ],
);

/**
 * A run that sleeps until an event of a type arrives, with a value at a path (`field`; empty: the event's contact). `waitId` distinguishes
 * the visits of one run. The run's object writes and deletes the row; the consumer of events reads it.
 */
export const runWaiter = sqliteTable(
  'run_waiter',
  {
    organizationId: integer('organization_id').notNull(),
    eventType: text('event_type').notNull(),
    field: text('field').notNull(),
    value: text('value').notNull(),
    runId: integer('run_id').notNull(),
    waitId: integer('wait_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.eventType, table.field, table.value, table.runId, table.waitId] })],
);

/** A run that an event has woken or ended. The run's object writes the row together with the run's own row, so that none is missing. */
export const affectedRun = sqliteTable(
  'affected_run',
  {
    organizationId: integer('organization_id').notNull(),
    eventId: integer('event_id').notNull(),
    effect: text('effect').$type<'woken' | 'exited'>().notNull(),
    runId: integer('run_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.eventId, table.effect, table.runId] })],
);

/** The workflows whose `exit_on` names an event type. Written with the workflow's settings. */
export const exitTopic = sqliteTable(
  'exit_topic',
  {
    organizationId: integer('organization_id').notNull(),
    eventType: text('event_type').notNull(),
    workflowId: integer('workflow_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.eventType, table.workflowId] })],
);

/** The last entry of a key into a workflow that limits re-entry. The row outlives the run's row, since a limit of "never" has no end. */
export const workflowEntry = sqliteTable(
  'workflow_entry',
  {
    workflowId: integer('workflow_id').notNull(),
    entryKey: text('entry_key').notNull(),
    enteredAt: moment('entered_at').notNull(),
    runId: integer('run_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.workflowId, table.entryKey] })],
);
