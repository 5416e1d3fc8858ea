import offer from '../../examples/agents/spring-offer.json' with { type: 'json' };
import customer from '../../examples/agents/willing-customer.json' with { type: 'json' };
import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Examples of requests, in the order in which they work. */
export const voiceAgentExamples: ExamplesByOperation = {
  'agents.create': [
    { name: 'offer', summary: 'Calls customers about an offer', body: offer },
    { name: 'customer', summary: 'Plays a customer in tests', body: customer },
    {
      name: 'old',
      summary: 'Without what may be left out',
      body: { name: 'Autumn offer', workflow_definition: offer.workflow_definition },
    },
  ],
  'agents.list': { query: { search: 'offer' } },
  'agents.get': { path: { workflow_id: 1 } },
  'agents.update': {
    path: { workflow_id: 1 },
    body: {
      workflow_configurations: {
        max_call_duration: 300,
        language: 'en-US',
        required_tests: [
          {
            adversary_workflow_id: 2,
            config: { first_speaker: 'actor', checks: [{ name: 'goes on to the booking', type: 'reached_node', node: 'Booking' }] },
          },
        ],
      },
    },
  },
  'agents.setStatus': { path: { workflow_id: 3 }, body: { status: 'archived' } },
  'agents.validate': {
    path: { workflow_id: 1 },
    body: { workflow_definition: { nodes: [{ id: 'bye', type: 'endCall', data: { prompt: 'Say goodbye.' } }], edges: [] } },
  },
  'agents.verify': { path: { workflow_id: 1 } },
  'agents.listVersions': { path: { workflow_id: 1 } },
  'agents.getVersion': { path: { workflow_id: 1, version_id: 1 } },
  'agents.diffVersions': {
    path: { workflow_id: 1, version_id: 1 },
    answer: {
      from: 1,
      to: 4,
      changes: [
        {
          path: '/workflow_definition/nodes/greeting/data/prompt',
          kind: 'changed',
          before: 'Ask whether they are interested.',
          after: 'Ask whether they have a minute, then whether they are interested.',
        },
        { path: '/workflow_configurations/max_call_duration', kind: 'changed', before: 300, after: 600 },
        {
          path: '/workflow_definition/edges/e3',
          kind: 'removed',
          before: { id: 'e3', source: 'greeting', target: 'bye', data: { label: 'no' } },
        },
      ],
      total: 3,
    },
  },
  'agents.restoreVersion': { path: { workflow_id: 1, version_id: 1 } },
};
