import { z } from '@hono/zod-openapi';
import { EventRecord } from '../../../events/schemas.ts';
import { orNull, timestamp } from '../../../http/router.ts';
import { runStates } from '../../run-states.ts';

export const Failure = z
  .object({
    tries: z.int().describe('How often the queue has given it up so far.'),
    first_failed_at: timestamp.describe('When it failed first, ISO 8601 in UTC.'),
    next_try_at: timestamp.describe('When it is tried again, ISO 8601 in UTC.'),
    reason: z.string().nullable().describe('Why the latest known try failed; null: the service log alone says it.'),
  })
  .describe('The tries of a record that could not be handled so far.')
  .openapi('HandlingFailure');

export const OutcomeRun = z
  .object({
    run_id: z.int().describe('The run of a journey that was started, woken or ended.'),
    automation_workflow_id: z.int().describe('Id of its journey.'),
    trigger_id: z.int().nullable().describe('The trigger that started the run; null: no trigger did.'),
    state: z.enum(runStates).describe('How the run stands now.'),
    outcome: z.string().nullable().describe('The word with which it ended; null: it lives, or ended without one.'),
    hold: z.enum(['max_active', 'paused']).nullable().describe('Why it may not go on at present; null: nothing holds it.'),
  })
  .describe('A run that an event or delivery has started, woken or ended.')
  .openapi('AffectedRun');

const NotStarted = z
  .object({
    trigger_id: z.int().nullable().describe('The trigger; null: it is not known any more.'),
    automation_workflow_id: z.int().nullable().describe('Its journey; null: the trigger is gone.'),
    trigger_name: z.string().nullable().describe('Name of the trigger, for people; null: the trigger is gone.'),
    rule: z.string().openapi({
      example: 'reentry',
      description:
        '`filter`: its filter does not match; `error`: filter or entry key could not be evaluated; `inactive`: trigger or journey is not active now; else the rule of admission or limit of the plan that refused the run, such as `reentry`, `max_active_runs` or `max_live_runs`.',
    }),
    message: z.string().describe('The reason in words.'),
  })
  .describe('A trigger that listens to the type of the event and started no run.')
  .openapi('NotStartedTrigger');

export const EventOutcome = EventRecord.extend({
  state: z
    .enum(['open', 'handled', 'given_up'])
    .describe('`open`: accepted, and not handled yet; `handled`: journeys have had it; `given_up`: handling it failed for a day.'),
  handled_at: timestamp.nullable().describe('When it was handled or given up, ISO 8601 in UTC; null: it is open.'),
  failure: orNull(Failure).describe('Of an open event that could not be handled so far: its tries; else null.'),
  started: z.array(OutcomeRun).describe('The runs that it started, one for each trigger; up to 200. Runs that were deleted are missing.'),
  not_started: z
    .array(NotStarted)
    .describe('The triggers that listen to its type and started no run, with the reason as it was when the event was handled.'),
  woken: z.array(OutcomeRun).describe('Waiting runs that took the event and went on; the first 50.'),
  woken_total: z.int().describe('How many waiting runs took the event, counted up to 10,000.'),
  exited: z.array(OutcomeRun).describe('Runs that it ended by a rule of `exit_on`; the first 50.'),
  exited_total: z.int().describe('How many runs it ended, counted up to 10,000.'),
})
  .describe('An event with all that it set off, and what it did not and why.')
  .openapi('EventOutcome');
