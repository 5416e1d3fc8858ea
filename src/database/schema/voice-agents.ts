import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { flag, json, moment } from './columns.ts';

export const voiceAgent = sqliteTable(
  'voice_agent',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    name: text('name').notNull(),
    status: text('status').$type<'active' | 'archived'>().notNull(),
    currentDefinitionId: integer('current_definition_id').notNull(),
    templateContextVariables: json<Record<string, unknown>>('template_context_variables').notNull(),
    callDispositionCodes: json<Record<string, unknown>>('call_disposition_codes').notNull(),
    workflowConfigurations: json<Record<string, unknown>>('workflow_configurations').notNull(),
    /** Kept by a trigger on voice_agent_run (migration `voice_agents_and_campaigns`). */
    totalRuns: integer('total_runs').notNull().default(0),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [index('voice_agent_organization').on(table.organizationId, table.status)],
);

/** A version of an agent: all that a call uses of it. It never changes: a change is a new row, and runs stay on the row that they began with. */
export const voiceAgentDefinition = sqliteTable(
  'voice_agent_definition',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    agentId: integer('agent_id').notNull(),
    /** Secrets in it are sealed. */
    definition: json<Record<string, unknown>>('definition').notNull(),
    /** The settings of the agent in this version. Null: those of the agent, which has not been changed since an earlier version of the service. */
    templateContextVariables: json<Record<string, unknown>>('template_context_variables'),
    callDispositionCodes: json<Record<string, unknown>>('call_disposition_codes'),
    /** Without `required_tests`. */
    workflowConfigurations: json<Record<string, unknown>>('workflow_configurations'),
    /** The version whose definition this one takes up again; null: it was written anew. */
    restoredFrom: integer('restored_from'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    index('voice_agent_definition_agent').on(table.agentId),
    // Empty for an agent from its first change on.
    index('voice_agent_definition_without_settings')
      .on(table.agentId)
      .where(sql`workflow_configurations IS NULL`),
  ],
);

/**
 * One call or text chat. For a call, the attempt in the organization's call slots is the truth until the line has ended, and the call's own
 * object until its post-call work is done; the row then shows both. The last write sets `is_completed`.
 */
export const voiceAgentRun = sqliteTable(
  'voice_agent_run',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    agentId: integer('agent_id').notNull(),
    definitionId: integer('definition_id').notNull(),
    name: text('name').notNull(),
    mode: text('mode').notNull(),
    callType: text('call_type').$type<'inbound' | 'outbound'>().notNull(),
    /** The unique key of the request that created the run; for a call, the attempt's key. */
    attemptKey: text('attempt_key').notNull(),
    /** The other side's number. */
    phone: text('phone'),
    /** Our number. */
    ownNumber: text('own_number'),
    contactId: integer('contact_id'),
    campaignId: integer('campaign_id'),
    automationRunId: integer('automation_run_id'),
    /** The journey of that run, which outlives it. */
    automationWorkflowId: integer('automation_workflow_id'),
    /** The outcome of the line; null until the call has ended. */
    outcome: text('outcome').$type<'completed' | 'busy' | 'no_answer' | 'voicemail' | 'failed' | 'cancelled'>(),
    /** "word: sentence", when the outcome alone does not tell the next step. */
    reason: text('reason'),
    disposition: text('disposition'),
    /** Seconds from the answer to the end of a call on which a person and the agent talked; null: they did not, or it is a chat. */
    talkSeconds: integer('talk_seconds'),
    isCompleted: flag('is_completed').notNull().default(false),
    /** JSON text, or a pointer into R2. */
    initialContext: text('initial_context').notNull(),
    /** `{ gathered_context, cost_info, annotations }`, written when the run is completed. The logs are in R2. */
    result: json<Record<string, unknown>>('result'),
    hasTranscript: flag('has_transcript').notNull().default(false),
    /** Content type of the recording in R2; null: there is none (yet). */
    recordingType: text('recording_type'),
    revision: integer('revision').notNull().default(0),
    /** Only for text chats, whose objects nothing else watches. */
    wakeAt: moment('wake_at'),
    createdAt: moment('created_at').notNull(),
    /** Answered, or begun. */
    startedAt: moment('started_at'),
    completedAt: moment('completed_at'),
  },
  (table) => [
    uniqueIndex('voice_agent_run_attempt').on(table.organizationId, table.attemptKey),
    index('voice_agent_run_agent').on(table.agentId),
    // The lists of calls, from the newest or within days. Chats are in none of them, and pay for none.
    index('voice_agent_run_created')
      .on(table.organizationId, table.createdAt)
      .where(sql`mode <> 'textchat'`),
    index('voice_agent_run_phone')
      .on(table.organizationId, table.phone)
      .where(sql`phone IS NOT NULL`),
    index('voice_agent_run_campaign')
      .on(table.campaignId, table.createdAt)
      .where(sql`campaign_id IS NOT NULL`),
    index('voice_agent_run_journey')
      .on(table.automationWorkflowId, table.createdAt)
      .where(sql`automation_workflow_id IS NOT NULL`),
    // Only calls with a talk: written once, when they are completed.
    index('voice_agent_run_talk')
      .on(table.organizationId, table.talkSeconds)
      .where(sql`talk_seconds > 0`),
    // Unfinished runs: few among millions.
    index('voice_agent_run_open')
      .on(table.agentId)
      .where(sql`is_completed = 0`),
    index('voice_agent_run_contact')
      .on(table.contactId)
      .where(sql`contact_id IS NOT NULL`),
    index('voice_agent_run_wake')
      .on(table.wakeAt)
      .where(sql`wake_at IS NOT NULL`),
  ],
);

/** A carrier account with the numbers that it calls from. */
export const telephonyConfig = sqliteTable(
  'telephony_config',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    name: text('name').notNull(),
    provider: text('provider').notNull(),
    /** The provider's block; secrets in it are sealed. */
    credentials: json<Record<string, string>>('credentials').notNull(),
    /** E.164. */
    fromNumbers: json<string[]>('from_numbers').notNull(),
    inboundAgentId: integer('inbound_agent_id'),
    isDefault: flag('is_default').notNull(),
    callsPerSecond: integer('calls_per_second').notNull(),
    machineDetection: flag('machine_detection').notNull(),
    /** The origin under which callers reached the API when this was written. Carriers call back there when PUBLIC_URL is empty. */
    callbackOrigin: text('callback_origin').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [
    index('telephony_config_organization').on(table.organizationId),
    uniqueIndex('telephony_config_default')
      .on(table.organizationId)
      .where(sql`is_default = 1`),
  ],
);

/** A phone number that must not be called, forever or until a moment. */
export const suppression = sqliteTable(
  'suppression',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    phone: text('phone').notNull(),
    reason: text('reason').notNull(),
    source: text('source', { enum: ['manual', 'import', 'call'] })
      .notNull()
      .default('manual'),
    /** What the person said, word for word, when they asked. */
    evidence: text('evidence'),
    callRunId: integer('call_run_id'),
    /** The user who added, imported or confirmed it; null: nobody but the call. */
    createdBy: integer('created_by'),
    until: moment('until'),
    createdAt: moment('created_at').notNull(),
    /** A person has allowed calls again; `until` is then the same moment. */
    restoredAt: moment('restored_at'),
    restoredBy: integer('restored_by'),
    restoreReason: text('restore_reason'),
  },
  (table) => [
    uniqueIndex('suppression_phone').on(table.organizationId, table.phone),
    index('suppression_organization').on(table.organizationId),
    index('suppression_end')
      .on(table.until)
      .where(sql`until IS NOT NULL`),
  ],
);

/** A call after which a person has to decide whether its number must not be called. */
export const suppressionProposal = sqliteTable(
  'suppression_proposal',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    phone: text('phone').notNull(),
    contactId: integer('contact_id'),
    callRunId: integer('call_run_id').notNull(),
    reason: text('reason').notNull(),
    state: text('state', { enum: ['open', 'confirmed', 'dismissed'] })
      .notNull()
      .default('open'),
    createdAt: moment('created_at').notNull(),
    decidedAt: moment('decided_at'),
    decidedBy: integer('decided_by'),
  },
  (table) => [
    uniqueIndex('suppression_proposal_call').on(table.organizationId, table.callRunId),
    index('suppression_proposal_state').on(table.organizationId, table.state),
    index('suppression_proposal_phone')
      .on(table.organizationId, table.phone)
      .where(sql`state = 'open'`),
    index('suppression_proposal_age').on(table.createdAt),
  ],
);

/** One row for each organization with calls under way, so that the minute tick finds call slots whose alarm is lost. */
export const callSlots = sqliteTable(
  'call_slots',
  {
    organizationId: integer('organization_id').primaryKey(),
    /** Null: nothing is queued or live. */
    wakeAt: moment('wake_at'),
  },
  (table) => [
    index('call_slots_wake')
      .on(table.wakeAt)
      .where(sql`wake_at IS NOT NULL`),
  ],
);
