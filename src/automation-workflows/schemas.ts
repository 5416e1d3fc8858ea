import { z } from '@hono/zod-openapi';
import { durationSchema } from '../library/durations.ts';
import { bodyId, queryId, timestamp, queryBoolean } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';

const jsonObject = z.record(z.string(), z.unknown());
const name = z.string().trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer');

/** A draft may hold any graph; it is validated on going active. */
const DraftDefinition = z
  .looseObject({ nodes: z.array(z.unknown()).default([]), edges: z.array(z.unknown()).default([]) })
  .openapi('AutomationDefinition', {
    example: {
      nodes: [
        { id: 'in', type: 'trigger', data: {} },
        { id: 'out', type: 'exit', data: { outcome: 'done' } },
      ],
      edges: [{ id: 'a', source: 'in', target: 'out' }],
    },
  });

export const workflowStatuses = ['draft', 'active', 'paused', 'archived'] as const;

const workflowFields = {
  name,
  description: z.string().max(10_000),
  definition: DraftDefinition,
  trigger: jsonObject.openapi({ description: '`{ type, name?, config }`: kept as the primary trigger' }),
  context_schema: jsonObject.openapi({ description: 'JSON Schema 2020-12 that the execution context must satisfy' }),
  settings: jsonObject,
};

export const NewWorkflowBody = z
  .object({
    name,
    description: workflowFields.description.nullish(),
    definition: DraftDefinition.nullish(),
    trigger: workflowFields.trigger.nullish(),
    context_schema: jsonObject.nullish(),
    settings: jsonObject.nullish(),
  })
  .openapi('NewAutomationWorkflow');

export const WorkflowPatchBody = z
  .object({
    name: name.optional(),
    description: workflowFields.description.nullish(),
    definition: DraftDefinition.nullish(),
    trigger: workflowFields.trigger.nullish(),
    context_schema: jsonObject.nullish(),
    settings: jsonObject.nullish(),
    status: z.enum(workflowStatuses).optional(),
  })
  .openapi('AutomationWorkflowPatch');

export const WorkflowRecord = z
  .object({
    id: z.int(),
    organization_id: z.int(),
    name: z.string(),
    description: z.string(),
    version: z.int(),
    status: z.enum(workflowStatuses),
    definition: jsonObject,
    trigger: jsonObject,
    context_schema: jsonObject,
    settings: jsonObject,
    created_at: timestamp,
    updated_at: timestamp.nullable(),
    runs_count: z.int(),
    active_runs_count: z.int(),
  })
  .openapi('AutomationWorkflow');

export const WorkflowQuery = z.object({
  ...pageQuery,
  status: z.enum(workflowStatuses).optional(),
  search: z.string().trim().max(200).optional().openapi({ description: 'Part of the name' }),
});
export const WorkflowList = listOf('automation_workflows', WorkflowRecord);

export const VersionRecord = z.object({ version: z.int(), definition: jsonObject, created_at: timestamp }).openapi('AutomationVersion');
export const VersionList = listOf('versions', VersionRecord);

const problem = z.object({ loc: z.array(z.string()), msg: z.string(), type: z.string() });
export const ValidationBody = z.object({ definition: DraftDefinition.nullish() });
export const ValidationAnswer = z.object({ valid: z.boolean(), errors: z.array(problem) }).openapi('AutomationValidation');

export const NodeTypeList = z
  .object({
    node_types: z.array(
      z.object({
        type: z.string(),
        label: z.string(),
        description: z.string(),
        data_schema: jsonObject,
        handles: z.array(z.string()),
        example: jsonObject,
      }),
    ),
  })
  .openapi('AutomationNodeTypes');

// Runs

export const runStates = ['queued', 'pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
export type RunState = (typeof runStates)[number];
export const liveStates: readonly RunState[] = ['queued', 'pending', 'running', 'waiting'];
export const isLive = (state: RunState): boolean => liveStates.includes(state);

export const RunError = z
  .object({ node_id: z.string().nullable(), message: z.string(), type: z.string(), attempt: z.int().nullable() })
  .openapi('AutomationRunError');

export const RunRecord = z
  .object({
    id: z.int(),
    organization_id: z.int(),
    automation_workflow_id: z.int(),
    workflow_version: z.int(),
    state: z.enum(runStates),
    current_node_id: z.string().nullable(),
    context: jsonObject,
    initial_context: jsonObject,
    outcome: z.string().nullable(),
    error: RunError.nullable(),
    hold: z.enum(['max_active', 'paused']).nullable().openapi({
      description: '`max_active`: waits in `queued` for its turn; `paused`: its next side effect waits until the workflow is active',
    }),
    trigger_id: z.int().nullable(),
    contact_id: z.int().nullable(),
    entry_key: z.string().nullable(),
    voice_call_run_id: z.int().nullable(),
    is_test: z.boolean(),
    started_at: timestamp,
    completed_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .openapi('AutomationRun');

export const HistoryRecord = z
  .object({
    id: z.int(),
    node_id: z.string(),
    node_type: z.string(),
    node_name: z.string().nullable(),
    visit: z.int(),
    attempt: z.int(),
    status: z.enum(['started', 'completed', 'failed', 'waiting', 'skipped', 'retrying', 'simulated']),
    input: z.unknown(),
    output: z.unknown(),
    error: z.object({ message: z.string(), type: z.string() }).nullable(),
    started_at: timestamp,
    completed_at: timestamp.nullable(),
    duration_ms: z.int().nullable(),
  })
  .openapi('AutomationHistory');
export type HistoryRecord = z.infer<typeof HistoryRecord>;

const momentText = z.iso.datetime({ offset: true, message: 'Not an ISO 8601 timestamp, such as 2026-11-20T10:15:30Z' });
const runFilters = {
  ...pageQuery,
  state: z.enum(runStates).optional(),
  trigger_id: queryId.optional(),
  contact_id: queryId.optional(),
  created_after: momentText.optional(),
  created_before: momentText.optional(),
  is_test: queryBoolean.default(false).openapi({ description: 'Test runs are listed only when asked for' }),
};
export const WorkflowRunQuery = z.object(runFilters);
export const RunQuery = z.object({ ...runFilters, automation_workflow_id: queryId.optional() });
export type RunQuery = z.output<typeof RunQuery>;
export const RunList = listOf('runs', RunRecord);
export const RetryBody = z
  .object({
    version: z
      .enum(['run', 'current'])
      .default('run')
      .openapi({ description: "`run`: the version on which the run began; `current`: the workflow's version of now" }),
  })
  .openapi('RetryRun');
export const HistoryQuery = z.object(pageQuery);
export const HistoryList = listOf('history', HistoryRecord);

export const ExecuteBody = z.object({ context: jsonObject.default({}), contact_id: bodyId.nullish() }).openapi('ExecuteAutomation');
export const TestBody = z
  .object({
    context: jsonObject.default({}),
    contact_id: bodyId.nullish(),
    dry_run: z.boolean().default(true),
    events: z
      .array(
        z.strictObject({
          event_type: z.string().min(1).max(100),
          data: jsonObject.default({}),
          after: durationSchema({ allowZero: true })
            .default('PT0S')
            .openapi({ description: "From the run's start, by the dry run's clock" }),
        }),
      )
      .max(50)
      .optional()
      .openapi({
        description: "Events of the run's contact that come during a dry run: they wake wait_for_event and end the run by exit_on",
      }),
  })
  .superRefine(({ dry_run, events }, context) => {
    if (!dry_run && events?.length)
      context.addIssue({
        code: 'custom',
        path: ['events'],
        message: 'Given events belong to a dry run; leave them out, or post them to /events',
      });
  })
  .openapi('TestAutomation');
export const TestedRun = RunRecord.extend({ history: z.array(HistoryRecord).optional() }).openapi('TestedAutomationRun');

// Triggers

export const triggerTypes = ['contact_event', 'webhook', 'schedule', 'data_condition', 'event', 'manual'] as const;
export const triggerStates = ['active', 'paused', 'archived'] as const;

export const NewTriggerBody = z
  .object({ type: z.enum(triggerTypes), name: name.nullish(), config: jsonObject.default({}) })
  .openapi('NewTrigger');
export const TriggerPatchBody = z
  .object({ name: name.optional(), config: jsonObject.optional(), state: z.enum(['active', 'paused']).optional() })
  .openapi('TriggerPatch');

export const TriggerRecord = z
  .object({
    id: z.int(),
    uuid: z.string(),
    organization_id: z.int(),
    automation_workflow_id: z.int(),
    type: z.enum(triggerTypes),
    name: z.string(),
    config: jsonObject,
    state: z.enum(triggerStates),
    webhook_url: z.string().optional(),
    next_fire_at: timestamp.nullable(),
    last_fired_at: timestamp.nullable(),
    fire_count: z.int(),
    last_error: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('Trigger');

export const TriggerQuery = z.object({
  ...pageQuery,
  status: z.enum(triggerStates).optional(),
  search: z.string().trim().max(200).optional(),
});
export const TriggerList = listOf('triggers', TriggerRecord);

export const FireBody = z
  .object({ context: jsonObject.default({}), contact_ids: z.array(bodyId).max(100, 'At most 100 contacts in one firing').optional() })
  .openapi('FireTrigger');
export const FireAnswer = z
  .object({
    triggered: z.int(),
    runs: z.array(RunRecord),
    refused: z
      .array(z.object({ contact_id: z.int().nullable(), rule: z.string(), message: z.string() }))
      .openapi({ description: 'Those that a rule of the workflow kept out' }),
  })
  .openapi('FiredTrigger');

export const TriggerMeta = z
  .object({
    trigger_types: z.array(
      z.object({
        type: z.enum(triggerTypes),
        label: z.string(),
        description: z.string(),
        config_schema: jsonObject,
        sample_context: jsonObject,
      }),
    ),
    event_types_seen: z.array(z.string()),
    internal_events: z.array(z.string()),
    internal_event_samples: z.record(z.string(), jsonObject).openapi({ description: 'The data of each event that the service reports' }),
    webhook_url_template: z.string(),
  })
  .openapi('TriggerMeta');

export const DeliveryAccepted = z
  .object({ status: z.literal('accepted'), delivery_id: z.string(), duplicate: z.boolean() })
  .openapi('DeliveryAccepted');

// Explain

export const explainRules = [
  'no_trigger',
  'status',
  'max_active_runs',
  'event',
  'filter',
  'condition',
  'change',
  'audience',
  'next_fire_at',
  'context_schema',
  'trigger_context_schema',
  'entry_key',
  'reentry',
  'one_live_run_per_key',
] as const;

const passed = z.boolean().nullable().openapi({ description: 'null: depends on what comes' });

export const ExplainCheck = z
  .object({
    rule: z.enum(explainRules),
    passed,
    message: z.string(),
    expected: z.unknown(),
    actual: z.unknown(),
    comparisons: z
      .array(z.object({ field: z.string(), operator: z.string(), expected: z.unknown(), actual: z.unknown(), result: passed }))
      .optional()
      .openapi({ description: 'What each comparison of a filter or condition saw; a missing field is null' }),
  })
  .openapi('AutomationExplanationCheck');
export type ExplainCheck = z.infer<typeof ExplainCheck>;

export const ExplainQuery = z.object({ contact_id: queryId });
export const Explanation = z
  .object({
    automation_workflow_id: z.int(),
    contact_id: z.int(),
    would_enter: z
      .boolean()
      .openapi({ description: 'Whether a trigger `would_fire` for the contact; false also where that depends on what comes' }),
    summary: z.string().openapi({ description: 'The first thing that stops the contact, or how it would enter' }),
    stopped_by: z.enum(explainRules).nullable(),
    entry_key: z
      .string()
      .nullable()
      .openapi({ description: 'Of the trigger that the summary speaks of; null also where it depends on what comes' }),
    workflow_checks: z.array(ExplainCheck),
    triggers: z.array(
      z.object({
        trigger_id: z.int(),
        type: z.enum(triggerTypes),
        name: z.string(),
        state: z.enum(triggerStates),
        would_fire: z
          .boolean()
          .nullable()
          .openapi({ description: 'Whether it starts a run of the contact at its next occasion; null: depends on what comes' }),
        when: z.string().openapi({ description: 'What fires it, in words' }),
        entry_key: z.string().nullable(),
        checks: z.array(ExplainCheck),
      }),
    ),
  })
  .openapi('AutomationExplanation');
export type Explanation = z.infer<typeof Explanation>;
