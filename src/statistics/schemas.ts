import { z } from '@hono/zod-openapi';
import { rowOutcomes } from '../calls/attempt/outcomes.ts';
import { dateOrInstant } from '../http/date-range.ts';
import { orNull, queryId, timestamp } from '../http/router.ts';
import { isTimeZone } from '../library/time/time-zones.ts';
import { callGroupings, type CallGrouping } from './call-statistics.ts';
import { timeUnits } from './periods.ts';

const rangeQuery = {
  from: dateOrInstant.optional().openapi({
    description:
      'What began at or after this: a date of `timezone`, or an ISO 8601 time, which is taken back to its quarter of an hour. 30 days before `to` when left out.',
    example: '2026-11-01',
  }),
  to: dateOrInstant.optional().openapi({
    description: 'What began before this ISO 8601 time, or up to the end of this date of `timezone`. Now when left out.',
    example: '2026-11-30',
  }),
  timezone: z
    .string()
    .refine(isTimeZone, 'Not an IANA time zone, such as "Europe/London"')
    .optional()
    .describe('IANA time zone whose days, weeks and months are meant; that of the organization when left out.'),
};

const units = z.enum(timeUnits);
const interval = units
  .optional()
  .describe('Also counts each `hour`, `day`, `week` (from Monday) or `month` of the range. Hours are kept for 35 days.');

const separatedGroupings = z
  .string()
  .max(300)
  .transform((text) => [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== ''))
  .pipe(z.array(z.enum(callGroupings)))
  .refine((names) => names.filter(isTime).length <= 1, 'Has several units of time; name one of hour, day, week and month');
const isTime = (name: CallGrouping): boolean => (timeUnits as readonly string[]).includes(name);

export const CallStatisticsQuery = z.object({
  ...rangeQuery,
  group_by: separatedGroupings.default([]).openapi({
    type: 'string',
    description: `What to group by, separated by commas, in any number: ${callGroupings.map((name) => `\`${name}\``).join(', ')}; one unit of time at most.`,
    example: 'day,disposition',
  }),
  workflow_id: queryId.optional().describe('Only calls of this voice agent.'),
  campaign_id: queryId.optional().describe('Only calls of this campaign.'),
  automation_workflow_id: queryId.optional().describe('Only calls that runs of this journey made.'),
  own_number: z.string().max(100).optional().describe('Only calls from or to this number of the organization, in any usual spelling.'),
  direction: z.enum(['inbound', 'outbound']).optional().describe('Only calls that a person made, or that an agent made.'),
  outcome: z.enum(rowOutcomes).optional().describe('Only calls with this outcome.'),
  disposition: z.string().max(100).optional().describe('Only calls with this disposition, letter by letter.'),
});

const rangeFields = {
  from: timestamp.describe(
    'Where the counted range begins, ISO 8601 in UTC: what was asked for, widened to quarters of an hour or to days.',
  ),
  to: timestamp.describe('Where the counted range ends, ISO 8601 in UTC; this moment is no part of it.'),
  timezone: z.string().describe('IANA time zone of the days, weeks and months.'),
};

const periodFields = {
  period: z.string().describe('Local date on which it begins, `YYYY-MM-DD`; of an hour `YYYY-MM-DDTHH:00`.'),
  start: timestamp.describe('The same moment, ISO 8601 in UTC; the first one begins where the range does.'),
};

const wholeNumber = z.int().min(0);
const counts = (what: string) => z.record(z.string(), z.int()).describe(what);

const callTotals = {
  calls: wholeNumber.describe('Telephone calls that have ended.'),
  answered: wholeNumber.describe('Calls that a person answered: their outcome is `completed`.'),
  answer_rate: z.number().nullable().describe('Answered calls divided by all, 0 to 1; null without calls.'),
  talk_seconds: wholeNumber.describe('Seconds in which persons and agents talked, in sum.'),
  average_talk_seconds: z.number().nullable().describe('Seconds of talk for each answered call; null when none was answered.'),
  transfers: wholeNumber.describe(
    'How often agents were to hand the caller to a human, outside of business hours included; a fallback after a try is no transfer of its own.',
  ),
  transfers_taken: wholeNumber.describe('How many of these transfers a human took.'),
  transfer_seconds: wholeNumber.describe('Seconds from the pick-up of humans to the end of their lines, in sum.'),
  cost_usd: z.number().describe('What the language models of the calls cost in US dollars, as far as their prices are known.'),
  calls_without_price: wholeNumber.describe('Calls of which the cost is unknown, which `cost_usd` leaves out.'),
  outcomes: counts('How many calls ended with each outcome.'),
  dispositions: counts('How many calls have each disposition; calls without one are in none.'),
};

const CallTotalsSchema = z.object(callTotals).describe('What came of a number of calls together.').openapi('CallTotals');

const groupFields = {
  period: periodFields.period.optional(),
  start: periodFields.start.optional(),
  workflow_id: z.int().nullable().optional().describe('Voice agent of the calls in this group.'),
  campaign_id: z.int().nullable().optional().describe('Campaign that called; null: none.'),
  automation_workflow_id: z.int().nullable().optional().describe('Journey whose runs called; null: none.'),
  own_number: z.string().nullable().optional().describe('Number of the organization, E.164; null: the calls have none.'),
  direction: z.string().nullable().optional().describe('Who called: `inbound` the person, `outbound` the agent.'),
  outcome: z.string().nullable().optional().describe('How the lines of these calls ended.'),
  disposition: z.string().nullable().optional().describe('Result of the talks, in a code of the agent; null: the calls have none.'),
};

export const CallStatistics = z
  .object({
    ...rangeFields,
    totals: CallTotalsSchema,
    groups: z
      .array(
        z
          .object({ ...groupFields, ...callTotals })
          .describe('Calls that have the same in all that was grouped by.')
          .openapi('CallGroup'),
      )
      .describe(
        'Groups with calls, by period and within it the largest first; empty without `group_by`. A group has the fields of `group_by`.',
      ),
  })
  .describe('Counts of the telephone calls that were asked for in a range and have ended.')
  .openapi('CallStatistics');

const ShareSchema = z
  .object({
    rate: z.number().describe('The share, 0 to 1.'),
    low: z.number().describe('Lower end of its 95 % confidence interval, by Wilson.'),
    high: z.number().describe('Upper end of its 95 % confidence interval, by Wilson.'),
  })
  .describe('A share with the interval in which the true one lies, with a confidence of 95 %.')
  .openapi('Share');
const share = (of: string) => orNull(ShareSchema).describe(`${of}, from 0 to 1, with its confidence interval; null when there are none.`);

export const JourneyStatisticsQuery = z.object({
  ...rangeQuery,
  version: queryId.optional().describe('Only runs of this version of the journey.'),
  interval: z.enum(['day', 'week', 'month']).default('day').openapi({ description: 'The periods of `over_time`; weeks begin on Monday.' }),
});

const EndCountsSchema = z
  .object({
    completed: wholeNumber.describe('Runs that reached an end of the journey.'),
    failed: wholeNumber.describe('Runs that a step, a limit or a deadline failed.'),
    cancelled: wholeNumber.describe('Runs that were stopped, by a person or a rule.'),
  })
  .describe('Runs by how they ended.')
  .openapi('RunEndCounts');

const reachedNode = {
  node_id: z.string().describe('Id of the node in the definition.'),
  reached: wholeNumber.describe('Runs that have been there, each once however often it came.'),
};

const funnelFields = {
  runs: wholeNumber.describe('Runs that have begun: they have reached a node.'),
  live: wholeNumber.describe('Runs that have not ended, queued ones among them.'),
  ended: EndCountsSchema,
  without_nodes: wholeNumber.describe('Ended runs of which no node is known: they were refused or ended before their first step.'),
  outcomes: counts('How many completed runs have each outcome of an `exit` node.'),
  nodes: z
    .array(
      z
        .object({
          ...reachedNode,
          reached_share: share('Their share in the runs that have begun'),
          waiting: wholeNumber.describe('Live runs that stand there now.'),
          ended: EndCountsSchema,
        })
        .describe('A node as runs passed it.')
        .openapi('FunnelNode'),
    )
    .describe('The nodes that runs have reached, the most frequent first.'),
  variants: z
    .array(
      z
        .object({
          node_id: z.string().describe('Id of the `split` node.'),
          variant: z.string().describe('Key of the variant that the runs took; in a loop the latest.'),
          runs: wholeNumber.describe('Runs that took it.'),
          ended: EndCountsSchema,
          outcomes: z
            .array(
              z.object({
                outcome: z.string().describe('Outcome of an `exit` node.'),
                runs: wholeNumber.describe('Completed runs of the variant with this outcome.'),
                share: share('Their share in the ended runs of the variant'),
              }),
            )
            .describe('Outcomes of the runs of this variant, the most frequent first.'),
          nodes: z
            .array(z.object({ ...reachedNode, share: share('Their share in the runs of the variant') }))
            .describe('Nodes that runs of this variant have reached, before or after the split.'),
        })
        .describe('The runs that took one variant of a split.')
        .openapi('SplitVariant'),
    )
    .describe('The variants of the `split` nodes, to compare with each other.'),
};

export const JourneyStatistics = z
  .object({
    automation_workflow_id: z.int().describe('Id of the journey.'),
    name: z.string().describe('What the journey is called.'),
    ...rangeFields,
    live_capped: z
      .boolean()
      .describe('True when the journey has more than 10,000 live runs, of which no more are looked at for `live` and `waiting`.'),
    ...funnelFields,
    versions: z
      .array(
        z
          .object({ version: z.int().describe('Number of the version.'), ...funnelFields })
          .describe('The funnel of one version.')
          .openapi('VersionFunnel'),
      )
      .describe('The same for each version with runs, the newest first.'),
    over_time: z
      .array(
        z.object({
          ...periodFields,
          completed: wholeNumber.describe('Runs that began in it and are completed.'),
          failed: wholeNumber.describe('Runs that began in it and have failed.'),
          cancelled: wholeNumber.describe('Runs that began in it and were cancelled.'),
        }),
      )
      .describe('Ended runs by the period in which they began, in order, those without runs included.'),
  })
  .describe('How far the runs of a journey came that began in a range. Test runs are in no count.')
  .openapi('JourneyStatistics');

export const KnowledgeStatisticsQuery = z.object({
  ...rangeQuery,
  workflow_id: queryId.optional().describe('Only talks of this voice agent.'),
  interval,
  limit: z
    .string()
    .regex(/^\d{1,9}$/, 'Must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1, 'Must be 1 or more').max(500, 'Must be 500 or less'))
    .default(50)
    .openapi({ type: 'integer', minimum: 1, maximum: 500, default: 50, description: 'How many different questions to list at most.' }),
});

const questionCounts = {
  questions: wholeNumber.describe('How often agents looked for something in the documents.'),
  unanswered: wholeNumber.describe('How often they found no passage.'),
};

export const KnowledgeStatistics = z
  .object({
    ...rangeFields,
    ...questionCounts,
    unanswered_share: share('The share of questions that found no passage'),
    unanswered_capped: z
      .boolean()
      .describe('True when the range has more than 10,000 unanswered questions; the list is made of the newest of them.'),
    over_time: z
      .array(z.object({ ...periodFields, ...questionCounts }))
      .describe('The counts of each period, in order; empty without `interval`.'),
    unanswered_questions: z
      .array(
        z
          .object({
            question: z.string().describe('The question as the agent looked for it the last time.'),
            times: z.int().describe('How often it was looked for; upper and lower case of A to Z make no difference.'),
            last_asked_at: timestamp.describe('When the latest call or chat with it began, ISO 8601 in UTC.'),
            workflow_id: z.int().describe('Voice agent of that call or chat.'),
            run_id: z.int().describe('Id of that call or chat, whose transcript shows what the person wanted.'),
          })
          .describe('A question to which the documents have no passage.')
          .openapi('UnansweredQuestion'),
      )
      .describe('Questions without an answer, the most frequent first. They leave with their call, or with the contact.'),
  })
  .describe('What agents have looked for in the documents during calls and chats, and what is missing there.')
  .openapi('KnowledgeStatistics');

export const UsageQuery = z.object({ ...rangeQuery, interval });

const usageFields = {
  calls: wholeNumber.describe('Telephone calls that have ended, answered or not.'),
  chats: wholeNumber.describe('Text chats that have ended.'),
  call_minutes: z.number().describe('Minutes of the lines from the answer to the end, whoever answered.'),
  prompt_tokens: wholeNumber.describe('Tokens that language models have read: in calls, in chats and in `llm` nodes of journeys.'),
  completion_tokens: wholeNumber.describe('Tokens that language models have written there.'),
  cost_usd: z.number().describe('What the language models of calls and chats cost in US dollars, as far as their prices are known.'),
  calls_without_price: wholeNumber.describe('Calls and chats of which the cost is unknown, which `cost_usd` leaves out.'),
  journey_runs: wholeNumber.describe('Runs of journeys that have ended, without test runs.'),
  messages: wholeNumber.describe('Messages that a provider has accepted and not failed to deliver.'),
  messages_by_provider: counts('The same for each provider.'),
  documents: wholeNumber.describe('Documents that were uploaded in it and have been read; deleted ones stay counted.'),
  document_bytes: wholeNumber.describe('The size of these files together.'),
};

export const UsageStatistics = z
  .object({
    ...rangeFields,
    totals: z.object(usageFields).describe('The whole range.').openapi('Usage'),
    over_time: z.array(z.object({ ...periodFields, ...usageFields })).describe('Each period, in order; empty without `interval`.'),
  })
  .describe('What the organization used in a range, by the moment at which each thing began.')
  .openapi('UsageStatistics');
