import { describe, expect, test } from 'vitest';
import { agentTest, describeChecks, describeEnd, readAgentTest, type TestSession } from '../../scripts/tour/agent-test.ts';
import { readAgent } from '../../scripts/tour/agents.ts';
import { testAgent } from '../../scripts/tour/steps/test-agent.ts';
import { findConfigIssues } from '../../src/simtest/config/config-issues.ts';
import { TestConfig } from '../../src/simtest/config/config.ts';
import { parseAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import { tourAt } from './tour-at.ts';

const results = (change: object = {}): NonNullable<TestSession['results']> => ({
  outcome: 'passed',
  stop_reason: 'actor_ended',
  turns: 5,
  latency_ms: { p50: 412 },
  checks: [
    { name: 'notes the day', passed: true, required: true, detail: 'visit_day was "Thursday"' },
    { name: 'is brief', passed: null, required: false, detail: 'it is not known' },
  ],
  ...change,
});

test('the example fits the two agents that it is tried with', () => {
  const definition = (name: string) => parseAgentDefinition(readAgent(name).workflow_definition);
  const agents = { actor: definition(agentTest.actor), adversary: definition(agentTest.adversary) };
  expect(findConfigIssues(TestConfig.parse(readAgentTest()), agents, ['config'])).toEqual([]);
});

test('checks and the end read as lines', () => {
  expect(describeChecks(results())).toEqual([
    'passed     notes the day  visit_day was "Thursday"',
    'undecided  is brief       it is not known',
  ]);
  expect(describeEnd(results())).toBe('passed: actor_ended after 5 turns, half of them within 412 ms');
});

describe('the step', () => {
  const running = { id: 9, status: 'running', error: null, results: null };
  const known = (id: number, name: string) => ({ id, name, current_definition_id: 1 });
  const service = (...sessions: object[]) => ({
    'GET /workflow': [{ workflows: [known(1, 'Tour: Spring offer')] }, { workflows: [known(2, 'Tour: Willing customer')] }],
    'PUT /workflow/1': [known(1, 'Tour: Spring offer')],
    'PUT /workflow/2': [known(2, 'Tour: Willing customer')],
    'POST /simtest/test-sessions': [{ id: 9, status: 'pending' }],
    'POST /simtest/test-sessions/9/start': [{ message: 'Test session started' }],
    'GET /simtest/test-sessions/9': sessions,
    'GET /simtest/test-sessions/9/conversation': [{ conversation: { transcript: [{ speaker: 'adversary', text: 'Yes.' }] } }],
  });

  test('waits for the end, and shows what was said, each check and the outcome', async () => {
    const { tour, said, asked } = tourAt(service(running, { ...running, status: 'completed', results: results() }));
    await testAgent.run(tour);
    const [, created] = asked.find(([operation]) => operation === 'POST /simtest/test-sessions')!;
    expect(created).toMatchObject({ actor_workflow_id: 1, adversary_workflow_id: 2, config: readAgentTest() });
    expect(said).toEqual(expect.arrayContaining(['  Adversary: Yes.', ...describeChecks(results()), `Outcome ${describeEnd(results())}`]));
  });

  test('fails where the session did', async () => {
    const error = 'The language model of the actor failed: no credit';
    const { tour } = tourAt(service({ ...running, status: 'failed', error, results: results({ outcome: 'error' }) }));
    await expect(testAgent.run(tour)).rejects.toThrow(`the session did not pass: ${error}`);
  });
});
