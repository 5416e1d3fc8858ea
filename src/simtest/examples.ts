import type { ExamplesByOperation } from '../http/operation-examples.ts';

const pairing = { actor_workflow_id: 1, adversary_workflow_id: 2 };

/** Requests that work in the order of the document. The verification of the agent was test session 1. */
export const simtestExamples: ExamplesByOperation = {
  'testSessions.create': [
    {
      name: 'willing',
      summary: 'A customer who says yes',
      body: {
        name: 'A willing customer',
        ...pairing,
        config: {
          first_speaker: 'actor',
          max_turns: 12,
          actor_context: { first_name: 'Ada' },
          adversary_context: { day: 'Thursday' },
          checks: [
            { name: 'goes on to the booking', type: 'reached_node', node: 'Booking' },
            { name: 'promises nothing', type: 'not_contains', value: 'guarantee' },
            { name: 'is brief', type: 'max_turns', value: 8, required: false },
          ],
        },
      },
    },
    {
      name: 'slow',
      summary: 'Twenty seconds before each utterance',
      body: { name: 'A slow talk', ...pairing, config: { turn_delay_ms: 20_000 } },
    },
  ],
  'testSessions.list': {},
  'testSessions.start': [
    { name: 'willing', path: { test_session_id: 2 } },
    { name: 'slow', path: { test_session_id: 3 } },
  ],
  'testSessions.listActive': {},
  'testSessions.get': { path: { test_session_id: 2 } },
  'testSessions.getConversation': { path: { test_session_id: 2 } },
  'testSessions.stop': { path: { test_session_id: 3 } },
  'loadTests.create': [
    {
      name: 'rush',
      summary: 'Four talks, two at a time',
      body: { name: 'Spring rush', ...pairing, test_count: 4, concurrency: 2, config: { first_speaker: 'actor', max_turns: 8 } },
    },
    {
      name: 'slow',
      summary: 'Twenty seconds before each utterance',
      body: { name: 'Slow rush', ...pairing, test_count: 2, concurrency: 1, ramp_seconds: 0, config: { turn_delay_ms: 20_000 } },
    },
  ],
  'loadTests.list': {},
  'loadTests.getStatistics': { path: { load_test_group_id: 1 } },
  'loadTests.stop': { path: { load_test_group_id: 2 } },
};
