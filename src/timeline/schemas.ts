import { z } from '@hono/zod-openapi';
import { timestamp } from '../http/router.ts';
import { timelineKinds } from './store.ts';

const id = (what: string) => z.int().nullable().describe(`Id of the ${what}; null: none.`);

const NextContact = z
  .object({
    state: z
      .enum(['allowed', 'waits', 'never'])
      .describe('`allowed` now, `waits` until `at`, or `never` as long as the rules, the consent and the suppression stay.'),
    rule: z
      .string()
      .nullable()
      .describe('The name of the rule that does not allow it, such as `calls_per_day` or `min_hours_between_calls`; null: it is allowed.'),
    why: z.string().nullable().describe('The rule in words; null: it is allowed.'),
    at: timestamp.nullable().describe('When all rules allow it, if the person is not contacted before; null: now, or never.'),
  })
  .describe('Whether and when the person may be contacted next.')
  .openapi('NextContact');

const TimelineEntry = z
  .object({
    kind: z
      .enum(timelineKinds)
      .describe(
        'What it is: an inbound `event`, a `run` of a journey, a `decision` of the contact policy, a `call`, a `message`, a `consent` or a `suppression`.',
      ),
    id: z.int().describe('Id of the event, run, call and so on; unique among entries of its kind.'),
    at: timestamp.describe('When it began, ISO 8601 in UTC.'),
    state: z
      .string()
      .describe(
        'How it stands. Of a decision: `reserved` (allowed, and counts), `released` (it reached nobody), `held` (it waits) or `skipped`. Of the others: the state, outcome or status as in their own lists.',
      ),
    why: z.string().nullable().describe('Why it stands so, in words: the reason, the error, the rule, what the person said.'),
    rule: z.string().nullable().describe('Of a decision: the name of the rule that did not allow the contact.'),
    next_at: timestamp.nullable().describe('When it goes on: a held contact, a waiting run, the end of a suppression.'),
    channel: z.enum(['call', 'message']).nullable().describe('By which way the person is contacted; null: both, or neither.'),
    event_type: z.string().nullable().describe('Of an event: what it reports, such as `order.placed`; null for all other kinds.'),
    campaign_id: id('campaign that caused it'),
    journey_id: id('journey that caused it'),
    journey_run_id: id("journey's run that caused it"),
    agent_id: id('voice agent that called'),
    call_run_id: id('run of the call'),
  })
  .describe('One thing that happened to the person.')
  .openapi('TimelineEntry');

export const TimelineBody = z
  .object({
    timeline: z.array(TimelineEntry).describe('What happened, newest first.'),
    limit: z.int().describe('The page size that was asked for, or the default.'),
    next_cursor: z.string().nullable().describe('Send it as `cursor` to get the next page; null on the last one.'),
    next: z.object({ call: NextContact, message: NextContact }).describe('When the person may be contacted next.'),
  })
  .describe('All that happened to a person, and what comes next.')
  .openapi('Timeline');
