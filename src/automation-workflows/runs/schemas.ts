import { z } from '@hono/zod-openapi';
import { durationSchema } from '../../library/time/durations.ts';
import { eventType } from '../../library/event-type.ts';
import { bodyId, createdAt, orNull, organizationId, queryBoolean, queryId, timestamp } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { runStates } from '../run-states.ts';

const jsonObject = z.record(z.string(), z.unknown());

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
    why: z.string().describe('The reason, such as `waiting for the database: D1 DB is overloaded`.'),
    tries: z.int().describe('How often the run has met it.'),
    since: timestamp.describe('When the run met it first, ISO 8601 in UTC.'),
    next_try_at: timestamp.describe('When the run tries again, ISO 8601 in UTC.'),
  })
  .describe(
    'A failure of the platform, such as an overloaded database. The run waits for it to pass until its deadline, and no attempt of a node is spent.',
  )
  .openapi('AutomationRunTrouble');

export const RunRecord = z
  .object({
    id: z.int().describe('Id of the run.'),
    organization_id: organizationId,
    automation_workflow_id: z.int().describe('Id of the journey.'),
    workflow_version: z.int().describe('The version of the journey on which it runs, to its end unless it is moved to another.'),
    state: runState,
    current_node_id: z.string().nullable().describe('Id of the node at which it is, or was when it ended; null before the first.'),
    context: jsonObject.describe(
      'What templates can use now: the context it started with, what nodes have set, and `steps`, their results by node id.',
    ),
    initial_context: jsonObject.describe(
      'The context at the start: the data of the event, the body of the webhook, or the context in the request; `{ "_gone": why }` when storage has lost it.',
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
      'The failure of the platform that the run waits for to pass. Only GET of one run has it; null: there is none, or the run is part of a list.',
    ),
    trigger_id: z.int().nullable().describe('The trigger that started it; null: execute, test or another journey did.'),
    contact_id: z.int().nullable().describe('The contact of the run; null: none.'),
    entry_key: z.string().nullable().describe('Entries with the same key are of the same person or thing; null: none.'),
    voice_call_run_id: z.int().nullable().describe('The call (voice agent run) that it made last; null: none.'),
    is_test: z.boolean().describe('Whether it was started by the test endpoint. Test runs are left out of lists and counts.'),
    started_at: timestamp.describe('When it began, ISO 8601 in UTC; its creation until then.'),
    completed_at: timestamp.nullable().describe('When it ended, ISO 8601 in UTC; null while it lives.'),
    created_at: createdAt,
  })
  .describe('One execution of a journey.')
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
      .enum(['started', 'completed', 'failed', 'waiting', 'skipped', 'retrying', 'simulated', 'moved'])
      .describe(
        'The result of the try. `simulated`: in a dry run, with the request that would have been sent. `moved`: no try; at this node the run moved to another version.',
      ),
    input: z.unknown().describe('What the node worked with, its templates filled in. Over 8 KiB it is cut, and says so.'),
    output: z.unknown().describe('The output of the node, as in `steps` of the context. Over 8 KiB it is cut, and says so.'),
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

export const runContext = jsonObject
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
    query: z
      .record(z.string(), z.union([z.string(), z.array(z.string())]))
      .default({})
      .describe('Parameters of the address; a name that occurs several times has a list.'),
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
    delivery_id: z.string().nullable().describe('By which a repeat is recognized. Null: repeats cannot be recognized.'),
    elements: z.int().optional().describe('Of a trigger with `split`: how many runs the request would start. The first is tried here.'),
    contact: z
      .object({
        id: z.int().nullable().describe('Of the contact that was found.'),
        would_be: z.enum(['created', 'found', 'none']).describe('What the receiver would do about the contact.'),
        mapped: jsonObject.describe('What the mapping found for the contact.'),
      })
      .describe('Of whom the delivery speaks.'),
    variables: jsonObject.describe('What the other keys of the mapping found.'),
    would_start: z.boolean().describe('Whether the delivery would start a run. The dry run is executed in any case.'),
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
