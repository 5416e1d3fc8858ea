import { z } from '@hono/zod-openapi';
import { Problem, createdAt, organizationId, timestamp, warnings } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';

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

const workflowStatuses = ['draft', 'active', 'paused', 'archived'] as const;

const status = z
  .enum(workflowStatuses)
  .describe('`draft`: being built; `active`: its triggers start runs; `paused`: no new runs, and running ones hold; `archived`: put away.');

const workflowFields = {
  name: name.describe('Name of the journey, for people.'),
  description: z.string().max(10_000).describe('What the journey is for.'),
  trigger: jsonObject.describe('What starts the journey, as `{ type, name?, config }`; stored as its first trigger. `{}`: no trigger yet.'),
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
  .describe('What to change; absent fields stay, null resets a field to its default.')
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
    description: z.string().describe('What the journey is for; may be empty.'),
    version,
    status,
    definition: jsonObject.describe('The graph: `{ nodes, edges }`. Secrets in it are masked; a mask sent back keeps the secret.'),
    warnings,
    created_at: createdAt,
    updated_at: timestamp.nullable().describe('When it was last changed, ISO 8601 in UTC; null: never.'),
    runs_count: z.int().describe('How many runs it has had, without test runs.'),
    active_runs_count: z.int().describe('How many of them are queued, pending, running or waiting.'),
  })
  .describe('A journey: a graph of steps that a run performs for each person or event that enters.')
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
    errors: z.array(Problem).describe('All issues; `loc` names the node or edge by its id. Empty when it is valid.'),
    warnings,
  })
  .describe('The issues of a graph.')
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
  .describe('The node types of journeys.')
  .openapi('AutomationNodeTypes');
