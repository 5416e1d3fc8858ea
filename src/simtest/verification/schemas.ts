import { z } from '@hono/zod-openapi';
import { TestResults, TestSessionRecord } from '../schemas.ts';

export const AgentVerification = z
  .object({
    workflow_id: z.int().describe('Id of the agent.'),
    definition_id: z.int().describe('Id of the definition that was tested.'),
    passed: z
      .boolean()
      .nullable()
      .describe(
        'Whether all required tests passed. null: none has failed, but not all have ended; their sessions go on, and GET tells their ends.',
      ),
    tests: z
      .array(
        z.object({
          index: z.int().describe('Its place in `required_tests`, from 0.'),
          test_session_id: z.int().nullable().describe('The test session; null: it could not be run, and `error` tells why.'),
          adversary_workflow_id: z.int().describe('The agent that played the person.'),
          status: TestSessionRecord.shape.status,
          outcome: TestResults.shape.outcome.nullable().describe('`passed`, `failed` or `error`; null while it goes on.'),
          error: z.string().nullable().describe('Why it could not be run or decided; null when it could.'),
          checks: TestResults.shape.checks,
        }),
      )
      .describe('Each test of `required_tests`, in their order.'),
  })
  .describe('How the required tests of an agent went.')
  .openapi('VoiceAgentVerification');
