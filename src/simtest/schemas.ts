import { z } from '@hono/zod-openapi';
import { cleanLine } from '../contacts/clean-text.ts';
import { bodyId, queryId, timestamp, warnings } from '../http/area.ts';
import { listOf, pageQuery } from '../http/pagination.ts';
import { TestConfig } from './config.ts';
import { sessionStatuses } from './contract.ts';
import { loadTestStatuses } from './load-test-statistics.ts';

const name = z
  .string('Must be text')
  .transform(cleanLine)
  .refine((text) => text.length >= 1 && text.length <= 200, 'Must have 1 to 200 characters');

const pairing = {
  name,
  actor_workflow_id: bodyId.openapi({ description: 'The voice agent that is tested' }),
  adversary_workflow_id: bodyId.openapi({ description: 'The voice agent that plays the person; may be the same one' }),
  config: TestConfig.prefault({}),
};

export const NewSessionBody = z.object(pairing).openapi('NewTestSession', {
  example: {
    name: 'Refuses politely',
    actor_workflow_id: 7,
    adversary_workflow_id: 8,
    config: { max_turns: 12, checks: [{ name: 'says goodbye', type: 'contains', value: 'goodbye' }] },
  },
});
export type NewSessionInput = z.output<typeof NewSessionBody>;

const wholeNumber = (least: number, most: number) => {
  const message = `Must be a whole number from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
};

export const NewLoadTestBody = z
  .object({
    ...pairing,
    test_count: wholeNumber(1, 1000).openapi({ description: 'Sessions in all' }),
    concurrency: wholeNumber(1, 100).default(10).openapi({ description: 'Sessions at a time' }),
    ramp_seconds: wholeNumber(0, 3600).default(0).openapi({ description: 'From one session at a time to all, in even steps' }),
  })
  .openapi('NewLoadTest', {
    example: { name: 'Black Friday', actor_workflow_id: 7, adversary_workflow_id: 8, test_count: 200, concurrency: 20, config: {} },
  });
export type NewLoadTestInput = z.output<typeof NewLoadTestBody>;

const count = z.int();
const stopReason = z.enum(['actor_ended', 'adversary_ended', 'max_turns', 'max_duration', 'silence', 'stopped', 'error']);
const outcome = z.enum(['passed', 'failed', 'error']);

const SideResult = z
  .object({
    disposition: z.string().nullable(),
    nodes_visited: z.array(z.string()),
    extracted_variables: z.record(z.string(), z.unknown()),
  })
  .openapi('TestSideResult');

export const TestResults = z
  .object({
    outcome: outcome.openapi({ description: 'By the required checks; `error`: nobody can say' }),
    stop_reason: stopReason,
    turns: count,
    max_turns: count,
    duration_seconds: z.number(),
    latency_ms: z.object({ p50: z.number().nullable(), p95: z.number().nullable(), max: z.number().nullable() }),
    tokens: z.object({ prompt: count, completion: count }),
    checks: z.array(
      z.object({
        name: z.string(),
        passed: z.boolean().nullable().openapi({ description: 'null: it cannot be told, which neither passes nor fails' }),
        required: z.boolean(),
        detail: z.string(),
      }),
    ),
    actor: SideResult,
    adversary: SideResult,
  })
  .openapi('TestResults');

export const TestSessionRecord = z
  .object({
    id: count,
    name: z.string(),
    status: z.enum(sessionStatuses),
    actor_workflow_id: count,
    adversary_workflow_id: count,
    load_test_group_id: count.nullable(),
    test_index: count.nullable().openapi({ description: 'Its place in its load test, or among the required tests of an agent, from 0' }),
    config: z.record(z.string(), z.unknown()),
    warnings,
    results: TestResults.nullable(),
    error: z.string().nullable(),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    completed_at: timestamp.nullable(),
  })
  .openapi('TestSession');

const search = z.string().trim().max(200).optional().openapi({ description: 'Part of the name' });

export const SessionQuery = z.object({
  ...pageQuery,
  status: z.enum(sessionStatuses).optional(),
  load_test_group_id: queryId.optional(),
  search,
});
export const SessionList = listOf('test_sessions', TestSessionRecord);

export const StartedSession = z.object({ message: z.string(), test_session_id: count }).openapi('StartedTestSession');

export const ConversationRecord = z
  .object({
    test_session_id: count,
    transcript: z.array(z.object({ speaker: z.enum(['actor', 'adversary']), text: z.string(), at: timestamp })),
    recording_urls: z
      .object({ actor: z.url().nullable(), adversary: z.url().nullable(), combined: z.url().nullable() })
      .openapi({ description: 'null: they talk in text' }),
    duration_seconds: z.number().openapi({ description: 'Until now while they talk' }),
    started_at: timestamp,
    ended_at: timestamp.nullable(),
  })
  .openapi('TestConversation');
export const ConversationAnswer = z
  .object({ conversation: ConversationRecord.nullable().openapi({ description: 'null: nothing was said yet' }) })
  .openapi('TestConversationAnswer');

export const ActiveTests = z
  .object({ count, sessions: z.array(TestSessionRecord).openapi({ description: 'The newest 500' }) })
  .openapi('ActiveTests');

export const StartedLoadTest = z
  .object({
    load_test_group_id: count,
    test_session_ids: z.array(count).openapi({ description: 'In the order of their test_index' }),
    total: count,
    status: z.enum(loadTestStatuses),
    warnings,
  })
  .openapi('StartedLoadTest');

export const LoadTestRecord = z
  .object({
    load_test_group_id: count,
    name: z.string(),
    status: z.enum(loadTestStatuses),
    actor_workflow_id: count,
    adversary_workflow_id: count,
    total: count,
    concurrency: count,
    ramp_seconds: count,
    config: z.record(z.string(), z.unknown()),
    warnings,
    created_at: timestamp,
    completed_at: timestamp.nullable(),
  })
  .openapi('LoadTest');
export const LoadTestQuery = z.object({ ...pageQuery, search });
export const LoadTestList = listOf('load_tests', LoadTestRecord);

const percentiles = z.object({ p50: z.number().nullable(), p95: z.number().nullable(), p99: z.number().nullable() });

export const LoadTestStatisticsRecord = z
  .object({
    load_test_group_id: count,
    status: z.enum(loadTestStatuses),
    total: count,
    pending: count,
    running: count,
    completed: count,
    failed: count,
    stopped: count,
    passed: count.openapi({ description: 'Of those completed' }),
    pass_rate: z
      .number()
      .nullable()
      .openapi({ description: 'passed / (passed + failed by checks); errors and stopped sessions do not count' }),
    duration_seconds: percentiles,
    turn_latency_ms: percentiles,
    achieved_concurrency_max: count,
    achieved_concurrency_average: z.number().nullable(),
    errors: z.array(z.object({ error: z.string(), count })),
    sessions: z.array(
      z.object({
        id: count,
        test_session_id: count,
        test_index: count,
        name: z.string(),
        status: z.enum(sessionStatuses),
        outcome: outcome.nullable(),
        stop_reason: stopReason.nullable(),
        turns: count.nullable(),
        duration_seconds: z.number().nullable(),
        error: z.string().nullable(),
      }),
    ),
  })
  .openapi('LoadTestStatistics');
