import { z } from '@hono/zod-openapi';
import { cleanLine } from '../library/text/clean-text.ts';
import { bodyId, createdAt, orNull, queryId, timestamp, warnings } from '../http/router.ts';
import { listSchema, pageQuery } from '../http/pagination.ts';
import { TestConfig } from './config/config.ts';
import { sessionStatuses } from './contract.ts';
import { loadTestStatuses } from './load-tests/statistics.ts';

const name = z
  .string('Must be text')
  .transform(cleanLine)
  .refine((text) => text.length >= 1 && text.length <= 200, 'Must have 1 to 200 characters')
  .describe('Name for people.');

const pairing = {
  name,
  actor_workflow_id: bodyId.describe('The voice agent that is tested.'),
  adversary_workflow_id: bodyId.describe('The voice agent that plays the person; may be the same one.'),
  config: TestConfig.prefault({}).describe(
    'How the talk goes and what is checked; `{}`, when left out, takes every default and checks nothing.',
  ),
};

export const NewSessionBody = z.object(pairing).openapi('NewTestSession');
export type NewSessionInput = z.output<typeof NewSessionBody>;

const integerField = (min: number, max: number) => {
  const message = `Must be a whole number from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
};

export const NewLoadTestBody = z
  .object({
    ...pairing,
    test_count: integerField(1, 1000).describe('How many sessions there are in all, 1 to 1000.'),
    concurrency: integerField(1, 100).default(10).describe('How many of them talk at a time, 1 to 100.'),
    ramp_seconds: integerField(0, 3600)
      .default(0)
      .describe('Seconds in which it goes from one session at a time to `concurrency`, in even steps; 0: at once.'),
  })
  .openapi('NewLoadTest');
export type NewLoadTestInput = z.output<typeof NewLoadTestBody>;

const count = z.int();
const sessionStatus = z
  .enum(sessionStatuses)
  .describe(
    '`pending`: not started; `running`: the two agents talk; `completed`: see `results`; `failed`: no result, see `error`; `stopped`: by a person.',
  );
const stopReason = z
  .enum(['actor_ended', 'adversary_ended', 'max_turns', 'max_duration', 'silence', 'stopped', 'error'])
  .describe('Why the conversation ended.');
const outcome = z.enum(['passed', 'failed', 'error']).describe('`passed` or `failed` by the required checks; `error`: unknown.');
const percentileSchema = (share: string) => z.number().nullable().describe(`${share}; null: nothing was measured.`);

const SideResult = z
  .object({
    disposition: z.string().nullable().describe('The disposition code of the conversation on this side; null: none.'),
    nodes_visited: z.array(z.string()).describe('Ids of the nodes that the agent passed through, in order.'),
    extracted_variables: z.record(z.string(), z.unknown()).describe('The extracted variables, by name.'),
  })
  .describe('The result of one side of the conversation.')
  .openapi('TestSideResult');

export const TestResults = z
  .object({
    outcome,
    stop_reason: stopReason,
    turns: count.describe('How many utterances there were.'),
    max_turns: count.describe('How many utterances were allowed.'),
    duration_seconds: z.number().describe('Length of the conversation in seconds.'),
    latency_ms: z
      .object({
        p50: percentileSchema('Half were faster'),
        p95: percentileSchema('95 of 100 were faster'),
        max: percentileSchema('The slowest'),
      })
      .describe('Milliseconds that the actor took for its utterances.'),
    tokens: z
      .object({ prompt: count.describe('Tokens read.'), completion: count.describe('Tokens written.') })
      .describe('What the language model used for both.'),
    checks: z
      .array(
        z.object({
          name: z.string().describe('Name of the check.'),
          passed: z.boolean().nullable().describe('Whether the check holds; null: unknown, which neither passes nor fails.'),
          required: z.boolean().describe('Whether the outcome depends on it.'),
          detail: z.string().describe('What was found, in a sentence.'),
        }),
      )
      .describe('Each check of the config, in its order.'),
    actor: SideResult,
    adversary: SideResult,
  })
  .describe('The results of a test.')
  .openapi('TestResults');

const testFields = {
  actor_workflow_id: count.describe('The voice agent that is tested.'),
  adversary_workflow_id: count.describe('The voice agent that plays the person.'),
  config: z.record(z.string(), z.unknown()).describe('The settings of the conversation and its checks, with the defaults.'),
};

export const TestSessionRecord = z
  .object({
    id: count.describe('Id of the session.'),
    name: z.string().describe('Name for people.'),
    status: sessionStatus,
    ...testFields,
    load_test_group_id: count.nullable().describe('The load test to which it belongs; null: none.'),
    test_index: count.nullable().describe('Its place in its load test, or among the required tests of an agent, from 0; else null.'),
    results: orNull(TestResults).describe('The results; null until the session has ended.'),
    error: z.string().nullable().describe('Why the session failed; null when it did not.'),
    created_at: createdAt,
    started_at: timestamp.nullable().describe('When the conversation started, ISO 8601 in UTC; null before.'),
    completed_at: timestamp.nullable().describe('When it ended, ISO 8601 in UTC; null before.'),
    warnings,
  })
  .describe('One conversation of two agents.')
  .openapi('TestSession');

const search = z.string().trim().max(200).optional().describe('Part of the name.');

export const SessionQuery = z.object({
  ...pageQuery,
  status: sessionStatus.optional().describe('Only sessions with this status.'),
  load_test_group_id: queryId.optional().describe('Only sessions of this load test.'),
  search,
});
export const SessionList = listSchema('test_sessions', TestSessionRecord);

const loadTestId = count.describe('Id by which paths name the load test.');
const loadTestStatus = z.enum(loadTestStatuses).describe('Where the load test stands.');

export const StartedSession = z
  .object({
    message: z.string().describe('`Test session started`.'),
    test_session_id: count.describe('Id of the session, by which paths name it.'),
  })
  .describe('The session has started.')
  .openapi('StartedTestSession');

const recordingUrl = z.url().nullable().describe('Address of the recording; null: they talk in text.');

export const ConversationRecord = z
  .object({
    test_session_id: count.describe('The session in which it was said.'),
    transcript: z
      .array(
        z.object({
          speaker: z.enum(['actor', 'adversary']).describe('Who said it.'),
          text: z.string().describe('What was said.'),
          at: timestamp.describe('When, ISO 8601 in UTC.'),
        }),
      )
      .describe('What was said so far, in order.'),
    recording_urls: z
      .object({ actor: recordingUrl, adversary: recordingUrl, combined: recordingUrl })
      .describe('Recordings of each side and of both.'),
    duration_seconds: z.number().describe('Seconds that they talked; until now while they talk.'),
    started_at: timestamp.describe('When they began, ISO 8601 in UTC.'),
    ended_at: timestamp.nullable().describe('When they ended, ISO 8601 in UTC; null while they talk.'),
  })
  .describe('What the two said.')
  .openapi('TestConversation');
export const ConversationAnswer = z
  .object({ conversation: orNull(ConversationRecord).describe('What was said; null: nothing yet.') })
  .describe('What was said in a test.')
  .openapi('TestConversationAnswer');

export const ActiveTests = z
  .object({
    count: count.describe('How many sessions are running.'),
    sessions: z.array(TestSessionRecord).describe('The newest 500 of them.'),
  })
  .describe('The sessions that are running.')
  .openapi('ActiveTests');

export const StartedLoadTest = z
  .object({
    load_test_group_id: loadTestId,
    test_session_ids: z.array(count).describe('Ids of its sessions, in the order of their `test_index`.'),
    total: count.describe('How many sessions it has.'),
    status: loadTestStatus,
    warnings,
  })
  .describe('The load test has begun.')
  .openapi('StartedLoadTest');

export const LoadTestRecord = z
  .object({
    load_test_group_id: loadTestId,
    name: z.string().describe('Name for people.'),
    status: loadTestStatus,
    ...testFields,
    total: count.describe('How many sessions it has.'),
    concurrency: count.describe('How many of them talk at a time.'),
    ramp_seconds: count.describe('Seconds in which it goes from one session at a time to `concurrency`.'),
    created_at: createdAt,
    completed_at: timestamp.nullable().describe('When its last session ended, ISO 8601 in UTC; null before.'),
    warnings,
  })
  .describe('Many conversations of the same two agents.')
  .openapi('LoadTest');
export const LoadTestQuery = z.object({ ...pageQuery, search });
export const LoadTestList = listSchema('load_tests', LoadTestRecord);

const percentilesSchema = (what: string) =>
  z
    .object({
      p50: percentileSchema('Half were at or below this'),
      p95: percentileSchema('95 of 100 were at or below this'),
      p99: percentileSchema('99 of 100 were at or below this'),
    })
    .describe(what);

export const LoadTestStatisticsRecord = z
  .object({
    load_test_group_id: loadTestId,
    status: loadTestStatus,
    total: count.describe('How many sessions it has.'),
    pending: count.describe('Sessions that have not begun.'),
    running: count.describe('Sessions that talk.'),
    completed: count.describe('Sessions that have ended, whatever their checks say.'),
    failed: count.describe('Sessions without a result, because of an error.'),
    stopped: count.describe('Sessions that a person stopped.'),
    passed: count.describe('Completed sessions whose required checks hold.'),
    pass_rate: z
      .number()
      .nullable()
      .describe(
        'Share from 0 to 1: passed / (passed + failed by checks); errors and stopped sessions do not count. null: none has ended so.',
      ),
    duration_seconds: percentilesSchema('Length of the conversations in seconds.'),
    turn_latency_ms: percentilesSchema('Milliseconds that utterances took.'),
    achieved_concurrency_max: count.describe('The most sessions that talked at one time.'),
    achieved_concurrency_average: z.number().nullable().describe('How many talked at a time on average; null: none yet.'),
    errors: z
      .array(z.object({ error: z.string().describe('What went wrong.'), count: count.describe('In how many sessions.') }))
      .describe('What went wrong, the most frequent first.'),
    sessions: z
      .array(
        z.object({
          id: count.describe('Id of the session.'),
          test_session_id: count.describe('The same id.'),
          test_index: count.describe('Its place in the load test, from 0.'),
          name: z.string().describe('Name for people.'),
          status: sessionStatus,
          outcome: outcome.nullable().describe('`passed`, `failed` or `error`; null until it has ended.'),
          stop_reason: stopReason.nullable().describe('Why the conversation ended; null until it has.'),
          turns: count.nullable().describe('How many utterances there were; null until it has ended.'),
          duration_seconds: z.number().nullable().describe('Seconds that they talked; null until it has ended.'),
          error: z.string().nullable().describe('What went wrong; null: nothing.'),
        }),
      )
      .describe('Each session, in the order of `test_index`.'),
  })
  .describe('The statistics of a load test.')
  .openapi('LoadTestStatistics');
