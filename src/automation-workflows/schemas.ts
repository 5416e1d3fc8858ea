import { z } from '@hono/zod-openapi';
import { durationSchema } from '../library/time/durations.ts';
import { eventType } from '../library/event-type.ts';
import {
  Problem,
  bodyId,
  createdAt,
  orNull,
  organizationId,
  queryBoolean,
  queryId,
  timestamp,
  updatedAt,
  warnings,
} from '../http/router.ts';
import { listSchema, pageQuery } from '../http/pagination.ts';

const jsonObject = z.record(z.string(), z.unknown());
const name = z.string().trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer');

/** A draft may hold any graph; it is validated on going active. */
const DraftDefinition = z
  .looseObject({
    nodes: z
      .array(z.unknown())
      .default([])
      .describe('`{ id, type, name?, data, position? }`. GET /automation-workflows/node-types has each type with an example.'),
    edges: z
      .array(z.unknown())
      .default([])
      .describe('`{ id, source, target, source_handle? }`: from which node, by which of its handles, to which node.'),
  })
  .describe(
    'The graph of a journey, which begins at its one `trigger` node. A draft may hold any; it is checked when the journey goes active.',
  )
  .openapi('AutomationDefinition');

export const workflowStatuses = ['draft', 'active', 'paused', 'archived'] as const;

const status = z
  .enum(workflowStatuses)
  .describe('`draft`: being built; `active`: its triggers start runs; `paused`: no new runs, and running ones hold; `archived`: put away.');

const workflowFields = {
  name: name.describe('Name of the journey, for people.'),
  description: z.string().max(10_000).describe('What the journey is for.'),
  trigger: jsonObject.describe('What starts the journey, as `{ type, name?, config }`; kept as its first trigger. `{}`: nothing yet.'),
  context_schema: jsonObject.describe('JSON Schema 2020-12 that the context of each run must satisfy; `{}` asks for nothing.'),
  settings: jsonObject.describe(
    'How runs go. `reentry` `{ mode: always | never | after, after: ISO 8601 duration }`; `entry_key`; `one_live_run_per_key`; `max_active_runs`; `timeout` ' +
      '(ISO 8601 duration, `P30D`); `exit_on` `[{ event_type, entry_key?, filter? }]`; `quiet_hours` `{ timezone, slots: [{ day_of_week, start_time, end_time }], ' +
      'policy: defer | skip }`, in which nothing is sent, `day_of_week` 0 = Monday to 6 = Sunday, times `HH:MM`; `on_error` `fail` or `continue`; `retry` ' +
      '`{ max_attempts, initial_delay_seconds, factor, max_delay_seconds }`, in seconds.',
  ),
};
const changeableFields = {
  description: workflowFields.description.nullish(),
  definition: DraftDefinition.nullish(),
  trigger: workflowFields.trigger.nullish(),
  context_schema: workflowFields.context_schema.nullish(),
  settings: workflowFields.settings.nullish(),
};

export const NewWorkflowBody = z.object({ name: workflowFields.name, ...changeableFields }).openapi('NewAutomationWorkflow');

export const WorkflowPatchBody = z
  .object({ name: workflowFields.name.optional(), ...changeableFields, status: status.optional() })
  .describe('What to change; absent fields stay, null gives a field its value of the beginning.')
  .openapi('AutomationWorkflowPatch');

const version = z
  .int()
  .describe('Number of the definition: 1 at creation, one more with each change. A run ends on the one it began with.');

export const WorkflowRecord = z
  .object({
    id: z.int().describe('Id of the journey.'),
    organization_id: organizationId,
    ...workflowFields,
    name: z.string().describe('Name of the journey, for people.'),
    description: z.string().describe('What the journey is for; empty when nobody has said it.'),
    version,
    status,
    definition: jsonObject.describe('The graph: `{ nodes, edges }`. Secrets in it are masked; a mask sent back keeps the secret.'),
    warnings,
    created_at: createdAt,
    updated_at: timestamp.nullable().describe('When it was last changed, ISO 8601 in UTC; null: never.'),
    runs_count: z.int().describe('How many runs it has had, without test runs.'),
    active_runs_count: z.int().describe('How many of them are queued, pending, running or waiting.'),
  })
  .describe('A journey: what is done, step by step, for each person or event that enters.')
  .openapi('AutomationWorkflow');

export const WorkflowQuery = z.object({
  ...pageQuery,
  status: z.enum(workflowStatuses).optional().describe('Only journeys with this status. Without it all but archived ones.'),
  search: z.string().trim().max(200).optional().describe('Part of the name.'),
});
export const WorkflowList = listSchema('automation_workflows', WorkflowRecord);

export const VersionRecord = z
  .object({ version, definition: jsonObject.describe('The graph of this version; secrets in it are masked.'), created_at: createdAt })
  .describe('A definition that the journey has or had.')
  .openapi('AutomationVersion');
export const VersionList = listSchema('versions', VersionRecord);

export const ValidationBody = z.object({
  definition: DraftDefinition.nullish().describe('The graph to check; without it or with null, the one that is stored.'),
});
export const ValidationAnswer = z
  .object({
    valid: z.boolean().describe('Whether the journey could go active with it.'),
    errors: z.array(Problem).describe('All that is wrong; `loc` names the node or edge by its id. Empty when it is valid.'),
    warnings,
  })
  .describe('What is wrong with a graph.')
  .openapi('AutomationValidation');

export const NodeTypeList = z
  .object({
    node_types: z
      .array(
        z.object({
          type: z.string().describe('`type` of a node.'),
          label: z.string().describe('Name to show to people.'),
          description: z.string().describe('What a node of this type does.'),
          data_schema: jsonObject.describe('JSON Schema of its `data`.'),
          handles: z
            .array(z.string())
            .describe('The ways out of it, for `source_handle` of edges. Some types take further ones from their data.'),
          example: jsonObject.describe('An example of its `data`.'),
        }),
      )
      .describe('Every type that a node can have.'),
  })
  .describe('What journeys are built of.')
  .openapi('AutomationNodeTypes');

// Runs

export const runStates = ['queued', 'pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
export type RunState = (typeof runStates)[number];
export const liveStates: readonly RunState[] = ['queued', 'pending', 'running', 'waiting'];
export const isLive = (state: RunState): boolean => liveStates.includes(state);

export const RunError = z
  .object({
    node_id: z.string().nullable().describe('The node at which it failed; null: before the first.'),
    message: z.string().describe('What went wrong, in words.'),
    type: z.string().describe('The kind of failure, for programs, such as `context_invalid`.'),
    attempt: z.int().nullable().describe('At which try of the node, from 1; null where no node was tried.'),
  })
  .describe('Why a run failed.')
  .openapi('AutomationRunError');

const runState = z
  .enum(runStates)
  .describe(
    '`queued`: accepted; `pending`: about to start; `running`: at a node; `waiting`: for a time, an event, a call or its turn; `completed`, `failed` or `cancelled`: ended.',
  );

export const RunInterruption = z
  .object({
    why: z.string().describe('What it waits for, such as `waiting for the database: D1 DB is overloaded`.'),
    tries: z.int().describe('How often it was met since then.'),
    since: timestamp.describe('When it was met first, ISO 8601 in UTC.'),
    next_try_at: timestamp.describe('When the run tries again, ISO 8601 in UTC.'),
  })
  .describe('Trouble of what the service runs on. The run waits it out until its deadline, and no attempt of a node is spent on it.')
  .openapi('AutomationRunTrouble');

export const RunRecord = z
  .object({
    id: z.int().describe('Id of the run.'),
    organization_id: organizationId,
    automation_workflow_id: z.int().describe('Id of the journey.'),
    workflow_version: z.int().describe('The version of the journey on which it runs, to its end.'),
    state: runState,
    current_node_id: z.string().nullable().describe('Id of the node at which it is, or was when it ended; null before the first.'),
    context: jsonObject.describe(
      'What templates can use now: the context it started with, what nodes have set, and `steps`, their results by node id.',
    ),
    initial_context: jsonObject.describe(
      'What it started with: the data of the event, the body of the webhook, or the context that was sent; `{ "_gone": why }` when that was lost from storage.',
    ),
    outcome: z
      .string()
      .nullable()
      .describe('How it ended, in the word of its `exit` node, or `exited` by a rule of `exit_on`; null when no word was given.'),
    error: orNull(RunError).describe('Why it failed; null when it did not.'),
    hold: z
      .enum(['max_active', 'paused'])
      .nullable()
      .describe(
        '`max_active`: waits in `queued` for its turn; `paused`: its next side effect waits until the journey is active; else null.',
      ),
    trouble: orNull(RunInterruption).describe(
      'What the run waits out at the moment, told by GET of one run; null: nothing, or it is one of a list.',
    ),
    trigger_id: z.int().nullable().describe('The trigger that started it; null: execute, test or another journey did.'),
    contact_id: z.int().nullable().describe('The contact that it is about; null: none.'),
    entry_key: z.string().nullable().describe('The key by which entries of the same person or thing are told to be the same; null: none.'),
    voice_call_run_id: z.int().nullable().describe('The call (voice agent run) that it made last; null: none.'),
    is_test: z.boolean().describe('Whether it was started by the test endpoint. Test runs are left out of lists and counts.'),
    started_at: timestamp.describe('When it began, ISO 8601 in UTC; its creation until then.'),
    completed_at: timestamp.nullable().describe('When it ended, ISO 8601 in UTC; null while it lives.'),
    created_at: createdAt,
  })
  .describe('One walk through a journey.')
  .openapi('AutomationRun');

export const HistoryRecord = z
  .object({
    id: z.int().describe('Place of the record in the history, from 1.'),
    node_id: z.string().describe('Which node of the definition it was.'),
    node_type: z.string().describe('What the node does, such as `wait`; GET node-types has them all.'),
    node_name: z.string().nullable().describe('Name of the node; null when it has none.'),
    visit: z.int().describe('Which visit of the run to this node it is, from 1; loops come to a node more than once.'),
    attempt: z.int().describe('Which try of this visit it is, from 1.'),
    status: z
      .enum(['started', 'completed', 'failed', 'waiting', 'skipped', 'retrying', 'simulated'])
      .describe('What became of the try. `simulated`: in a dry run, with what would have been sent.'),
    input: z.unknown().describe('What the node worked with, its templates filled in. Over 8 KiB it is cut, and says so.'),
    output: z.unknown().describe('What came of it, as in `steps` of the context. Over 8 KiB it is cut, and says so.'),
    error: z
      .object({
        message: z.string().describe('What went wrong, in words.'),
        type: z.string().describe('The kind of failure, for programs.'),
      })
      .nullable()
      .describe('Why the try failed; null when it did not.'),
    started_at: timestamp.describe('When the try began, ISO 8601 in UTC; in a dry run by its virtual clock.'),
    completed_at: timestamp.nullable().describe('When it ended, ISO 8601 in UTC; null while it goes on.'),
    duration_ms: z.int().nullable().describe('Milliseconds from begin to end; null while it goes on.'),
  })
  .describe('One try of one node.')
  .openapi('AutomationHistory');
export type HistoryRecord = z.infer<typeof HistoryRecord>;

const timestampText = z.iso.datetime({ offset: true, message: 'Not an ISO 8601 timestamp, such as 2026-11-20T10:15:30Z' });
const runFilters = {
  ...pageQuery,
  state: runState.optional().describe('Only runs in this state.'),
  trigger_id: queryId.optional().describe('Only runs that this trigger started.'),
  contact_id: queryId.optional().describe('Only runs about this contact.'),
  created_after: timestampText.optional().describe('Only runs created at or after this time, ISO 8601.'),
  created_before: timestampText.optional().describe('Only runs created at or before this time, ISO 8601.'),
  is_test: queryBoolean.default(false).describe('True: test runs alone; false: all others.'),
};
export const WorkflowRunQuery = z.object(runFilters);
export const RunQuery = z.object({ ...runFilters, automation_workflow_id: queryId.optional().describe('Only runs of this journey.') });
export type RunQuery = z.output<typeof RunQuery>;
export const RunList = listSchema('runs', RunRecord);
export const RetryBody = z
  .object({
    version: z
      .enum(['run', 'current'])
      .default('run')
      .openapi({ description: '`run`: go on with the version on which the run began; `current`: with that of the journey now.' }),
  })
  .openapi('RetryRun');
export const HistoryQuery = z.object(pageQuery);
export const HistoryList = listSchema('history', HistoryRecord, 'oldest first');

const runContext = jsonObject
  .default({})
  .describe('Variables that the run starts with. They must satisfy the `context_schema` of the journey.');
const runContact = bodyId.nullish().describe('The contact that the run is about; templates read it as `contact`. Null or absent: none.');

export const ExecuteBody = z.object({ context: runContext, contact_id: runContact }).openapi('ExecuteAutomation');
const maxWebhookLength = 1024 * 1024;
const WebhookInput = z
  .strictObject({
    headers: z.record(z.string().min(1).max(200), z.string().max(10_000)).default({}).describe('As the sender sends them.'),
    body: z
      .union([z.string().max(maxWebhookLength), jsonObject, z.array(z.unknown())])
      .default('')
      .describe('The raw text, over whose bytes a signature is computed. An object or a list is sent as its JSON.'),
    query: z.record(z.string(), z.string()).default({}).describe('Parameters of the address.'),
    trigger_id: bodyId.optional().describe('The webhook trigger of the journey, when it has several.'),
    check_signature: z.boolean().default(true).describe('False leaves the signature out; the answer then says `not checked`.'),
  })
  .describe('A delivery, which a dry run takes through signature, mapping, filter and delivery id; nothing is stored.')
  .openapi('GivenWebhook');
export const TestBody = z
  .object({
    context: runContext,
    contact_id: runContact,
    dry_run: z
      .boolean()
      .default(true)
      .describe(
        'True: nothing is sent, a virtual clock jumps over waits, and the answer is the ended run. False: everything is done for real.',
      ),
    webhook: WebhookInput.optional(),
    events: z
      .array(
        z.object({
          event_type: eventType.describe('What happens.'),
          data: jsonObject.default({}).describe('What is known of it.'),
          after: durationSchema({ allowZero: true })
            .default('PT0S')
            .describe('When, counted from the start of the run by its virtual clock: an ISO 8601 duration, such as `PT30M`.'),
        }),
      )
      .max(50)
      .optional()
      .describe('Events of the contact that come during a dry run: they wake `wait_for_event` and end the run by `exit_on`. Up to 50.'),
  })
  .superRefine(({ dry_run, webhook, contact_id, context: given }, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (!webhook) return;
    if (!dry_run) refuse('webhook', "A given webhook belongs to a dry run; to start a run for real, send it to the trigger's webhook_url");
    if (contact_id) refuse('contact_id', 'The webhook says who the contact is; leave contact_id out');
    if (Object.keys(given).length > 0) refuse('context', 'The webhook brings the context; leave context out');
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
const WebhookPreview = z
  .object({
    trigger_id: z.int().describe('The trigger to which the delivery went.'),
    signature: z.enum(['ok', 'not checked']).describe('What the check of the signature gave.'),
    delivery_id: z.string().nullable().describe('By which a repeat is known. Null: repeats cannot be told.'),
    contact: z
      .object({
        id: z.int().nullable().describe('Of the contact that was found.'),
        would_be: z.enum(['created', 'found', 'none']).describe('What the receiver would do about the contact.'),
        mapped: jsonObject.describe('What the mapping found for the contact.'),
      })
      .describe('Of whom the delivery speaks.'),
    variables: jsonObject.describe('What the other keys of the mapping found.'),
    would_start: z.boolean().describe('Whether the delivery would start a run. The dry run is walked in any case.'),
    reasons: z.array(z.string()).describe('What would keep it from starting one.'),
  })
  .describe('What the receiver would make of the given webhook.')
  .openapi('TestedWebhook');
export const TestRunRecord = RunRecord.extend({
  webhook: WebhookPreview.optional(),
  history: z.array(HistoryRecord).optional().describe('Of a dry run: each try of each node, oldest first. Absent when it is for real.'),
})
  .describe('The test run; of a dry run, with all that it did.')
  .openapi('TestedAutomationRun');

// Triggers

export const triggerTypes = ['contact_event', 'webhook', 'schedule', 'data_condition', 'event', 'manual'] as const;
export const triggerStates = ['active', 'paused', 'archived'] as const;

const triggerType = z
  .enum(triggerTypes)
  .describe(
    'What starts a run. `contact_event`: an event posted to /events; `webhook`: a request to the address of the trigger; `schedule`: the clock; ' +
      '`data_condition`: a contact that begins to match a condition; `event`: something that the service did; `manual`: the fire endpoint.',
  );
const config =
  'How the trigger works, by its type: GET trigger-meta has a JSON Schema for each. Secrets are masked; a mask sent back keeps the secret.';
const triggerState = z
  .enum(triggerStates)
  .describe('`active`: starts runs while its journey is active; `paused`: starts none; `archived`: put away.');

/** Keys of a config may stand beside it, too. */
export const NewTriggerBody = z
  .looseObject({
    type: triggerType,
    name: name.nullish().describe('Name for people; absent: the name of its type.'),
    config: jsonObject.nullish().describe(`${config} Its keys may also stand beside it.`),
  })
  .openapi('NewTrigger');
export const TriggerPatchBody = z
  .looseObject({
    name: name.optional().describe('A new name for people.'),
    config: jsonObject.optional().describe(`Replaces the config as a whole. ${config} Keys of a config beside it change these keys alone.`),
    state: z.enum(['active', 'paused']).optional().describe('`paused`: it starts no runs until it is `active` again.'),
  })
  .describe('What to change; absent fields stay as they are.')
  .openapi('TriggerPatch');

export const TriggerRecord = z
  .object({
    id: z.int().describe('Id of the trigger.'),
    uuid: z.string().describe('UUID of the trigger, by which webhooks name it.'),
    organization_id: organizationId,
    automation_workflow_id: z.int().describe('Id of the journey that it starts.'),
    type: triggerType,
    name: z.string().describe('Name for people.'),
    config: jsonObject.describe(config),
    warnings,
    state: triggerState,
    webhook_url: z.string().optional().describe('Type `webhook` alone: where to send requests.'),
    next_fire_at: timestamp
      .nullable()
      .describe('Type `schedule`: when it fires next, ISO 8601 in UTC; null while it or its journey is not active, and for other types.'),
    last_fired_at: timestamp.nullable().describe('When it last started a run, ISO 8601 in UTC; null: never.'),
    fire_count: z.int().describe('How often it has started runs.'),
    last_error: z.string().nullable().describe('Why it last could not start a run; null when it could.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('What starts runs of a journey.')
  .openapi('Trigger');

export const TriggerQuery = z.object({
  ...pageQuery,
  status: triggerState.optional().describe('Only triggers in this state. Without it all but archived ones.'),
  search: z.string().trim().max(200).optional().describe('Part of the name.'),
});
export const TriggerList = listSchema('triggers', TriggerRecord);

export const FireBody = z
  .object({
    context: runContext,
    contact_ids: z
      .array(bodyId)
      .max(100, 'At most 100 contacts in one firing')
      .optional()
      .describe('Starts a run about each of these contacts, up to 100. Without it one run without a contact.'),
  })
  .openapi('FireTrigger');
export const FireAnswer = z
  .object({
    triggered: z.int().describe('How many runs were started.'),
    runs: z.array(RunRecord).describe('The runs, in the order of `contact_ids`.'),
    refused: z
      .array(
        z.object({
          contact_id: z.int().nullable().describe('The contact that got no run; null: the run without a contact.'),
          rule: z.string().describe('The rule that kept it out, such as `reentry`.'),
          message: z.string().describe('Why, in words.'),
        }),
      )
      .describe('Those whom a rule of the journey kept out.'),
  })
  .describe('The runs that were started.')
  .openapi('FiredTrigger');

export const TriggerMeta = z
  .object({
    trigger_types: z
      .array(
        z.object({
          type: triggerType,
          label: z.string().describe('Name to show to people.'),
          description: z.string().describe('What starts a run, in words.'),
          config_schema: jsonObject.describe('JSON Schema of `config`.'),
          sample_context: jsonObject.describe('An example of what templates can use in a run that it starts.'),
        }),
      )
      .describe('Every type that a trigger can have.'),
    event_types_seen: z.array(z.string()).describe('Types of events that the organization has received, for `contact_event`.'),
    internal_events: z.array(z.string()).describe('Events that the service itself reports, for triggers of type `event`.'),
    internal_event_samples: z.record(z.string(), jsonObject).describe('By name of such an event, an example of its data.'),
    webhook_url_template: z.string().describe('Address of a webhook trigger, with `{trigger_uuid}` in the place of its uuid.'),
  })
  .describe('All that a form for triggers needs.')
  .openapi('TriggerMeta');

export const DeliveryAccepted = z
  .object({
    status: z.literal('accepted').describe('Always `accepted`.'),
    delivery_id: z.string().describe('Id of the delivery: that of the sender where it gives one, else one of ours.'),
    duplicate: z.boolean().describe('True: this delivery was accepted within the last 24 hours, and nothing starts again.'),
  })
  .describe('The delivery is stored; the run starts after the answer.')
  .openapi('DeliveryAccepted');

export const DeliveryRetried = z
  .object({
    delivery_id: z.string().describe('Id of the delivery: that of the sender where it gave one, else ours.'),
    state: z
      .literal('open')
      .describe('Always `open`: it is handled within seconds. Should that fail, it is tried again as a new delivery is.'),
  })
  .describe('The delivery is sent again to its journey. What it has started before is not started twice.')
  .openapi('DeliveryRetried');

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

const passed = z.boolean().nullable().describe('Whether it would let the contact in; null: that depends on what comes.');
const expected = z.unknown().describe('What it asks for.');
const actual = z.unknown().describe('What it has found; null where nothing is there.');
const rule = z.enum(explainRules);

export const ExplainCheck = z
  .object({
    rule: rule.describe('Which rule was looked at.'),
    passed,
    message: z.string().describe('What was found, in words.'),
    expected,
    actual,
    comparisons: z
      .array(
        z.object({
          field: z.string().describe('The field that is compared.'),
          operator: z.string().describe('How it is compared, such as `eq`.'),
          expected,
          actual,
          result: passed,
        }),
      )
      .optional()
      .describe('Of a filter or condition: what each comparison in it saw. Absent with other rules.'),
  })
  .describe('One rule of a journey or trigger, held against a contact.')
  .openapi('AutomationExplanationCheck');
export type ExplainCheck = z.infer<typeof ExplainCheck>;

export const ExplainQuery = z.object({ contact_id: queryId.describe('The contact about whom is asked.') });

const entryKey = z.string().nullable().describe('The key under which the contact would enter; null where that depends on what comes.');

export const Explanation = z
  .object({
    automation_workflow_id: z.int().describe('Id of the journey.'),
    contact_id: z.int().describe('The contact that was asked about.'),
    would_enter: z.boolean().describe('Whether a trigger would start a run of the contact; false also where that depends on what comes.'),
    summary: z.string().describe('The first thing that stops the contact, or how it would enter, in a sentence.'),
    stopped_by: rule.nullable().describe('The rule that stops it; null: none does.'),
    entry_key: entryKey,
    workflow_checks: z.array(ExplainCheck).describe('What holds for the journey as a whole.'),
    triggers: z
      .array(
        z.object({
          trigger_id: z.int().describe('Which trigger of the journey it is.'),
          type: triggerType,
          name: z.string().describe('Name of the trigger.'),
          state: triggerState,
          would_fire: z
            .boolean()
            .nullable()
            .describe('Whether it starts a run of the contact at its next occasion; null: that depends on what comes.'),
          when: z.string().describe('What fires it, in words.'),
          entry_key: entryKey,
          checks: z.array(ExplainCheck).describe('What holds for this trigger.'),
        }),
      )
      .describe('Each trigger of the journey.'),
  })
  .describe('Whether a contact would enter a journey now, and what stops it.')
  .openapi('AutomationExplanation');
export type Explanation = z.infer<typeof Explanation>;
