import { z } from '@hono/zod-openapi';
import { bodyId, createdAt, organizationId, timestamp, updatedAt, warnings } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { RunRecord, runContext } from '../runs/schemas.ts';

const jsonObject = z.record(z.string(), z.unknown());
const name = z.string().trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer');

const triggerTypes = ['contact_event', 'webhook', 'schedule', 'data_condition', 'event', 'manual'] as const;
const triggerStates = ['active', 'paused', 'archived'] as const;

export const triggerType = z
  .enum(triggerTypes)
  .describe(
    'What starts a run. `contact_event`: an event posted to /events; `webhook`: a request to the address of the trigger; `schedule`: the clock; ' +
      '`data_condition`: a contact that begins to match a condition; `event`: something that the service did; `manual`: the fire endpoint.',
  );
const config =
  'How the trigger works, by its type: GET trigger-meta has a JSON Schema for each. Secrets are masked; a mask sent back keeps the secret.';
export const triggerState = z
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
    last_error: z
      .string()
      .nullable()
      .describe(
        'Why it last could not start a run, or what of its last delivery could not be read; null when nothing was wrong. The next webhook delivery with which nothing is wrong clears it, and the note of the earlier delivery stays; of other types, saving the trigger clears it.',
      ),
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
    deliveries: z
      .array(
        z.object({
          delivery_id: z.string().describe('Id of the delivery of this element: what the sender calls it, else one of ours.'),
          duplicate: z.boolean().describe('Whether it was accepted before.'),
        }),
      )
      .optional()
      .describe(
        'Of a trigger with `split`: the delivery of each element, in order; `delivery_id` is the first, and `duplicate` is true if all are.',
      ),
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
